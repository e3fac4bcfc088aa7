// SPDX-License-Identifier: GPL-3.0-or-later
// The colours of the logit lens.
#pragma once

#include <QRect>

class QColor;
class QPainter;

namespace relascope::widgets {

/// The fill of a cell: the page at 0, the strongest fill of likely tokens at 1.
QColor probabilityTint(double probability);
/// The scale of that tint with its ends, right-aligned in `room`.
void drawProbabilityScale(QPainter& painter, const QRect& room);

}  // namespace relascope::widgets
