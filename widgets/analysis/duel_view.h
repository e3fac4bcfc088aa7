// SPDX-License-Identifier: GPL-3.0-or-later
// A duel: its sentences, and its tables one at a time.
#pragma once

#include <utility>

#include "widgets/analysis/answer_view.h"
#include "widgets/kit/table_view.h"

class QListWidget;

namespace relascope::widgets {

class SegmentedControl;

class DuelView : public AnswerView {
    Q_OBJECT
public:
    enum class Shown { Answers, Layers, Maps, Streams };

    explicit DuelView(QWidget* parent = nullptr);

    QListWidget* sentences() const { return m_sentences; }
    SegmentedControl* choice() const { return m_choice; }
    /// A click or Enter on an answer asks for its example, on a map for that map of B.
    TableView* table() const { return m_table; }
    void showTable(Shown table);
    /// A result is of the A and B that it names.
    bool setPlace(const AnalysisPlace& place) override {
        if (std::exchange(m_subjects, place.run) == place.run) return true;
        clear(QStringLiteral("Not measured."));
        return false;
    }

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;

private:
    void open(int row);

    QString m_subjects;
    Shown m_shown = Shown::Answers;
    QListWidget* m_sentences;
    SegmentedControl* m_choice;
    TableView* m_table;
};

}  // namespace relascope::widgets
