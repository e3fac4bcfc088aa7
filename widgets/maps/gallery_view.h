// SPDX-License-Identifier: GPL-3.0-or-later
// Small maps of a whole model, of which only the visible ones are painted, and made.
#pragma once

#include <functional>
#include <vector>

#include <QAbstractScrollArea>
#include <QPixmap>
#include <QRect>
#include <QString>

#include "widgets/maps/map_values.h"

namespace relascope::widgets {

// Layout of thousands of small maps in sections, by arithmetic: nothing is stored for each of them.
// No painting, no widget.

struct GallerySection {
    QString title;
    std::vector<MapId> maps;
    bool operator==(const GallerySection&) const = default;
};

class GalleryLayout {
public:
    static constexpr int smallestSide = 60;  ///< px of a picture
    static constexpr int titleHeight = 26;
    static constexpr int labelHeight = 17;
    static constexpr int gap = 10;
    static constexpr int edge = 4;  ///< room for the frame of the chosen map

    struct Place {
        MapId map;
        QRect box;  ///< of the picture
    };

    void setSections(std::vector<GallerySection> sections);
    const std::vector<GallerySection>& sections() const { return m_sections; }
    int count() const { return m_count; }
    /// Lays out for a width; returns the height.
    int layOut(int width);
    int side() const { return m_side; }
    int columns() const { return m_columns; }
    int height() const { return m_height; }

    /// Cells a pixel of a map with that many columns and rows, and the size of its picture: cells
    /// of whole pixels, or whole cells a pixel.
    int blockFor(const QSize& cells) const;
    QSize pictureSize(const QSize& cells) const;

    /// The place of map number `k` of all sections; empty outside.
    Place place(int k) const;
    int indexOf(const MapId& map) const;     ///< -1 if it is not shown
    int indexAt(const QPoint& point) const;  ///< label included; -1 between maps
    /// The first and one past the last map in rows that intersect these heights.
    std::pair<int, int> between(int top, int bottom) const;
    QRect titleRect(int section) const;
    /// The map that a key leads to from map `k`.
    int moved(int k, int key) const;

private:
    struct Row {  ///< of a section
        int first = 0, top = 0, rows = 0;
    };
    int sectionOf(int k) const;
    int rowHeight() const { return m_side + labelHeight + gap; }

    std::vector<GallerySection> m_sections;
    std::vector<Row> m_rows;
    int m_count = 0, m_width = 0, m_height = 0, m_columns = 1, m_side = smallestSide;
};

class GalleryView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit GalleryView(QWidget* parent = nullptr);

    /// The picture of a map in the given size; null while it is not made.
    std::function<QPixmap(const MapId&, const QSize&, qreal ratio)> picture;
    /// Below the picture, and at the pointer.
    std::function<QString(const MapId&)> label, tip;
    /// The columns and rows of a map.
    std::function<QSize(const MapId&)> shape;

    void setSections(std::vector<GallerySection> sections);
    /// In place of maps, if there are none.
    void setAbsence(const QString& sentence);
    /// Frames a map and scrolls to it.
    void setCurrent(const MapId& map);
    /// Repaints what is visible: pictures or labels changed.
    void refresh() { viewport()->update(); }
    const GalleryLayout& pictures() const { return m_layout; }
    /// The rectangle of a map in the viewport; empty if it is not listed.
    QRect mapRect(const MapId& map) const;
    /// The maps to make pictures of: the visible ones, then those around, the nearest first.
    std::vector<MapId> nearest() const;
    QWidget* canvas() const { return viewport(); }

    QSize sizeHint() const override { return {320, 240}; }
    QSize minimumSizeHint() const override { return {120, 60}; }

Q_SIGNALS:
    void chosen(relascope::widgets::MapId map);  ///< by a click or the keyboard
    void moved();                                ///< other maps are visible

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void changeEvent(QEvent* event) override;

private:
    void arrange();
    void reveal(int index);
    void describe();
    void paintMap(QPainter& painter, const GalleryLayout::Place& place) const;
    int offset() const;

    GalleryLayout m_layout;
    MapId m_current;
    QString m_absence;
};

}  // namespace relascope::widgets
