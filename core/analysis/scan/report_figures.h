// SPDX-License-Identifier: GPL-3.0-or-later
// The pictures of the report of a scan.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "analysis/scan/scan.h"
#include "types/metric.h"
#include "types/text_format.h"

namespace relascope::core {

struct ReportFigure {
    std::string name, caption, svg;
};

/// Values of the metric: percent, and their changes in points.
struct ReportNumbers {
    bool percent;
    explicit ReportNumbers(const std::string& metric) : percent(metricInfo(metric).isFraction()) {}
    std::string value(double v) const {
        if (std::isnan(v)) return "";
        return numberWithMinus(percent ? 100.0 * v : v, percent ? 1 : 3) + (percent ? " %" : "");
    }
    std::string change(double v) const {
        if (std::isnan(v)) return "";
        const double shown = percent ? 100.0 * v : v;
        const int digits = percent ? 1 : 3;
        const bool none = std::round(shown * std::pow(10.0, digits)) == 0.0;
        return (none ? "" : shown > 0 ? "+" : "") + numberWithMinus(none ? 0.0 : shown, digits);
    }
};

/// What a part changes taken out in that way; null: it was not measured.
const AblationRow::Way* wayOf(const ModelScan::Component& part, EditOp how);

/// The figures that the scan has numbers for.
std::vector<ReportFigure> reportFigures(const ModelScan& scan);

}  // namespace relascope::core
