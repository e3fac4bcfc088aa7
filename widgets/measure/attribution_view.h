// SPDX-License-Identifier: GPL-3.0-or-later
// Direct logit attribution: what each part of the model adds to the logit of an answer, or to the
// difference of two.
#pragma once

#include <functional>

#include "types/lens.h"
#include "widgets/measure/measure_frame.h"

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
    /// The parts as text, set by the application.
    std::function<std::string(const Attribution&)> csvOf;

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    QString csv() const override;

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
