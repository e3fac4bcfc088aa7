// SPDX-License-Identifier: GPL-3.0-or-later
// The difference of the maps of two results of the same model and input.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "types/relation_map.h"

namespace relascope {

/// Differences up to this fraction of the largest value are set to 0: an edited map is computed in
/// another order, and differences by rounding are no change.
inline constexpr float kRoundingOfMaps = 4e-6F;

/// One map minus another of the same size, subtracted when it is read.
class MapDifference : public MapSource {
public:
    /// Keeps both results, which hold the maps.
    MapDifference(std::shared_ptr<const ProbeResult> after,
                  std::shared_ptr<const ProbeResult> before, const RelationMap& afterMap,
                  const RelationMap& beforeMap)
        : m_after(std::move(after)),
          m_before(std::move(before)),
          m_afterMap(afterMap),
          m_beforeMap(beforeMap) {}

    void rows(int /*index*/, int first, int count, float* out) const override {
        std::vector<float> base(static_cast<std::size_t>(count) *
                                static_cast<std::size_t>(m_afterMap.columns));
        m_afterMap.readRows(first, count, out);
        m_beforeMap.readRows(first, count, base.data());
        float largest = 0.0F;
        for (const float value : base) largest = std::max(largest, std::abs(value));
        for (std::size_t k = 0; k < base.size(); ++k) {
            out[k] -= base[k];
            if (std::abs(out[k]) <= kRoundingOfMaps * largest) out[k] = 0.0F;
        }
    }
    std::int64_t cost() const override {
        const auto of = [](const RelationMap& map) { return map.source ? map.source->cost() : 1; };
        return of(m_afterMap) + of(m_beforeMap);
    }

private:
    std::shared_ptr<const ProbeResult> m_after, m_before;
    const RelationMap &m_afterMap, &m_beforeMap;
};

/// `after` with every map that both results have in the same size replaced by after - before.
inline ProbeResult differenceOf(const std::shared_ptr<const ProbeResult>& after,
                                const std::shared_ptr<const ProbeResult>& before) {
    ProbeResult out = *after;
    for (std::size_t k = 0; k < out.maps.size(); ++k) {
        RelationMap& map = out.maps[k];
        const auto* other = before->find(map.kind, map.layer, map.index);
        const bool same = other && other->rows == map.rows && other->columns == map.columns &&
                          other->complete() && map.complete();
        if (!same || map.libraryRows) continue;
        map.values.clear();
        map.source = std::make_shared<MapDifference>(after, before, after->maps[k], *other);
    }
    return out;
}

/// Whether some rows of a map differ by more than rounding. At most 32 rows are compared.
inline bool mapMoved(const RelationMap& after, const RelationMap& before) {
    if (after.rows != before.rows || after.columns != before.columns) return true;
    if (!after.complete() || !before.complete()) return false;
    const auto columns = static_cast<std::size_t>(after.columns);
    std::vector<float> a(columns), b(columns);
    const int looked = std::min(after.rows, 32);
    for (int k = 0; k < looked; ++k) {
        // The last rows attend to the most objects under a causal mask.
        const int i = after.rows - 1 - static_cast<int>(std::int64_t{k} * after.rows / looked);
        after.readRows(i, 1, a.data());
        before.readRows(i, 1, b.data());
        float largest = 0.0F;
        for (const float value : b) largest = std::max(largest, std::abs(value));
        for (std::size_t j = 0; j < columns && !after.masked(i, static_cast<int>(j)); ++j)
            if (std::abs(a[j] - b[j]) > kRoundingOfMaps * largest) return true;
    }
    return false;
}

}  // namespace relascope
