// SPDX-License-Identifier: GPL-3.0-or-later
// A vector as small bars around a middle line.
#pragma once

#include <QColor>
#include <QRect>
#include <span>

class QPainter;

namespace relascope::widgets {

/// The largest magnitude of the finite numbers.
float largestSize(std::span<const float> values);
/// `largest` corresponds to a bar of half the height. Wide vectors are pooled: each bar shows the
/// largest of several numbers.
void paintVectorBars(QPainter& painter, const QRect& place, std::span<const float> values,
                     float largest, const QColor& ink);

}  // namespace relascope::widgets
