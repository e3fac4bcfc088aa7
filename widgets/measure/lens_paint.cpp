// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/lens_paint.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope::widgets {

QColor probabilityTint(double probability) {
    const auto& stops = Theme::current().likelihood;
    const double x =
        std::isfinite(probability) ? std::clamp(probability, 0.0, 1.0) * (stops.size() - 1.0) : 0.0;
    const auto k = std::min(static_cast<std::size_t>(x), stops.size() - 2);
    const double f = x - static_cast<double>(k);
    const auto mix = [f](int a, int b) { return static_cast<int>(std::lround(a + f * (b - a))); };
    const QColor &a = stops[k], &b = stops[k + 1];
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

void drawProbabilityScale(QPainter& painter, const QRect& room) {
    constexpr int wide = 120, high = 10, number = 34;
    const Theme& t = Theme::current();
    const QRect bar(room.right() - wide - number, room.center().y() - high / 2, wide, high);
    for (int x = 0; x < wide; x += 4)
        painter.fillRect(QRect(bar.left() + x, bar.top(), 4, high),
                         probabilityTint((x + 2.0) / wide));
    painter.setPen(t.border);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(bar.left() - 206, room.top(), 200, room.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("probability   0"));
    painter.drawText(QRect(bar.right() + 6, room.top(), number, room.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("1"));
}

}  // namespace relascope::widgets
