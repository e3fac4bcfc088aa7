// SPDX-License-Identifier: GPL-3.0-or-later
// What views of tiles in rows have in common (small maps, tokens of a text, objects): scrolling,
// keys, hover, tips, copying, and painting of what is exposed. Derived classes lay the tiles out
// and paint them.
#pragma once

#include <QAbstractScrollArea>
#include <QMargins>
#include <QRect>
#include <vector>

namespace relascope::widgets {

class TileArea : public QAbstractScrollArea {
    Q_OBJECT
public:
    /// `around` is the room that a tile is painted in beside its own: frames, a label.
    explicit TileArea(const QMargins& around, QWidget* parent = nullptr);

    /// The rectangle of a tile in the viewport; empty if it is not there.
    QRect tileRect(int tile) const;
    int tileAt(const QPoint& point) const;  ///< `point` in the viewport; -1 between tiles
    int contentHeight() const { return m_height; }
    QWidget* canvas() const { return viewport(); }
    /// Scrolls until the tile is visible; after a long jump it is centred.
    void reveal(int tile);
    void refresh() { viewport()->update(); }

    QSize minimumSizeHint() const override { return {96, 40}; }

Q_SIGNALS:
    void contentResized();  ///< contentHeight changed

protected:
    // In coordinates of the content.
    /// Lays out for the present size; returns the height.
    virtual int layOutTiles() = 0;
    virtual QRect placeOf(int tile) const = 0;
    virtual int placeAt(const QPoint& point) const = 0;
    /// Paints the exposed tiles, of possibly thousands.
    virtual void paintTiles(QPainter& painter, const QRegion& exposed) = 0;
    /// The tile from which a key moves: with Shift that of the other selection, if there is one.
    virtual int current(Qt::KeyboardModifiers modifiers) const = 0;
    /// The tile that an arrow key, Home or End leads to from there (-1: none is current); -1 if
    /// there is none.
    virtual int moveFrom(int tile, int key, Qt::KeyboardModifiers modifiers) const = 0;
    virtual void pressed(int tile, Qt::KeyboardModifiers modifiers) = 0;
    virtual void hoverMoved(int /*before*/, int /*now*/) {}
    virtual QString tipOf(int /*tile*/) const { return {}; }
    virtual QString tipAt(const QPoint& point) const;
    /// What copying the tile gives.
    virtual QString copied(int tile) const { return tipOf(tile); }

    /// After a change of what is laid out.
    void layOut();
    /// The part of it that scrolls a content of that height.
    void setContentHeight(int height);
    int hover() const { return m_hover; }
    void setHover(int tile);
    void forgetHover() { m_hover = -1; }  ///< when tiles are gone
    void updateTile(int tile);

    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QMargins m_around;
    int m_hover = -1, m_height = 0;
};

/// The tile that a key leads to among tiles in rows; up and down to the nearest of the next row.
int movedInRows(const std::vector<QRect>& places, int tile, int key);

}  // namespace relascope::widgets
