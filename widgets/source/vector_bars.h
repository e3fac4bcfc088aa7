// SPDX-License-Identifier: GPL-3.0-or-later
// A vector as small bars around a middle line.
#pragma once

#include <QColor>
#include <QRect>
#include <span>

class QPainter;

namespace relascope::widgets {

/// The largest size of numbers that are finite.
float largestSize(std::span<const float> values);
/// `largest` is what a bar of half the height stands for. Wide vectors are pooled: each bar is then
/// the largest of its stretch.
void paintVectorBars(QPainter& painter, const QRect& place, std::span<const float> values,
                     float largest, const QColor& ink);

}  // namespace relascope::widgets
