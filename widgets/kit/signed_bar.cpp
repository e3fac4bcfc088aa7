// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/kit/signed_bar.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

double placeInRange(const QRect& room, double value, const BarRange& range) {
    const double span = range.high - range.low;
    if (!(span > 0)) return room.left() + 0.5 * room.width();
    // Room for the line at zero where it is at an end.
    return room.left() + 1 + (room.width() - 2) * std::clamp((value - range.low) / span, 0.0, 1.0);
}

}  // namespace

QColor signedBarColor(double value) {
    const auto& stops = Theme::current().signedStops;
    return value < 0 ? stops[2] : stops[8];
}

void BarRange::include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
}

void drawSignedBar(QPainter& painter, const QRect& room, double value, const BarRange& range,
                   int thick) {
    const double zero = placeInRange(room, 0.0, range);
    if (std::isfinite(value) && value != 0.0) {
        const double end = placeInRange(room, value, range);
        painter.fillRect(QRectF(std::min(zero, end), room.center().y() - thick / 2.0 + 0.5,
                                std::max(1.0, std::abs(end - zero)), thick),
                         signedBarColor(value));
    }
    painter.fillRect(QRectF(zero - 0.5, room.top() + 2, 1, room.height() - 4),
                     Theme::current().axis);
}

void drawInterval(QPainter& painter, const QRect& room, double low, double high,
                  const BarRange& range) {
    if (!std::isfinite(low) || !std::isfinite(high) || high <= low) return;
    const double from = placeInRange(room, low, range), to = placeInRange(room, high, range);
    const double y = room.center().y();
    const QColor& ink = Theme::current().text;
    painter.fillRect(QRectF(from, y, to - from, 1), ink);
    for (const double end : {from, to}) painter.fillRect(QRectF(end - 0.5, y - 2, 1, 5), ink);
}

}  // namespace relascope::widgets
