// SPDX-License-Identifier: GPL-3.0-or-later
// The words and numbers of the measuring views.
#pragma once

#include <QString>
#include <string>
#include <string_view>

#include "types/edit_results.h"

namespace relascope::widgets {

/// How values of a metric are written: fractions in percent, their changes in points.
struct MetricText {
    explicit MetricText(std::string_view metric);
    QString value(double value) const;   ///< "95.7 %", "0.513"
    QString change(double value) const;  ///< "−45.7", "+0.021"; "0.0" without a sign
    QString interval(double low, double high) const;
    bool percent = false;
    QString title;  ///< "Accuracy"
    QString unit;   ///< of changes: "points", or empty
};

/// With a true sign and `digits` decimals; what rounds to zero has no sign. A dash for NaN.
QString signedText(double value, int digits);
/// A probability in percent: "42 %", "0.3 %".
QString probabilityText(double probability);
/// A class or token in one line: a leading space and line ends as symbols.
QString answerText(const std::string& name);
/// The words of an operation: "zero", "mean", "another example".
QString wayText(EditOp way);
/// "blocks.1" -> "layer 2", "decoder.0" -> "decoder 1".
QString blockTitle(const std::string& block);
/// "Residual stream before the layer", "Relational heads".
QString patchMapTitle(const PatchMap& map);
/// "position", "head", "relation".
QString patchColumnName(const PatchMap& map);

}  // namespace relascope::widgets
