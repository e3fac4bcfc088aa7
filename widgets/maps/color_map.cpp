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
QRgb between(const std::array<QColor, N>& stops, double t) {
    const double x = std::clamp(t, 0.0, 1.0) * (N - 1);
    const auto k = std::min(static_cast<std::size_t>(x), N - 2);
    const double f = x - static_cast<double>(k);
    const auto mix = [f](int a, int b) { return static_cast<int>(std::lround(a + f * (b - a))); };
    const QColor& a = stops[k];
    const QColor& b = stops[k + 1];
    return qRgb(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
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
    : m_kind(kind), m_limits(limits), m_nan(theme.errorFill.rgb()), m_mask(theme.hatchFill.rgb()) {
    if (!(m_limits.high > m_limits.low)) m_limits.high = m_limits.low + 1.0F;
    m_factor = static_cast<float>(steps) / (m_limits.high - m_limits.low);
    for (int k = 0; k <= steps; ++k) {
        const double t = static_cast<double>(k) / steps;
        QRgb& color = m_table[static_cast<std::size_t>(k)];
        switch (kind) {
            case Kind::Signed:
                color = between(theme.signedStops, t);
                break;
            case Kind::Paper:
                color = between(theme.paperStops, t);
                break;
            case Kind::Sequential:
                color = between(theme.viridis, t);
                break;
        }
    }
}

int ColorScale::entry(float value) const {
    const float x = (value - m_limits.low) * m_factor + 0.5F;
    // This order maps NaN to the upper end, so that the conversion is always defined.
    return static_cast<int>(std::max(0.0F, std::min(static_cast<float>(steps), x)));
}

float ColorScale::position(float value) const {
    if (value != value) return 0.0F;
    return std::clamp((value - m_limits.low) / (m_limits.high - m_limits.low), 0.0F, 1.0F);
}

QColor ColorScale::tint(float value) const {
    if (value != value) return QColor(Qt::transparent);
    const float t = position(value);
    QColor color;
    if (isSigned()) {
        const float size = std::abs(2.0F * t - 1.0F);
        color = QColor::fromRgb(m_table[t < 0.5F ? steps / 10 : steps - steps / 10]);
        color.setAlphaF(0.62F * size);
    } else {
        color = QColor::fromRgb(m_table[static_cast<std::size_t>(std::lround(t * steps))]);
        color.setAlphaF(0.30F + 0.35F * t);
    }
    return color;
}

QImage ColorScale::strip(int width) const {
    QImage image(std::max(1, width), 1, QImage::Format_RGB32);
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(0));
    for (int x = 0; x < image.width(); ++x)
        line[x] = m_table[static_cast<std::size_t>(
            image.width() > 1 ? x * steps / (image.width() - 1) : steps / 2)];
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
    const QRgb* table = scale.m_table.data();
    for (int i = 0; i < values.rows; ++i) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(i));
        const float* row = values.values.data() + static_cast<std::size_t>(i) * values.columns;
        for (int j = 0; j < values.columns; ++j)
            line[j] = row[j] == row[j] ? table[scale.entry(row[j])] : scale.m_nan;
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
    constexpr int period = 7;
    QImage tile(period, period, QImage::Format_ARGB32_Premultiplied);
    tile.fill(Qt::transparent);
    for (int k = 0; k < period; ++k) tile.setPixelColor(k, period - 1 - k, line);
    return QBrush(tile);
}

void drawMask(QPainter& painter, const QPointF& origin, qreal cell, int rows, int columns,
              MapValues::Mask mask) {
    if (mask == MapValues::Mask::None || rows <= 0 || columns <= 0 || cell * rows < 24) return;
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
    if (cell >= 4) {
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
