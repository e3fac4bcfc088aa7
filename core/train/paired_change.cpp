// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/paired_change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace relascope::core {

PairedChange pairedChange(const std::string& metric, std::span<const double> base,
                          std::span<const double> edited) {
    constexpr int draws = 2000;
    PairedChange result{metric};
    std::vector<double> changes;
    double before = 0.0, after = 0.0;
    for (std::size_t i = 0; i < std::min(base.size(), edited.size()); ++i) {
        if (std::isnan(base[i]) || std::isnan(edited[i])) continue;
        changes.push_back(edited[i] - base[i]);
        before += base[i], after += edited[i];
    }
    if (changes.empty()) {
        const double none = std::numeric_limits<double>::quiet_NaN();
        result.base = result.edited = result.change = result.low = result.high = none;
        return result;
    }
    const auto n = changes.size();
    const auto count = static_cast<double>(n);
    result.base = before / count, result.edited = after / count;
    double sum = 0.0;
    for (const double change : changes) sum += change;
    result.change = sum / count;
    if (std::all_of(changes.begin(), changes.end(),
                    [&](double change) { return change == changes[0]; })) {
        result.low = result.high = result.change;
        return result;
    }
    std::mt19937 random(1);
    std::vector<double> means(draws);
    for (auto& mean : means) {
        double total = 0.0;
        for (std::size_t i = 0; i < n; ++i)
            total += changes[(static_cast<std::uint64_t>(random()) * n) >> 32];
        mean = total / count;
    }
    std::sort(means.begin(), means.end());
    result.low = means[draws / 40 - 1];  // 2.5 %
    result.high = means[draws - draws / 40];
    return result;
}

}  // namespace relascope::core
