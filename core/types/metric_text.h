// SPDX-License-Identifier: GPL-3.0-or-later
// Values of metrics as text for people.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "types/metric.h"
#include "types/text_format.h"

namespace relascope {

/// In the window, where columns are narrow and a dash is better than "nan"; or as commands print
/// it, with a digit more.
enum class MetricForm { Shown, Printed };

/// The value of a metric: shown "93.0%", "0.513", "0.0123", a perplexity "4.92" or "50,257", large
/// numbers "2.1e12"; printed "93.0 %", "0.5134", "0.01234", a perplexity always as "4.92".
inline std::string metricValueText(const MetricInfo& metric, double value,
                                   MetricForm as = MetricForm::Shown) {
    const bool printed = as == MetricForm::Printed;
    if (std::isnan(value) && !printed) return "\u2014";
    const auto general = [value](const char* format) {
        auto text = numberText(format, value);
        std::erase(text, '+');
        return text;
    };
    const bool large = std::round(std::abs(value)) >= 1e6;
    switch (metric.format) {
        case MetricFormat::Percent:
            return numberText(printed ? "%.1f %%" : "%.1f%%", 100.0 * value);
        case MetricFormat::Perplexity:
            if (printed || value < 1000.0) return numberText("%.2f", value);
            if (large) return general("%.2g");
            return std::to_string(std::llround(value) / 1000) +
                   numberText(",%03.0f", static_cast<double>(std::llround(value) % 1000));
        case MetricFormat::Fixed:
            if (printed) break;
            if (large) return general("%.2g");
            return numberText(value < 10.0 ? "%.3f" : "%.1f", value);
        case MetricFormat::General:
            break;
    }
    return printed ? numberText("%.4g", value) : general("%.3g");
}

}  // namespace relascope
