// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens: what the model would answer after each layer, as a grid over positions and as a
// table for one of them.
#pragma once

#include "answers/lens_table.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/kit/table_view.h"

class QLabel;

namespace relascope::widgets {

/// The fill of a cell: the page at 0, the strongest fill of likely tokens at 1.
QColor probabilityTint(double probability);

class LensView : public AnswerView {
    Q_OBJECT
public:
    explicit LensView(QWidget* parent = nullptr);

    int column() const { return m_grid->current().column; }
    void chooseColumn(int column);
    GridView* grid() const { return m_grid; }
    /// The likeliest answers at the chosen position, and the place of the model's own among them.
    TableView* answers() const { return m_answers; }

protected:
    /// An answer of one column (one answer for the whole input, or one position) is shown as a
    /// table alone.
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    int figureWidth() const override;

private:
    void showColumn();
    bool single() const { return m_table->columns() <= 1; }
    QString columnTitle() const;
    Table answersAt(std::size_t column) const;
    GridPicture bands() const;

    std::shared_ptr<const core::LensTable> m_table;
    GridView* m_grid;
    QWidget* m_scale;
    QWidget* m_line;
    QLabel* m_title;
    TableView* m_answers;
};

}  // namespace relascope::widgets
