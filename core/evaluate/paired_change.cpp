// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluate/paired_change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "evaluate/pair_scores.h"
#include "types/metric.h"
#include "types/student_t.h"

namespace relascope::core {
namespace {

constexpr int kChangeDraws = 2000;
constexpr double kChangeTail = 0.025, kChangeErrors = 1.959964;

/// Examples with the same content.
struct ChangeUnit {
    double sum = 0.0, weight = 0.0;  ///< sums of change times weight, and of the weights
    bool whole = true;               ///< all of them gained, lost, or did neither
    double first = 0.0;
};

/// Tango's score statistic for a difference d of paired proportions, of n answers of which so many
/// were gained and lost.
double scoreStatistic(double gained, double lost, double n, double d) {
    const double a = 2.0 * n, b = -gained - lost + (2.0 * n - gained + lost) * d,
                 c = -lost * d * (1.0 - d);
    const double lostShare = (std::sqrt(std::max(0.0, b * b - 4.0 * a * c)) - b) / (2.0 * a);
    const double variance = n * (2.0 * lostShare + d * (1.0 - d));
    const double by = gained - lost - n * d;
    if (!(variance > 0.0))
        return by > 0.0   ? std::numeric_limits<double>::infinity()
               : by < 0.0 ? -std::numeric_limits<double>::infinity()
                          : 0.0;
    return by / std::sqrt(variance);
}

/// Where the score statistic, which falls with the difference, passes `level`.
double scoreEnd(double gained, double lost, double n, double level) {
    double low = -1.0, high = 1.0;
    for (int k = 0; k < 60; ++k) {
        const double d = 0.5 * (low + high);
        (scoreStatistic(gained, lost, n, d) > level ? low : high) = d;
    }
    return 0.5 * (low + high);
}

std::pair<double, double> bootstrapped(const std::vector<ChangeUnit>& units) {
    std::mt19937 random(1);
    const auto n = static_cast<std::uint64_t>(units.size());
    std::vector<double> means(kChangeDraws);
    for (auto& mean : means) {
        double total = 0.0, weight = 0.0;
        for (std::size_t i = 0; i < units.size(); ++i) {
            const auto& drawn = units[(static_cast<std::uint64_t>(random()) * n) >> 32];
            total += drawn.sum, weight += drawn.weight;
        }
        mean = total / weight;
    }
    std::sort(means.begin(), means.end());
    return {means[kChangeDraws / 40 - 1], means[kChangeDraws - kChangeDraws / 40]};  // 2.5 %
}

/// Student's t of a mean over units of different weights, whose spread is that of few.
std::pair<double, double> studentOfFew(const std::vector<ChangeUnit>& units, double mean,
                                       double weight, std::size_t changed) {
    const auto n = static_cast<double>(units.size());
    double squares = 0.0;
    for (const auto& unit : units) squares += std::pow(unit.sum - mean * unit.weight, 2);
    const double by = studentT95(static_cast<int>(changed) - 1) *
                      std::sqrt(squares * n / std::max(1.0, n - 1.0)) / weight;
    return {mean - by, mean + by};
}

void widen(PairedChange& change, const std::pair<double, double>& by) {
    change.low = std::min(change.low, by.first);
    change.high = std::max(change.high, by.second);
}

}  // namespace

std::pair<double, double> changeOfFew(std::int64_t gained, std::int64_t lost, std::int64_t n) {
    const auto all = static_cast<double>(n), changed = static_cast<double>(gained + lost);
    const auto [low, high] = proportionInterval(gained, gained + lost);
    const auto by = [&](double share) { return (2.0 * share - 1.0) * changed / all; };
    const auto up = static_cast<double>(gained), down = static_cast<double>(lost);
    return {std::min(by(low), scoreEnd(up, down, all, kChangeErrors)),
            std::max(by(high), scoreEnd(up, down, all, -kChangeErrors))};
}

PairedChange pairedChange(const std::string& metric, std::span<const double> base,
                          std::span<const double> edited, std::span<const double> weights,
                          std::span<const std::uint64_t> content) {
    PairedChange result{metric};
    std::vector<ChangeUnit> units;
    std::unordered_map<std::uint64_t, std::size_t> unitOf;
    double before = 0.0, after = 0.0, sum = 0.0, weight = 0.0;
    for (std::size_t i = 0; i < std::min({base.size(), edited.size(), weights.size()}); ++i) {
        if (!(weights[i] > 0) || std::isnan(base[i]) || std::isnan(edited[i])) continue;
        const double change = edited[i] - base[i];
        const auto at = i < content.size()
                            ? unitOf.try_emplace(content[i], units.size()).first->second
                            : units.size();
        if (at == units.size()) units.push_back({0.0, 0.0, true, change});
        auto& unit = units[at];
        unit.sum += change * weights[i], unit.weight += weights[i];
        unit.whole = unit.whole && change == unit.first;
        before += base[i] * weights[i], after += edited[i] * weights[i];
        sum += change * weights[i], weight += weights[i];
    }
    if (units.empty()) {
        const double none = std::numeric_limits<double>::quiet_NaN();
        result.base = result.edited = result.change = result.low = result.high = none;
        return result;
    }
    result.base = before / weight, result.edited = after / weight;
    result.change = sum / weight;
    const bool fraction = metricInfo(metric).isFraction();
    std::int64_t gained = 0, lost = 0;
    std::size_t changed = 0;
    bool answers = fraction, alike = true;
    for (const auto& unit : units) {
        changed += unit.sum != 0.0 || !unit.whole;
        gained += unit.first == 1.0, lost += unit.first == -1.0;
        answers = answers && unit.whole && (unit.first == 0.0 || std::abs(unit.first) == 1.0);
        alike = alike && unit.whole && unit.first == units.front().first;
    }
    const auto n = static_cast<std::int64_t>(units.size());
    if (alike) {
        result.low = result.high = result.change;
        if (!fraction) return result;
        // Resampling equal differences says nothing about those that were not met: the exact bound
        // of none in n (Clopper and Pearson 1934) does.
        const double unmet = 1.0 - std::pow(kChangeTail, 1.0 / static_cast<double>(n));
        if (result.change <= 0.0) result.high = std::min(result.change + unmet, 1.0);
        if (result.change >= 0.0) result.low = std::max(result.change - unmet, -1.0);
        return result;
    }
    const bool even = std::all_of(units.begin(), units.end(), [&](const ChangeUnit& unit) {
        return unit.weight == units.front().weight;
    });
    if (changed < kFewChanged && answers && even) {
        std::tie(result.low, result.high) = changeOfFew(gained, lost, n);
        return result;
    }
    std::tie(result.low, result.high) = bootstrapped(units);
    if (changed < kFewChanged)
        widen(result, answers ? changeOfFew(gained, lost, n)
                              : studentOfFew(units, result.change, weight, changed));
    return result;
}

}  // namespace relascope::core
