// SPDX-License-Identifier: GPL-3.0-or-later
// Bars around zero in the signed colours of the theme.
#pragma once

#include <QColor>

class QPainter;
class QRect;

namespace relascope::widgets {

/// The values of a column of bars; 0 always belongs to it.
struct BarRange {
    double low = 0.0, high = 0.0;
    void include(double value);  ///< NaN and infinity are left out
};

/// Green above zero, purple below, as in signed maps.
QColor signedBarColor(double value);
/// A bar of `thick` px from zero to `value` in a room from low to high, and a thin line at zero.
/// Nothing but the line for NaN.
void drawSignedBar(QPainter& painter, const QRect& room, double value, const BarRange& range,
                   int thick);
/// A thin line from `low` to `high` over such a bar.
void drawInterval(QPainter& painter, const QRect& room, double low, double high,
                  const BarRange& range);

}  // namespace relascope::widgets
