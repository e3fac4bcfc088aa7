// SPDX-License-Identifier: GPL-3.0-or-later
// One map: square cells that fill the pane, rows i (receivers) and columns j (senders), with the
// crosshair.
#pragma once

#include <QPixmap>
#include <QWidget>
#include <optional>
#include <vector>

#include "widgets/maps/map_picture.h"

namespace relascope::widgets {

class MapView : public QWidget {
    Q_OBJECT
public:
    explicit MapView(QWidget* parent = nullptr);

    /// Sets the processed values. Zoom and position are kept if the shape is the same.
    void setValues(MapValues values);
    void setScale(const ColorScale& scale);
    const ColorScale& scale() const;
    void setTokens(std::vector<AxisToken> rows, std::vector<AxisToken> columns);
    /// The text of the box at the pointer: text(i, j).
    void setNumberDigits(int digits, bool isSigned);
    /// The locked cell; -1 for none. Clamped to the map.
    void setCell(int row, int column);
    /// The cell at the pointer of another pane, drawn instead of the locked one; -1, -1 for none.
    void setPreview(int row, int column);

    /// Points out tokens on both axes.
    void setMarks(std::vector<int> tokens);
    /// A sentence in place of the map, while there are no values.
    void setNote(const QString& sentence);
    QString note() const { return m_note; }
    /// Marks the map as one that is about to be replaced, or, unless it is `awaited`, was to be.
    void setOutdated(bool outdated, bool awaited = true);
    bool outdated() const { return m_outdated; }
    bool awaited() const { return m_awaited; }

    const MapValues& values() const { return m_picture.values(); }
    const MapGeometry& cellGeometry() const { return m_picture.geometry; }
    QRect cellRect(int row, int column) const { return cellGeometry().cellRect(row, column); }
    int row() const { return m_row; }
    int column() const { return m_column; }
    void resetZoom();  ///< shows the whole map
    /// Zooms one step around the chosen cell, or the middle if it is not visible.
    void zoom(bool in);

    QSize sizeHint() const override { return {300, 300}; }
    QSize minimumSizeHint() const override { return {120, 120}; }

Q_SIGNALS:
    void hovered(int row, int column);                          ///< -1, -1 when the pointer leaves
    void chosen(int row, int column);                           ///< by a click or the keyboard
    void compared(int row, int column);                         ///< by a click with Ctrl
    void menuRequested(int row, int column, const QPoint& at);  ///< for a cell; `at` on the screen
    /// Alt and the left button on a cell: the way of the pointer, up is positive, in steps of one
    /// pixel. The first call has 0.
    void cellDragged(int row, int column, int up);
    /// The button was released, or Escape pressed (`kept` false).
    void cellDropped(bool kept);
    void fillRequested();  ///< a double click on a map that is shown whole

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void layOut(bool keepZoom);
    void paintState(QPainter& painter) const;
    void refreshImage();
    void invalidate();
    MapMark mark() const;
    /// Repaints the regions of `before` and of the current mark.
    void moved(const MapMark& before);
    void describe();
    void zoomAt(bool in, const QPointF& at);
    void setHover(const QPoint& cell);
    void choose(int row, int column);

    MapPicture m_picture;
    QPixmap m_base;  ///< everything that does not move with the crosshair
    int m_row = -1, m_column = -1;
    QPoint m_hover{-1, -1};
    QPoint m_preview{-1, -1};
    QPoint m_pressed{-1, -1};
    QPoint m_pressOrigin;
    bool m_dragging = false;
    std::optional<QPoint> m_valueDrag;  ///< where Alt and the button were pressed
    QPoint m_dragCell;
    QString m_note;
    bool m_outdated = false, m_awaited = true;
};

}  // namespace relascope::widgets
