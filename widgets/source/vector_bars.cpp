// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/vector_bars.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

namespace relascope::widgets {

float largestSize(std::span<const float> values) {
    float largest = 0;
    for (const float v : values)
        if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    return largest;
}

void paintVectorBars(QPainter& painter, const QRect& place, std::span<const float> values,
                     float largest, const QColor& ink) {
    if (!(largest > 0) || values.empty() || place.width() < 1) return;
    constexpr int most = 28;
    const int width = static_cast<int>(values.size());
    const int bars = std::min({width, most, place.width()});
    const int middle = place.center().y();
    const double reach = place.height() / 2.0 - 1;
    QColor line = ink;
    line.setAlpha(90);
    painter.fillRect(QRect(place.left(), middle, place.width(), 1), line);
    for (int bar = 0; bar < bars; ++bar) {
        float value = 0;  // of a pooled stretch the largest: a spike must not drown in a mean
        for (int k = bar * width / bars; k < (bar + 1) * width / bars; ++k) {
            const float v = values[static_cast<std::size_t>(k)];
            if (std::abs(v) > std::abs(value)) value = v;
        }
        const int left = place.left() + bar * place.width() / bars;
        const int right = place.left() + (bar + 1) * place.width() / bars;
        const int high = qRound(reach * std::min(1.0F, std::abs(value) / largest));
        painter.fillRect(
            QRect(left, value > 0 ? middle - high : middle, qMax(1, right - left - 1), high + 1),
            ink);
    }
}

}  // namespace relascope::widgets
