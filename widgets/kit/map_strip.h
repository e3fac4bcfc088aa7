// SPDX-License-Identifier: GPL-3.0-or-later
// Many small maps as tiles in a grid or a film, with one cursor: keys, hover, pages, menus, and a
// figure.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "widgets/kit/strip_layout.h"
#include "widgets/kit/tile_area.h"

namespace relascope::widgets {

class MapStrip : public TileArea {
    Q_OBJECT
public:
    MapStrip(StripLayout layout, const QString& name, QWidget* parent = nullptr);

    struct Marks {
        bool changed = false;  ///< a corner in the colour of interventions
        bool out = false;      ///< hatched
    };
    /// Paints the picture of a map into a rectangle; false while it is not made. `block` cells of
    /// the map are a pixel at least.
    std::function<bool(QPainter&, const QRect&, const MapId&, int block)> picture;
    /// Below the picture, and at the pointer.
    std::function<QString(const MapId&)> label, tip;
    /// The columns and rows of a map; those of a map that is not known are empty.
    std::function<QSize(const MapId&)> shape;
    std::function<Marks(const MapId&)> marks;

    void setSections(std::vector<StripSection> sections);
    void setLayers(int layers) { m_layout.setLayers(layers); }  ///< before the sections
    /// Frames a map, shows its page and scrolls to it; emits no signal. A second map may have a
    /// dashed frame.
    void setCurrent(const std::optional<MapId>& map);
    void setSecond(const std::optional<MapId>& map);
    void setPage(int section, int page);
    const StripLayout& tiles() const { return m_layout; }
    /// The rectangle of a picture in the viewport; empty if it is not shown.
    QRect mapRect(const MapId& map) const { return tileRect(m_layout.tileOf(map)); }
    /// The tiles to make pictures of: the visible ones, then those around, the nearest first.
    std::vector<int> nearest() const;
    /// Draws the tiles as they fit into that size.
    void paintFigure(QPainter& painter, const QSize& size) const;

    QSize sizeHint() const override {
        return {320, m_layout.overview() ? m_layout.overviewHeight() : 240};
    }
    QSize minimumSizeHint() const override {
        return {120, m_layout.overview() ? m_layout.overviewHeight() : 60};
    }

Q_SIGNALS:
    void chosen(relascope::widgets::MapId map);  ///< by a click or the keyboard
    void menuRequested(relascope::widgets::MapId map, const QPoint& at);  ///< `at` on the screen
    /// Other tiles are visible, or they have another size.
    void moved();

protected:
    /// Below the tiles of a film.
    virtual void paintFooter(QPainter& /*painter*/, const QRect& /*room*/) const {}
    /// The tile from which keys move.
    virtual int cursor() const { return m_current ? m_layout.tileOf(*m_current) : -1; }
    virtual QString description() const;
    void describe() { setAccessibleDescription(description()); }

    int layOutTiles() override;
    QRect placeOf(int tile) const override { return m_layout.place(tile); }
    int placeAt(const QPoint& point) const override { return m_layout.at(point); }
    void paintTiles(QPainter& painter, const QRegion& exposed) override;
    int current(Qt::KeyboardModifiers) const override { return cursor(); }
    int moveFrom(int tile, int key, Qt::KeyboardModifiers) const override {
        return m_layout.moved(tile, key);
    }
    void pressed(int tile, Qt::KeyboardModifiers) override { Q_EMIT chosen(m_layout.map(tile)); }
    QString tipOf(int tile) const override;
    QString tipAt(const QPoint& point) const override;

    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void arrange();
    void paint(QPainter& painter, const StripLayout& layout, const QRect& exposed) const;
    void paintHead(QPainter& painter, const StripLayout& layout, int section) const;
    void paintLayers(QPainter& painter, const StripLayout& layout) const;
    void paintTile(QPainter& painter, const StripLayout& layout, int tile) const;

    StripLayout m_layout;
    std::optional<MapId> m_current, m_second;
};

}  // namespace relascope::widgets
