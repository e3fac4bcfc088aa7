// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_text.h"

#include <cmath>
#include <cstdio>

namespace relascope::cli {

std::string percentText(double fraction) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100.0 * fraction);
    return text;
}

std::string metricText(const std::string& metric, double value) {
    const auto& info = metricInfo(metric);
    const std::string name = metricLabel(metric);
    if (info.isFraction()) return name + " " + percentText(value);
    char text[48];
    std::snprintf(text, sizeof text, info.format == MetricFormat::Perplexity ? " %.2f" : " %.4g",
                  value);
    return name + text;
}

std::string scoreText(const std::vector<std::pair<std::string, double>>& values) {
    std::string text;
    const auto say = [&](Metric metric) {
        for (const auto& [key, value] : values) {
            if (metricInfo(key).id != metric || !std::isfinite(value)) continue;
            text += (text.empty() ? "" : ", ") + metricText(key, value);
            return true;
        }
        return false;
    };
    if (say(Metric::Perplexity)) return text;
    say(Metric::SequenceAccuracy);
    say(Metric::Accuracy);
    if (say(Metric::MeanError)) say(Metric::Recovered);
    return text;
}

nlohmann::ordered_json finiteJson(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace relascope::cli
