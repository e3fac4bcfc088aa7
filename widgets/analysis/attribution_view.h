// SPDX-License-Identifier: GPL-3.0-or-later
// Direct logit attribution: what each part of the model adds to the logit of an answer, or to the
// difference of two.
#pragma once

#include <functional>
#include <vector>

#include <QWidget>

#include "types/lens.h"
#include "widgets/analysis/measure_frame.h"

namespace relascope::widgets {

// The parts of a logit as bars around zero; relations and symbols below the head they are in.

class AttributionBars : public QWidget {
    Q_OBJECT
public:
    explicit AttributionBars(QWidget* parent = nullptr);

    void setResult(const Attribution& result);
    const Attribution& result() const { return m_result; }
    /// By |value|, or in the order of the forward pass.
    void setBySize(bool on);
    bool bySize() const { return m_bySize; }
    /// Relations and symbols of less than 5 % of the largest part, too.
    void setAll(bool on);
    bool all() const { return m_all; }
    int leftOut() const { return m_leftOut; }
    /// Parts as shown, as indices of Attribution::parts.
    const std::vector<std::size_t>& shown() const { return m_shown; }
    int rowAt(const QPoint& at) const;  ///< -1 beside the rows

    int layoutHeight() const;
    void paint(QPainter& painter, int width) const;

    QSize sizeHint() const override { return {700, layoutHeight()}; }
    QSize minimumSizeHint() const override { return {360, layoutHeight()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    void order();

    Attribution m_result;
    std::vector<std::size_t> m_shown;
    bool m_bySize = true, m_all = false;
    int m_leftOut = 0;
};

}  // namespace relascope::widgets

class QComboBox;
class QSpinBox;

namespace relascope::widgets {

class AttributionBars;
class FieldNote;
class SegmentedControl;
class ToggleChip;

class AttributionView : public MeasureFrame {
    Q_OBJECT
public:
    explicit AttributionView(QWidget* parent = nullptr);

    void setResult(const Attribution& result);
    const Attribution& result() const;
    void clear(const QString& sentence) override;
    /// Answers that are offered; any other can be typed. The first entries of the lists are "the
    /// model's own answer" and "nothing".
    void setAnswers(const QStringList& names);
    /// Chooses the first entries again; emits no signal.
    void resetAnswers();
    /// As chosen: an empty text is the model's own answer, and no second one.
    QString answer() const;
    QString minus() const;
    /// The positions of the input that can be chosen; 0: one answer for the whole input.
    void setPositions(int count);
    void setPosition(int position);  ///< emits no signal
    int position() const;            ///< -1: the last
    /// Why a chosen answer cannot be shown; empty: it can.
    void setProblem(const QString& sentence);

    AttributionBars* bars() const { return m_bars; }
    QComboBox* answerBox() const { return m_answer; }
    QComboBox* minusBox() const { return m_minus; }
    QSpinBox* positionBox() const { return m_position; }
    SegmentedControl* orderControl() const { return m_order; }
    QString problem() const;
    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    core::AnalysisResult shown() const override { return result(); }

Q_SIGNALS:
    void answerChosen(const QString& name);  ///< empty: the model's own
    void minusChosen(const QString& name);   ///< empty: none
    void positionChosen(int position);       ///< -1: the last

private:
    QString title() const;
    void describe();

    QComboBox *m_answer, *m_minus;
    QWidget* m_at;
    QSpinBox* m_position;
    SegmentedControl* m_order;
    ToggleChip* m_all;
    FieldNote* m_note;
    AttributionBars* m_bars;
};

}  // namespace relascope::widgets
