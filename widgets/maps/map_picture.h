// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a map: cells, axes, the crosshair with its value. No widget.
#pragma once

#include <QImage>
#include <QRegion>
#include <QStringList>

#include "widgets/maps/color_map.h"
#include "widgets/maps/map_geometry.h"

class QPainter;

namespace relascope::widgets {

/// The cell that the crosshair shows.
struct MapMark {
    int row = -1;
    int column = -1;
    bool box = false;  ///< with the number beside it
    bool cell() const { return row >= 0 && column >= 0; }
    bool operator==(const MapMark&) const = default;
};

class MapPicture {
public:
    MapAxes axes;
    MapGeometry geometry{axes};
    int digits = 3;
    bool signedNumbers = true;
    std::vector<int> marks;  ///< tokens to point out on both axes

    MapPicture() = default;
    MapPicture(const MapPicture&) = delete;  // the geometry refers to the axes
    MapPicture& operator=(const MapPicture&) = delete;

    /// After a change of values, scale or geometry, `colour()` brings the picture up to date.
    void setValues(MapValues values) { m_values = std::move(values); }
    const MapValues& values() const { return m_values; }
    void setScale(const ColorScale& scale) { m_scale = scale; }
    const ColorScale& scale() const { return m_scale; }
    QSize cells() const { return {m_values.columns, m_values.rows}; }
    void colour();

    /// Draws everything that does not move with the crosshair.
    void paintBase(QPainter& painter) const;
    void paintMark(QPainter& painter, const MapMark& mark) const;
    /// The region that paintMark() paints.
    QRegion region(const MapMark& mark) const;
    /// The text of the box at the pointer.
    QStringList boxText(const MapMark& mark) const;

private:
    QRect boxRect(const MapMark& mark) const;
    void beginAxis(QPainter& painter, bool rows) const;
    void paintAxis(QPainter& painter, bool rows) const;
    void paintTexts(QPainter& painter, bool rows) const;
    void paintUpright(QPainter& painter, int column) const;
    void paintMarks(QPainter& painter) const;
    void paintTicks(QPainter& painter, bool rows) const;
    void paintChip(QPainter& painter, int index, bool row) const;
    void paintCross(QPainter& painter, const MapMark& mark) const;
    void paintLabels(QPainter& painter, const MapMark& mark) const;
    void paintBox(QPainter& painter, const MapMark& mark) const;

    MapValues m_values;
    MapValues m_small;  ///< pooled if a pixel shows several cells
    ColorScale m_scale;
    QImage m_image;
};

}  // namespace relascope::widgets
