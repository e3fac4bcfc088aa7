// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens: what the model would answer after each layer, as a table over positions and as
// bars for one of them.
#pragma once

#include "answers/lens_table.h"
#include "widgets/analysis/answer_view.h"

class QLabel;

namespace relascope::widgets {

/// The fill of a cell: the page at 0, the strongest fill of likely tokens at 1.
QColor probabilityTint(double probability);
/// The scale of that tint with its ends, right-aligned in `room`.
void drawProbabilityScale(QPainter& painter, const QRect& room);

/// One position of a logit lens: the likeliest answers after each layer as bars, and the place of
/// the model's own answer among them.
class LensBars : public QWidget {
    Q_OBJECT
public:
    explicit LensBars(QWidget* parent = nullptr);

    void setColumn(std::shared_ptr<const core::LensTable> table, int column);
    int column() const { return m_column; }
    int layoutHeight() const;
    /// What of that width is drawn on.
    int usedWidth(int width) const;
    void paint(QPainter& painter, int width) const;
    /// The line of a layer as text: "layer 2: same 83 %, different 17 %".
    QString text(int row) const;

    QSize sizeHint() const override { return {600, layoutHeight()}; }
    QSize minimumSizeHint() const override { return {300, layoutHeight()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// The width of row heads and of an answer, and how many answers there are.
    struct Columns {
        int labels = 0, each = 0, count = 0;
    };
    Columns columns(int width) const;
    /// The likeliest answers of a cell: the first, and how many.
    std::size_t first(int row) const {
        return m_table->first(static_cast<std::size_t>(row), static_cast<std::size_t>(m_column));
    }
    int listed() const;

    std::shared_ptr<const core::LensTable> m_table;
    int m_column = -1;
};

class LensView : public AnswerView {
    Q_OBJECT
public:
    explicit LensView(QWidget* parent = nullptr);

    int column() const { return m_grid->current().column; }
    void chooseColumn(int column);
    GridView* grid() const { return m_grid; }
    LensBars* bars() const { return m_bars; }

protected:
    /// An answer of one column (one answer for the whole input, or one position) is shown as bars
    /// alone.
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    int figureWidth() const override;

private:
    void showColumn();
    bool single() const { return m_table->columns() <= 1; }
    QString columnTitle() const;
    GridPicture bands() const;

    std::shared_ptr<const core::LensTable> m_table;
    GridView* m_grid;
    QWidget* m_scale;
    QWidget* m_line;
    QLabel* m_title;
    LensBars* m_bars;
};

}  // namespace relascope::widgets
