// SPDX-License-Identifier: GPL-3.0-or-later
// Bars around zero in the signed colours of the theme.
#pragma once

class QColor;
class QPainter;
class QRect;

namespace relascope::widgets {

/// Green above zero, purple below, as in signed maps.
QColor signedBarColor(double value);
/// A bar of `high` px from the middle of `room`, which is zero; its ends are +-`largest`. With a
/// thin line at zero. Nothing but the line for NaN.
void drawSignedBar(QPainter& painter, const QRect& room, double value, double largest, int high);
/// A thin line from `low` to `high` over such a bar.
void drawInterval(QPainter& painter, const QRect& room, double low, double high, double largest);

}  // namespace relascope::widgets
