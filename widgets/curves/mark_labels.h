// SPDX-License-Identifier: GPL-3.0-or-later
// Placement of the labels of marks beside their lines.
#pragma once

#include <QFontMetrics>
#include <QStringList>
#include <vector>

namespace relascope::widgets {

/// Where the text of a mark is drawn: row 0 is above the plot, the others are inside it.
struct MarkLabel {
    double left = 0.0;
    int row = 0;
    QString text;  ///< elided where the whole plot is narrower
};
/// Places the texts of marks at `positions` (px, rising) between `left` and `right` so that none
/// covers another or, above the plot, a diamond.
std::vector<MarkLabel> placeMarkLabels(const std::vector<double>& positions,
                                       const QStringList& texts, double left, double right,
                                       const QFontMetrics& metrics);

}  // namespace relascope::widgets
