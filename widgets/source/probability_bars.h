// SPDX-License-Identifier: GPL-3.0-or-later
// The model's output as a few bars: class or token, bar, probability.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <QColor>
#include <QRect>
#include <QStringList>
#include <QWidget>

#include "types/generate_options.h"

class QPainter;

namespace relascope::widgets {

// A vector as small bars around a middle line.

/// The largest magnitude of the finite numbers.
float largestSize(std::span<const float> values);
/// `largest` corresponds to a bar of half the height. Wide vectors are pooled: each bar shows the
/// largest of several numbers.
void paintVectorBars(QPainter& painter, const QRect& place, std::span<const float> values,
                     float largest, const QColor& ink);

class ProbabilityBars : public QWidget {
    Q_OBJECT
public:
    static constexpr int rowHeight = 18;

    explicit ProbabilityBars(QWidget* parent = nullptr);

    /// With more than `most` classes only the likeliest and the true one are shown.
    void setProbabilities(const QStringList& names, const std::vector<float>& probabilities,
                          int label, int most = 3);
    /// The probabilities without edits, in the order of the last call above: drawn as hollow bars
    /// above the filled ones, with the change. None: nothing is edited.
    void setBefore(std::vector<float> probabilities);
    /// Shows candidate next tokens in the given order, relative to the likeliest; the token with
    /// that id is marked as the actual one (-1: none).
    void setChoices(const std::vector<TokenChoice>& choices, std::int64_t chosen = -1);
    /// The row of the marked choice; -1 for none.
    int marked() const { return m_marked; }
    /// The classes shown, in order.
    const std::vector<int>& shown() const { return m_shown; }

    /// The bars that are shown, as pgfplots source.
    QString pgfplots(const QString& caption) const;

    QSize sizeHint() const override { return {240, high() * static_cast<int>(m_shown.size())}; }
    QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void finish();
    int high() const { return m_tokens || !m_before.empty() ? rowHeight + 2 : rowHeight; }

    QStringList m_names;
    std::vector<float> m_probabilities;
    std::vector<float> m_before;  ///< probabilities without the edits; empty: there are none
    std::vector<int> m_shown;
    int m_best = -1, m_marked = -1;
    float m_full = 1;       ///< the probability of a bar of full length
    bool m_tokens = false;  ///< pieces of text, not classes
};

}  // namespace relascope::widgets
