// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/signed_bar.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

double place(const QRect& room, double value, double largest) {
    const double middle = room.left() + 0.5 * room.width();
    return largest > 0 ? middle + 0.5 * room.width() * std::clamp(value / largest, -1.0, 1.0)
                       : middle;
}

}  // namespace

QColor signedBarColor(double value) {
    const auto& stops = Theme::current().signedStops;
    return value < 0 ? stops[2] : stops[8];
}

void drawSignedBar(QPainter& painter, const QRect& room, double value, double largest, int high) {
    const double middle = place(room, 0.0, largest);
    if (std::isfinite(value) && value != 0.0) {
        const double end = place(room, value, largest);
        painter.fillRect(QRectF(std::min(middle, end), room.center().y() - high / 2.0 + 0.5,
                                std::max(1.0, std::abs(end - middle)), high),
                         signedBarColor(value));
    }
    painter.fillRect(QRectF(middle - 0.5, room.top() + 2, 1, room.height() - 4),
                     Theme::current().axis);
}

void drawInterval(QPainter& painter, const QRect& room, double low, double high, double largest) {
    if (!std::isfinite(low) || !std::isfinite(high) || high <= low) return;
    const double from = place(room, low, largest), to = place(room, high, largest);
    const double y = room.center().y();
    const QColor& ink = Theme::current().text;
    painter.fillRect(QRectF(from, y, to - from, 1), ink);
    for (const double end : {from, to}) painter.fillRect(QRectF(end - 0.5, y - 2, 1, 5), ink);
}

}  // namespace relascope::widgets
