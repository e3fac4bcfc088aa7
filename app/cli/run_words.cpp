#include "app/cli/run_words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace relascope::cli {

std::string percentText(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100.0 * share);
    return text;
}

std::string metricText(const std::string& metric, double value) {
    std::string words = metric;
    std::replace(words.begin(), words.end(), '_', ' ');
    if (metric.find("accuracy") != std::string::npos || metric == "recovered")
        return words + " " + percentText(value);
    char text[48];
    std::snprintf(text, sizeof text, metric == "perplexity" ? " %.2f" : " %.4g", value);
    return words + text;
}

std::string scoreText(const std::vector<std::pair<std::string, double>>& values) {
    std::string text;
    const auto say = [&](const char* metric) {
        for (const auto& [key, value] : values) {
            if (key != metric || !std::isfinite(value)) continue;
            text += (text.empty() ? "" : ", ") + metricText(key, value);
            return true;
        }
        return false;
    };
    if (say("perplexity")) return text;
    say("sequence_accuracy");
    say("accuracy");
    if (say("mean_error")) say("recovered");
    return text;
}

nlohmann::ordered_json finiteJson(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace relascope::cli
