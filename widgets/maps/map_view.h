// SPDX-License-Identifier: GPL-3.0-or-later
// One map: square cells of whole pixels, rows i (receivers) and columns j (senders), with the
// crosshair.
#pragma once

#include <QImage>
#include <QPixmap>
#include <QWidget>
#include <utility>
#include <vector>

#include "widgets/maps/color_map.h"
#include "widgets/source/patches.h"

namespace relascope {

class MapView : public QWidget {
    Q_OBJECT
public:
    explicit MapView(QWidget* parent = nullptr);

    /// The cells, already processed. Keeps zoom and place while the shape stays the same.
    void setValues(MapValues values);
    void setScale(const ColorScale& scale);
    void setTokens(std::vector<AxisToken> rows, std::vector<AxisToken> columns);
    /// What a cell's number is called and how it is written: text(i, j) for the box at the pointer.
    void setNumberDigits(int digits, bool isSigned);
    /// The locked cell; -1 for none. Clamped to the map.
    void setCell(int row, int column);
    /// The cell shown by another pane's pointer, drawn in place of the locked one; -1, -1 for none.
    void setPreview(int row, int column);

    const MapValues& values() const { return m_values; }
    int row() const { return m_row; }
    int column() const { return m_column; }
    /// Pixels a cell, or 1 with `cellsPerPixel()` > 1 in the overview of a map too big for the
    /// widget.
    int cellSize() const { return m_cell; }
    int cellsPerPixel() const { return m_block; }
    /// Where a cell is on the widget (outside of it when panned away).
    QRect cellRect(int row, int column) const;
    /// The row and column at a point; (-1, -1) outside.
    QPoint cellAt(const QPoint& point) const;  ///< x = column, y = row
    void resetZoom();

    QSize sizeHint() const override { return {300, 300}; }
    QSize minimumSizeHint() const override { return {120, 120}; }

Q_SIGNALS:
    void hovered(int row, int column);  ///< -1, -1 when the pointer leaves
    void chosen(int row, int column);   ///< by a click or the keyboard

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Mark {  ///< what the crosshair shows now
        int row = -1;
        int column = -1;
        bool box = false;  ///< with the number beside it
        bool operator==(const Mark&) const = default;
    };
    void layOut(bool keepZoom);
    void refreshImage();
    void invalidate();
    Mark mark() const;
    void moved(const Mark& before);
    QRegion markRegion(const Mark& mark) const;
    QRect boxRect(const Mark& mark) const;
    QStringList boxText(const Mark& mark) const;
    /// Whether cells are large enough for what stands beside each: its picture or its word.
    bool labelled() const { return m_block == 1 && m_cell >= labelledFrom(); }
    int labelledFrom() const { return m_characters ? 10 : m_words || m_thumb > 40 ? 14 : 20; }
    /// Room beside the rows, or above the columns, with cells of that size.
    int marginFor(bool rows, int cell, int block) const;
    int margin(bool rows) const { return marginFor(rows, m_cell, m_block); }
    /// Words above columns that are too narrow for them stand on end.
    bool uprightFor(int cell) const { return m_words ? !m_characters : m_columnWords > cell - 2; }
    bool upright() const { return labelled() && uprightFor(m_cell); }
    int thumbSide() const { return qMin(m_cell, m_thumb) - 4; }
    QRect thumbRect(int index, bool row) const;
    /// First and last row (column) that is on the widget.
    std::pair<int, int> shownRange(bool rows) const;
    QRect chipRect(int index, bool row) const;
    int tickStep() const;
    QRect tickRect(int index, bool rows) const;
    void clampOrigin();
    void describe();
    void setHover(const QPoint& cell);
    void choose(int row, int column);
    void paintBase(QPainter& painter);
    void paintAxis(QPainter& painter, bool rows);
    void paintWords(QPainter& painter, bool rows);
    void paintUpright(QPainter& painter, int column, int room, const QString& label);
    void paintTicks(QPainter& painter, bool rows);
    void paintChip(QPainter& painter, int index, bool row);
    void paintCross(QPainter& painter, const Mark& mark);
    void paintLabels(QPainter& painter, const Mark& mark);
    void paintBox(QPainter& painter, const Mark& mark);

    MapValues m_values;
    MapValues m_small;  ///< pooled, in the overview
    ColorScale m_scale;
    std::vector<AxisToken> m_rowTokens, m_columnTokens;
    bool m_words = false;                   ///< pieces of a text, written along the axes
    bool m_characters = false;              ///< each a character
    int m_wordMargin = 0;                   ///< px that the longest of them wants
    int m_rowWords = 0, m_columnWords = 0;  ///< px of the longest label where none has a picture
    int m_thumb = 40;                       ///< px of a picture on an axis, at most
    QImage m_image;
    QPixmap m_base;   ///< all that does not move with the crosshair
    QRect m_area;     ///< where cells may be drawn
    QPoint m_origin;  ///< top left of cell (0, 0)
    int m_cell = 1;
    int m_fit = 1;  ///< cell size at which the whole map fits
    int m_block = 1;
    int m_fitBlock = 1;
    int m_row = -1, m_column = -1;
    QPoint m_hover{-1, -1};
    QPoint m_preview{-1, -1};
    QPoint m_pressed{-1, -1};
    QPoint m_pressOrigin;
    bool m_dragging = false;
    bool m_zoomed = false;
    int m_digits = 3;
    bool m_signedNumbers = true;
};

}  // namespace relascope
