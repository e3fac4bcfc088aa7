// SPDX-License-Identifier: GPL-3.0-or-later
// Colour scales as tables, and maps as images with one pixel per cell.
#pragma once

#include <QBrush>
#include <QImage>
#include <QWidget>

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

/// Hatches masked cells and gaps over what is drawn there, cells of `cell` pixels from `origin` on.
void drawMask(QPainter& painter, const QPointF& origin, qreal cell, const MapValues& values);

/// Draws `values` with cells of `cell` pixels, the first at `origin`: vector rectangles where the
/// painter keeps shapes (SVG, PDF) and there are few cells, otherwise `image` without smoothing;
/// then the hatch over masked cells and over NaN. `image` comes from cellImage.
void drawCells(QPainter& painter, const QPointF& origin, qreal cell, const MapValues& values,
               const QImage& image);

// The colour scale of a map with its ends, its zero and a caption.

class ColorBar : public QWidget {
    Q_OBJECT
public:
    explicit ColorBar(QWidget* parent = nullptr);

    void setScale(const ColorScale& scale);
    /// Sets the range of the colours, and the range of the values; an end exceeded by values is
    /// drawn as an arrow.
    void setExtent(const Extent& extent);
    const Extent& extent() const { return m_extent; }
    /// Whether values lie below (above) the scale.
    bool beyondLow() const { return m_extent.any && m_extent.low < m_scale.limits().low; }
    bool beyondHigh() const { return m_extent.any && m_extent.high > m_scale.limits().high; }
    /// "tanh r_ij, one scale for the layer"; text between an underscore and a space or comma is a
    /// subscript. Empty: no second row.
    void setCaption(const QString& caption);
    QString caption() const { return m_caption; }
    /// One row, with the caption as a tool tip.
    void setOneRow(bool on);
    /// A value to mark on the bar with a line; NaN for none.
    void setMark(float value);
    /// The ends as shown: short, with a true minus sign.
    static QString endText(float value, bool isSigned);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void describe();

    ColorScale m_scale;
    Extent m_extent;
    QString m_caption;
    bool m_oneRow = false;
    float m_mark;
};

/// Draws a text with "_x" as a subscript, centred in `box`; used for r_ij.
void drawSubscripted(QPainter& painter, const QRectF& box, const QString& text);

}  // namespace relascope::widgets
