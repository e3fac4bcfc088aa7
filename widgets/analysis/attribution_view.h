// SPDX-License-Identifier: GPL-3.0-or-later
// Direct logit attribution: what each part of the model adds to the logit of an answer, or to the
// difference of two.
#pragma once

#include <functional>
#include <vector>

#include <QWidget>

#include "widgets/analysis/answer_view.h"

namespace relascope::widgets {

// The parts of a logit as bars around zero; relations and symbols below the head they are in.

class AttributionBars : public QWidget {
    Q_OBJECT
public:
    explicit AttributionBars(QWidget* parent = nullptr);

    /// The table "parts" of an answer; without columns: none.
    void setParts(const Table& parts);
    /// By |value|, or in the order of the forward pass.
    void setBySize(bool on);
    bool bySize() const { return m_bySize; }
    /// Relations and symbols of less than 5 % of the largest part, too.
    void setAll(bool on);
    bool all() const { return m_all; }
    int leftOut() const { return m_leftOut; }
    /// Parts as shown, as rows of the table.
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
    QString name(std::size_t part) const;

    std::vector<std::string> m_names, m_kinds;
    std::vector<double> m_values, m_inside, m_relations;
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

class AttributionView : public AnswerView {
    Q_OBJECT
public:
    explicit AttributionView(QWidget* parent = nullptr);

    /// "logit" and "minus": an empty text is the model's own answer, and none. "position": from the
    /// end below 0. The answers that a result offers can be chosen; any other can be typed.
    void setOptions(const core::OptionValues& values) override;
    /// An answer that is none is said beside the choice; the last result stays.
    void refuse(const QString& sentence) override;

    AttributionBars* bars() const { return m_bars; }
    QComboBox* answerBox() const { return m_answer; }
    QComboBox* minusBox() const { return m_minus; }
    QSpinBox* positionBox() const { return m_position; }
    SegmentedControl* orderControl() const { return m_order; }
    QString problem() const;
    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;

protected:
    void fill(const Answer& answer) override;

private:
    QString title() const;
    void offer(const Answer& answer);
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
