// SPDX-License-Identifier: GPL-3.0-or-later
// Small pictures of examples, for the cells of a grid.
#pragma once

#include <QSize>

#include "widgets/data/shown_sample.h"

class QPainter;
class QRect;

namespace relascope::widgets {

/// The preferred size of an example, without its label.
QSize sampleSize(const ShownSample& shown);
/// Draws it at the top left of `place`; what does not fit is left out.
void paintSample(QPainter& painter, const QRect& place, const ShownSample& shown);

}  // namespace relascope::widgets
