// SPDX-License-Identifier: GPL-3.0-or-later
// Scrolling of views of tiles and tokens.
#pragma once

#include <QAbstractScrollArea>
#include <QScrollBar>

namespace relascope::widgets {

/// Scrolls until `place` (in viewport coordinates) is visible with `edge` pixels around it. After a
/// long jump it is centred.
inline void scrollTo(const QAbstractScrollArea& view, const QRect& place, int edge) {
    if (place.isEmpty()) return;
    QScrollBar* bar = view.verticalScrollBar();
    const int high = view.viewport()->height();
    if (place.bottom() < -high / 4 || place.top() > high + high / 4)
        return bar->setValue(bar->value() + place.center().y() - high / 2);
    if (place.top() < edge) bar->setValue(bar->value() + place.top() - edge);
    if (place.bottom() > high - edge)
        bar->setValue(bar->value() + place.bottom() - high + edge + 1);
}

}  // namespace relascope::widgets
