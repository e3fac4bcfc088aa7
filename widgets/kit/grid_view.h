// SPDX-License-Identifier: GPL-3.0-or-later
// The widget of a GridPicture: keys, tips, a current cell and a figure.
#pragma once

#include <vector>

#include <QAbstractScrollArea>
#include <QScrollBar>

#include "widgets/kit/grid_picture.h"

namespace relascope::widgets {

class GridView : public QAbstractScrollArea {
    Q_OBJECT
public:
    GridView(const GridStyle& style, GridFill fill, const QString& name, QWidget* parent = nullptr);

    /// The current cell stays where the panels have the same shape.
    void setPanels(std::vector<GridPanel> panels);
    const std::vector<GridPanel>& panels() const { return m_picture.panels(); }
    const GridPicture& picture() const { return m_picture; }
    GridPlace current() const { return m_current; }
    void setCurrent(const GridPlace& place);  ///< emits no signal
    // In the coordinates of the viewport.
    GridPlace placeAt(const QPoint& at) const;
    QRect cellRect(const GridPlace& place) const;
    /// The cell in a sentence; empty for none.
    QString text(const GridPlace& place) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {200, 60}; }

Q_SIGNALS:
    /// The pointer or the keys are there; none: the pointer has left.
    void hovered(const relascope::GridPlace& place);
    void chosen(const relascope::GridPlace& place);  ///< by a click, Enter, or a column

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent*) override { Q_EMIT hovered({}); }
    void focusInEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    QPoint scrolled() const {
        return {horizontalScrollBar()->value(), verticalScrollBar()->value()};
    }
    void place();
    void reveal();
    void choose(const GridPlace& place);
    bool move(GridPlace& place, int key) const;

    GridPicture m_picture;
    GridPlace m_current;
};

}  // namespace relascope::widgets
