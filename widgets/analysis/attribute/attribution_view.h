// SPDX-License-Identifier: GPL-3.0-or-later
// Direct logit attribution: what each part of the model adds to the logit of an answer, or to the
// difference of two.
#pragma once

#include "widgets/analysis/answer_view.h"
#include "widgets/kit/table_view.h"

class QComboBox;
class QSpinBox;

namespace relascope::widgets {

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

    /// Parts around zero, by |value| or in the order of the forward pass; relations and symbols
    /// stand below the head they are in.
    TableView* table() const { return m_table; }
    QComboBox* answerBox() const { return m_answer; }
    QComboBox* minusBox() const { return m_minus; }
    QSpinBox* positionBox() const { return m_position; }
    SegmentedControl* orderControl() const { return m_order; }
    QString problem() const;

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    int figureWidth() const override { return 860; }

private:
    QString title() const;
    void offer(const Answer& answer);
    void showParts();

    QComboBox *m_answer, *m_minus;
    QWidget* m_at;
    QSpinBox* m_position;
    SegmentedControl* m_order;
    ToggleChip* m_all;
    FieldNote* m_note;
    TableView* m_table;
};

}  // namespace relascope::widgets
