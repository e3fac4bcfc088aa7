// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/paired_change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace relascope::core {

PairedChange pairedChange(const std::string& metric, std::span<const double> base,
                          std::span<const double> edited, std::span<const double> weights) {
    constexpr int draws = 2000;
    PairedChange result{metric};
    struct Example {
        double change, weight;
    };
    std::vector<Example> examples;
    double before = 0.0, after = 0.0, sum = 0.0, weight = 0.0;
    for (std::size_t i = 0; i < std::min({base.size(), edited.size(), weights.size()}); ++i) {
        if (!(weights[i] > 0) || std::isnan(base[i]) || std::isnan(edited[i])) continue;
        examples.push_back({edited[i] - base[i], weights[i]});
        before += base[i] * weights[i], after += edited[i] * weights[i];
        sum += examples.back().change * weights[i], weight += weights[i];
    }
    if (examples.empty()) {
        const double none = std::numeric_limits<double>::quiet_NaN();
        result.base = result.edited = result.change = result.low = result.high = none;
        return result;
    }
    const auto n = examples.size();
    result.base = before / weight, result.edited = after / weight;
    result.change = sum / weight;
    if (std::all_of(examples.begin(), examples.end(),
                    [&](const Example& e) { return e.change == examples[0].change; })) {
        result.low = result.high = result.change;
        return result;
    }
    std::mt19937 random(1);
    std::vector<double> means(draws);
    for (auto& mean : means) {
        double total = 0.0, count = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto& drawn = examples[(static_cast<std::uint64_t>(random()) * n) >> 32];
            total += drawn.change * drawn.weight, count += drawn.weight;
        }
        mean = total / count;
    }
    std::sort(means.begin(), means.end());
    result.low = means[draws / 40 - 1];  // 2.5 %
    result.high = means[draws - draws / 40];
    return result;
}

}  // namespace relascope::core
