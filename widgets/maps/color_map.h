// SPDX-License-Identifier: GPL-3.0-or-later
// Colour scales as tables, and maps as images with one pixel per cell.
#pragma once

#include <QBrush>
#include <QImage>

#include "types/map_colors.h"
#include "widgets/maps/map_values.h"

class QPainter;

namespace relascope::widgets {

struct Theme;

/// A colour scale between two limits in the colours of a theme.
class ColorScale {
public:
    enum class Kind { Signed, Paper, Sequential };
    static constexpr int steps = ColorTable::steps;

    ColorScale();  ///< signed, -1..+1, in the current theme
    ColorScale(Kind kind, Limits limits, const Theme& theme);

    Kind kind() const { return m_kind; }
    Limits limits() const { return m_table.limits(); }
    bool isSigned() const { return m_kind != Kind::Sequential; }
    /// The position of the value between the limits, clamped to 0..1; 0 for NaN.
    float position(float value) const;
    QRgb rgb(float value) const { return m_table.color(value); }
    QColor color(float value) const { return QColor::fromRgb(value == value ? rgb(value) : m_nan); }
    /// The tint of an image patch: hue by sign, alpha by magnitude.
    QColor tint(float value) const;
    /// The scale itself from low to high, `width` x 1 pixels.
    QImage strip(int width) const;

    bool operator==(const ColorScale&) const = default;

private:
    friend void paintCells(const MapValues& values, const ColorScale& scale, QImage& image);

    Kind m_kind = Kind::Signed;
    ColorTable m_table;
    QRgb m_nan = 0;
    QRgb m_mask = 0;
};

/// One pixel per cell (Format_RGB32); the image is reallocated only when its size differs.
void paintCells(const MapValues& values, const ColorScale& scale, QImage& image);
QImage cellImage(const MapValues& values, const ColorScale& scale);

/// Draws a small picture enlarged without smoothing, also in SVG and PDF, where viewers
/// would smooth it.
void drawPixels(QPainter& painter, const QRect& place, const QImage& image);

/// The 45 degree hatch of masked cells, 7 px apart, lines only; for NaN in the error colour.
QBrush hatchBrush(const QColor& line);

/// Hatches the masked side of a square of `rows` x `columns` cells over what is drawn there.
void drawMask(QPainter& painter, const QPointF& origin, qreal cell, int rows, int columns,
              MapValues::Mask mask);

/// Draws `values` with cells of `cell` pixels, the first at `origin`: vector rectangles where the
/// painter keeps shapes (SVG, PDF) and there are few cells, otherwise `image` without smoothing;
/// then the hatch over masked cells and over NaN. `image` comes from cellImage.
void drawCells(QPainter& painter, const QPointF& origin, qreal cell, const MapValues& values,
               const QImage& image);

}  // namespace relascope::widgets
