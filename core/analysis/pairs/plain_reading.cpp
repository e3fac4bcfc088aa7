// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/plain_reading.h"

#include <cmath>

#include "probe/head_places.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr double kExplains = 0.9, kAlike = 0.02;

std::string withShare(const std::string& words, double share, const char* of) {
    return words + " (" + fixedField(std::min(share, 0.995), 2) + " of its " + of + ")";
}

std::string placesOf(const DescribedMap& map) {
    const std::size_t n = map.shape.objects;
    PlaceShares shares(static_cast<int>(n), map.shape.byOffset ? 0 : map.columns);
    for (std::size_t e = 0; e < map.shape.examples; ++e)
        for (std::size_t i = 0; i < n; ++i)
            shares.add(static_cast<int>(i), &map.values[(e * n + i) * n], map.shape.causal,
                       map.lineStarts.empty() ? -1 : map.lineStarts[e * n + i], false);
    if (std::isfinite(map.first)) shares.setFirst(map.first);
    return shares.reading();
}

/// The share of the variance between pairs with both, one and no empty place.
double shareOfEmptiness(const DescribedMap& map) {
    if (map.oneEmpty.empty() || map.bothEmpty.empty()) return 0.0;
    const std::size_t n = map.shape.objects;
    std::array<double, 3> sums{}, counts{};
    double squares = 0.0;
    for (std::size_t at = 0; at < map.shape.values(); ++at) {
        const std::size_t i = at / n % n, j = at % n;
        if (map.shape.causal ? j >= i : i == j) continue;
        const std::size_t group = map.bothEmpty[at] == kPairYes  ? 2
                                  : map.oneEmpty[at] == kPairYes ? 1
                                                                 : 0;
        const double value = static_cast<double>(map.values[at]) - map.mean;
        sums[group] += value, counts[group] += 1.0, squares += value * value;
    }
    double between = 0.0;
    for (std::size_t g = 0; g < 3; ++g)
        if (counts[g] > 0) between += sums[g] * sums[g] / counts[g];
    return squares > 0 ? between / squares : 0.0;
}

}  // namespace

std::string plainReading(const DescribedMap& map) {
    if (!(map.sd > kAlike * std::abs(map.mean))) return "is alike everywhere";
    if (map.head && (map.shape.byOffset || map.columns > 0))
        if (auto places = placesOf(map); !places.empty()) return places;
    const auto& [place, example, receiver, sender, pair] = map.shares;
    if (place > kExplains) return withShare("depends on the places alone", place, "variance");
    if (receiver > kExplains) return withShare("reads i alone, not the pair", receiver, "variance");
    if (sender > kExplains) return withShare("reads j alone, not the pair", sender, "variance");
    if (const double share = shareOfEmptiness(map); share > kExplains)
        return withShare("tells empty places apart", share, "variance");
    return {};
}

}  // namespace relascope::core
