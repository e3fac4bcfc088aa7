// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>

#include <QList>
#include <QPaintEngine>
#include <QPainter>
#include <QPixmap>

#include "widgets/maps/color_map.h"
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

/// The hatching of that area as lines, cut at the rows: SVG knows no pattern of pixels and no clip,
/// and PDF shows one coarsely.
QList<QLineF> maskedLines(int rows, int columns, bool above, const QPointF& origin, qreal cell) {
    QList<QLineF> lines;
    for (int i = 0; i < rows; ++i) {
        const qreal left = (above ? i + 1 : 0) * cell, top = i * cell, bottom = top + cell,
                    right = (above ? columns : std::min(i, columns)) * cell;
        if (right <= left) continue;
        // x + y is the same along a line.
        for (qreal sum = std::ceil((left + top) / kHatchPeriod) * kHatchPeriod;
             sum < right + bottom; sum += kHatchPeriod) {
            const qreal from = std::max(top, sum - right), to = std::min(bottom, sum - left);
            if (to > from)
                lines.append(
                    QLineF(QPointF(sum - from, from) + origin, QPointF(sum - to, to) + origin));
        }
    }
    return lines;
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
        for (int j = 0; j < values.columns && values.gaps; ++j)
            if (row[j] != row[j]) line[j] = scale.m_mask;
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

namespace {

// Of a row the gaps that lie side by side are one rectangle.
void drawGaps(QPainter& painter, const QPointF& origin, qreal cell, const MapValues& values) {
    painter.save();
    painter.setBrushOrigin(origin);
    const QBrush hatch = hatchBrush(Theme::current().hatch);
    for (int i = 0; i < values.rows; ++i)
        for (int j = 0, first = 0; j < values.columns; first = ++j) {
            while (j < values.columns && values.isGap(i, j)) ++j;
            if (j > first)
                painter.fillRect(QRectF(origin + QPointF(first * cell, i * cell),
                                        QSizeF((j - first) * cell, cell)),
                                 hatch);
        }
    painter.restore();
}

}  // namespace

void drawMask(QPainter& painter, const QPointF& origin, qreal cell, const MapValues& values) {
    const int rows = values.rows, columns = values.columns;
    if (values.empty() || cell * rows < kLeastHatchedMap) return;
    if (values.gaps) drawGaps(painter, origin, cell, values);
    if (values.mask == MapValues::Mask::None) return;
    painter.save();
    const bool above = values.mask == MapValues::Mask::Above;
    if (keepsShapes(painter)) {
        painter.setPen(QPen(Theme::current().hatch, 0.6));
        painter.drawLines(maskedLines(rows, columns, above, origin, cell));
    } else {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(Qt::NoPen);
        painter.setBrushOrigin(origin);
        painter.setBrush(hatchBrush(Theme::current().hatch));
        painter.drawPolygon(maskedArea(rows, columns, above, origin, cell));
    }
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
    drawMask(painter, origin, cell, values);
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

namespace {

struct Piece {
    QString text;
    bool lower = false;
};

std::vector<Piece> pieces(const QString& text) {
    std::vector<Piece> out;
    bool lower = false;
    QString run;
    const auto flush = [&] {
        if (!run.isEmpty()) out.push_back({run, lower});
        run.clear();
    };
    for (const QChar c : text) {
        if (c == u'_') {
            flush();
            lower = true;
            continue;
        }
        if (lower && !c.isLetterOrNumber()) {
            flush();
            lower = false;
        }
        run += c;
    }
    flush();
    return out;
}

}  // namespace

void drawSubscripted(QPainter& painter, const QRectF& box, const QString& text) {
    const auto parts = pieces(text);
    const QFont normal = painter.font();
    QFont small = normal;
    small.setPixelSize(qMax(8, normal.pixelSize() - 2));
    qreal wide = 0;
    for (const Piece& p : parts)
        wide += QFontMetricsF(p.lower ? small : normal).horizontalAdvance(p.text);
    const QFontMetricsF metrics(normal);
    qreal x = box.left() + qMax(0.0, (box.width() - wide) / 2);
    const qreal y = box.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    for (const Piece& p : parts) {
        painter.setFont(p.lower ? small : normal);
        painter.drawText(QPointF(x, y + (p.lower ? 3 : 0)), p.text);
        x += QFontMetricsF(painter.font()).horizontalAdvance(p.text);
    }
    painter.setFont(normal);
}

ColorBar::ColorBar(QWidget* parent)
    : QWidget(parent), m_mark(std::numeric_limits<float>::quiet_NaN()) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Colour scale"));
}

void ColorBar::setScale(const ColorScale& scale) {
    if (scale == m_scale) return;
    m_scale = scale;
    describe();
}
void ColorBar::setExtent(const Extent& extent) {
    if (extent == m_extent) return;
    m_extent = extent;
    describe();
}
void ColorBar::describe() {
    const auto text = [this](float value) { return endText(value, m_scale.isSigned()); };
    QString range = QStringLiteral("from %1 to %2")
                        .arg(text(m_scale.limits().low), text(m_scale.limits().high));
    if (beyondLow() || beyondHigh())
        range += QStringLiteral("; the values reach from %1 to %2")
                     .arg(text(m_extent.low), text(m_extent.high));
    setAccessibleDescription(range);
    const QString plain = QString(m_caption).remove(u'_');
    setToolTip((m_oneRow && !plain.isEmpty() ? plain + u'\n' : QString()) +
               QStringLiteral("Colours ") + range);
    update();
}
void ColorBar::setCaption(const QString& caption) {
    if (caption == m_caption) return;
    m_caption = caption;
    updateGeometry();
    describe();
}
void ColorBar::setOneRow(bool on) {
    m_oneRow = on;
    updateGeometry();
    describe();
}
void ColorBar::setMark(float value) {
    if (value == m_mark || (std::isnan(value) && std::isnan(m_mark))) return;
    m_mark = value;
    update();
}

QString ColorBar::endText(float value, bool isSigned) {
    const float size = std::abs(value);
    const int digits = size == std::round(size) && size < 1000 ? 0
                       : size >= 100                           ? 0
                       : size >= 10                            ? 1
                       : size >= 0.1F                          ? 2
                                                               : 3;
    if (size != 0 && (size < 0.001F || size >= 100000)) {
        QString text = QString::number(static_cast<double>(size), 'e', 1);
        return (value < 0  ? QString(QChar(0x2212))
                : isSigned ? QStringLiteral("+")
                           : QString()) +
               text;
    }
    QString text = signedNumber(value, digits);
    if (!isSigned || size == 0) text.remove(u'+');
    return text;
}

QSize ColorBar::sizeHint() const {
    return {m_oneRow ? 220 : 260, m_caption.isEmpty() || m_oneRow ? 18 : 36};
}

void ColorBar::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setFont(numberFont(11));
    const QFontMetrics metrics(painter.font());
    const QString low = endText(m_scale.limits().low, m_scale.isSigned());
    const QString high = endText(m_scale.limits().high, m_scale.isSigned());
    const int ends = qMax(metrics.horizontalAdvance(low), metrics.horizontalAdvance(high)) + 8 +
                     (beyondLow() || beyondHigh() ? 6 : 0);
    const int wide = qBound(40, width() - 2 * ends, 200);
    const QRect bar((width() - wide) / 2, 4, wide, 10);
    painter.setPen(t.muted);
    const int before = beyondLow() ? 12 : 6, after = beyondHigh() ? 13 : 7;
    painter.drawText(QRect(bar.left() - ends - 40, 0, ends + 40 - before, 18),
                     Qt::AlignRight | Qt::AlignVCenter, low);
    painter.drawText(QRect(bar.right() + after, 0, ends + 40, 18), Qt::AlignLeft | Qt::AlignVCenter,
                     high);
    // Drawn at its final width, so that printers and viewers do not have to scale it.
    painter.drawImage(bar, m_scale.strip(bar.width())
                               .scaled(bar.size(), Qt::IgnoreAspectRatio, Qt::FastTransformation));
    // An arrow shows that values exceed this end and have its colour.
    const auto arrow = [&](bool low) {
        const qreal x = low ? bar.left() : bar.right() + 1, out = low ? -6 : 6;
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(m_scale.color(low ? m_scale.limits().low : m_scale.limits().high));
        painter.drawPolygon(QPolygonF({QPointF(x, bar.top()), QPointF(x, bar.bottom() + 1),
                                       QPointF(x + out, bar.center().y() + 0.5)}));
        painter.setRenderHint(QPainter::Antialiasing, false);
    };
    if (beyondLow()) arrow(true);
    if (beyondHigh()) arrow(false);
    const auto tick = [&](float value) {
        const qreal x = bar.left() + m_scale.position(value) * (bar.width() - 1) + 0.5;
        painter.setPen(QPen(t.text, 1));
        painter.drawLine(QPointF(x, bar.top() - 2), QPointF(x, bar.bottom() + 3));
    };
    if (m_scale.isSigned()) tick(0.0F);
    if (!std::isnan(m_mark)) {
        const qreal x = bar.left() + m_scale.position(m_mark) * (bar.width() - 1) + 0.5;
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(t.text);
        painter.drawPolygon(
            QPolygonF({QPointF(x - 3.5, bar.bottom() + 6.5), QPointF(x + 3.5, bar.bottom() + 6.5),
                       QPointF(x, bar.bottom() + 1.5)}));
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
    if (m_caption.isEmpty() || m_oneRow) return;
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    // In a narrow pane the description of the scale is omitted.
    QString caption = m_caption;
    while (QFontMetrics(painter.font()).horizontalAdvance(caption) > width() &&
           caption.contains(QLatin1String(", ")))
        caption.truncate(caption.lastIndexOf(QLatin1String(", ")));
    drawSubscripted(painter, QRectF(0, 19, width(), 16), caption);
}

}  // namespace relascope::widgets
