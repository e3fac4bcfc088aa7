// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/color_map.h"

#include <QPaintEngine>
#include <QPainter>
#include <QPixmap>
#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int vectorCells =
    128 * 128;  // above this an SVG of rectangles grows past a few megabytes

template <std::size_t N>
std::array<Rgb, N> rgbOf(const std::array<QColor, N>& colors) {
    std::array<Rgb, N> all;
    std::transform(colors.begin(), colors.end(), all.begin(),
                   [](const QColor& color) { return color.rgb(); });
    return all;
}

ColorTable tableOf(ColorScale::Kind kind, Limits limits, const Theme& theme) {
    switch (kind) {
        case ColorScale::Kind::Paper:
            return {rgbOf(theme.paperStops), limits};
        case ColorScale::Kind::Sequential:
            return {rgbOf(theme.viridis), limits};
        default:
            return {rgbOf(theme.signedStops), limits};
    }
}

bool keepsShapes(const QPainter& painter) {
    const auto type = painter.paintEngine() ? painter.paintEngine()->type() : QPaintEngine::Raster;
    return type == QPaintEngine::SVG || type == QPaintEngine::Pdf;
}

/// The staircase of masked cells as one polygon.
QPolygonF maskedArea(int rows, int columns, bool above, const QPointF& origin, qreal cell) {
    QPolygonF area;
    const int n = std::min(rows, columns);
    const auto corner = [&](int column, int row) {
        return origin + QPointF(column * cell, row * cell);
    };
    if (above) {
        for (int i = 0; i < n; ++i) area << corner(i + 1, i) << corner(i + 1, i + 1);
        if (columns > n) area << corner(n, rows) << corner(columns, rows);
        area << corner(columns, n) << corner(columns, 0);
    } else {
        area << corner(0, 1);
        for (int i = 1; i <= n; ++i)
            area << corner(i, i) << corner(i, i + 1 <= rows ? i + 1 : rows);
        area << corner(std::min(n, columns), rows) << corner(0, rows);
    }
    return area;
}

}  // namespace

ColorScale::ColorScale() : ColorScale(Kind::Signed, {-1.0F, 1.0F}, Theme::current()) {}

ColorScale::ColorScale(Kind kind, Limits limits, const Theme& theme)
    : m_kind(kind),
      m_table(tableOf(kind, limits, theme)),
      m_nan(theme.errorFill.rgb()),
      m_mask(theme.hatchFill.rgb()) {}

float ColorScale::position(float value) const {
    if (value != value) return 0.0F;
    const auto [low, high] = limits();
    return std::clamp((value - low) / (high - low), 0.0F, 1.0F);
}

QColor ColorScale::tint(float value) const {
    if (value != value) return QColor(Qt::transparent);
    const float t = position(value);
    QColor color;
    if (isSigned()) {
        const float size = std::abs(2.0F * t - 1.0F);
        color = QColor::fromRgb(m_table.at(t < 0.5F ? steps / 10 : steps - steps / 10));
        color.setAlphaF(0.62F * size);
    } else {
        color = QColor::fromRgb(m_table.at(static_cast<int>(std::lround(t * steps))));
        color.setAlphaF(0.30F + 0.35F * t);
    }
    return color;
}

QImage ColorScale::strip(int width) const {
    QImage image(std::max(1, width), 1, QImage::Format_RGB32);
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(0));
    for (int x = 0; x < image.width(); ++x)
        line[x] = m_table.at(image.width() > 1 ? x * steps / (image.width() - 1) : steps / 2);
    return image;
}

void paintCells(const MapValues& values, const ColorScale& scale, QImage& image) {
    if (values.empty()) {
        image = QImage();
        return;
    }
    if (image.size() != QSize(values.columns, values.rows) ||
        image.format() != QImage::Format_RGB32)
        image = QImage(values.columns, values.rows, QImage::Format_RGB32);
    const ColorTable& table = scale.m_table;
    for (int i = 0; i < values.rows; ++i) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(i));
        const float* row = values.values.data() + static_cast<std::size_t>(i) * values.columns;
        for (int j = 0; j < values.columns; ++j)
            line[j] = row[j] == row[j] ? table.color(row[j]) : scale.m_nan;
        if (values.mask == MapValues::Mask::Above && i + 1 < values.columns)
            std::fill(line + i + 1, line + values.columns, scale.m_mask);
        else if (values.mask == MapValues::Mask::Below)
            std::fill(line, line + std::min(i, values.columns), scale.m_mask);
    }
}

QImage cellImage(const MapValues& values, const ColorScale& scale) {
    QImage image;
    paintCells(values, scale, image);
    return image;
}

void drawPixels(QPainter& painter, const QRect& place, const QImage& image) {
    if (image.isNull() || place.isEmpty()) return;
    if (!keepsShapes(painter)) return painter.drawImage(place, image);
    // Enlarged here by whole pixels; viewers then blur only a fraction of a pixel.
    const int factor = std::clamp(1024 / std::max(image.width(), image.height()), 1, 16);
    painter.drawImage(
        place, image.scaled(image.size() * factor, Qt::IgnoreAspectRatio, Qt::FastTransformation));
}

QBrush hatchBrush(const QColor& line) {
    QImage tile(kHatchPeriod, kHatchPeriod, QImage::Format_ARGB32_Premultiplied);
    tile.fill(Qt::transparent);
    for (int x = 0; x < kHatchPeriod; ++x)
        for (int y = 0; y < kHatchPeriod; ++y)
            if (onHatch(x, y)) tile.setPixelColor(x, y, line);
    return QBrush(tile);
}

void drawMask(QPainter& painter, const QPointF& origin, qreal cell, int rows, int columns,
              MapValues::Mask mask) {
    if (mask == MapValues::Mask::None || rows <= 0 || columns <= 0 ||
        cell * rows < kLeastHatchedMap)
        return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(Qt::NoPen);
    painter.setBrushOrigin(origin);
    painter.setBrush(hatchBrush(Theme::current().hatch));
    painter.drawPolygon(maskedArea(rows, columns, mask == MapValues::Mask::Above, origin, cell));
    painter.restore();
}

void drawCells(QPainter& painter, const QPointF& origin, qreal cell, const MapValues& values,
               const QImage& image) {
    if (values.empty()) return;
    const QRectF whole(origin, QSizeF(values.columns * cell, values.rows * cell));
    painter.save();
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(Qt::NoPen);
    if (!keepsShapes(painter)) {
        painter.drawImage(whole, image);
    } else if (values.rows * values.columns <= vectorCells) {
        // Each rectangle extends slightly below its right and lower neighbours, as the page would
        // be visible at antialiased edges.
        const qreal under = 0.3;
        for (int i = 0; i < values.rows; ++i)
            for (int j = 0; j < values.columns; ++j)
                painter.fillRect(QRectF(origin.x() + j * cell, origin.y() + i * cell,
                                        cell + (j + 1 < values.columns ? under : 0),
                                        cell + (i + 1 < values.rows ? under : 0)),
                                 QColor::fromRgb(image.pixel(j, i)));
    } else {
        // Viewers smooth an enlarged image, so it is enlarged here, by whole pixels.
        const int factor = std::clamp(4096 / std::max(values.rows, values.columns), 1, 8);
        painter.drawImage(whole, image.scaled(image.size() * factor, Qt::IgnoreAspectRatio,
                                              Qt::FastTransformation));
    }
    drawMask(painter, origin, cell, values.rows, values.columns, values.mask);
    if (cell >= kLeastHatchedCell) {
        painter.setBrushOrigin(origin);
        const QBrush error = hatchBrush(Theme::current().error);
        for (int i = 0; i < values.rows; ++i)
            for (int j = 0; j < values.columns; ++j)
                if (const float v = values.at(i, j); v != v && !values.masked(i, j))
                    painter.fillRect(
                        QRectF(origin + QPointF(j * cell, i * cell), QSizeF(cell, cell)), error);
    }
    painter.restore();
}

}  // namespace relascope::widgets
