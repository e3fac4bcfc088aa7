// SPDX-License-Identifier: GPL-3.0-or-later
// The view of an analysis that has none of its own: the values of its answer in the head, and its
// tables one at a time; one whose columns are named as its rows is a grid of tinted cells. A click
// on a row with a link shows that map in the inspector, and with a column "example" that example.
#pragma once

#include "widgets/analysis/answer_view.h"
#include "widgets/kit/table_view.h"

class QLabel;
class QScrollArea;

namespace relascope::widgets {

class SegmentedControl;

class TablesView : public AnswerView {
    Q_OBJECT
public:
    TablesView(const QString& title, const QString& name, QWidget* parent = nullptr);

    TableView* table() const { return m_table; }
    /// Shown in place of the table where its columns are named as its rows.
    GridView* grid() const { return m_grid; }
    SegmentedControl* choice() const { return m_choice; }
    /// The sentences of a table that is a list of them, above the tables; empty without one.
    QString sentences() const;

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    int figureWidth() const override { return 900; }

private:
    void showTable(int at);
    void showOne(const Table& table);

    QString m_title;
    std::vector<std::string> m_keys;  ///< of the tables that are shown
    SegmentedControl* m_choice;
    TableView* m_table;
    std::shared_ptr<ColorScale> m_scale;  ///< of the grid
    GridView* m_grid;
    QLabel* m_sentences;
    QScrollArea* m_found;  ///< what holds them
};

}  // namespace relascope::widgets
