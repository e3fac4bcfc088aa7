// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the values of a result's maps, so that a change of layer does not read the whole
// model again. May be used by several threads at once.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "widgets/maps/map_values.h"

namespace relascope::widgets {

class ScaleCache {
public:
    /// An extent before monotone processing: kind, layer, index, head and softmax.
    using ExtentKey = std::tuple<int, int, int, int, bool>;
    /// Percentiles of raw values: kind, range, layer and index.
    using PercentileKey = std::tuple<int, int, int, int>;

    std::optional<Extent> extent(const ExtentKey& key) const { return found(m_extents, key); }
    std::optional<Extent> estimate(const ExtentKey& key) const { return found(m_estimates, key); }
    std::optional<Extent> percentiles(const PercentileKey& key) const {
        return found(m_percentiles, key);
    }
    Extent setExtent(const ExtentKey& key, const Extent& e) { return set(m_extents, key, e); }
    Extent setEstimate(const ExtentKey& key, const Extent& e) { return set(m_estimates, key, e); }
    Extent setPercentiles(const PercentileKey& key, const Extent& e) {
        return set(m_percentiles, key, e);
    }

    /// Takes over the extents of maps for which `same(kind, layer, index)`, and the percentiles of
    /// layers for which `sameLayer(kind, layer)`.
    template <class Same, class SameLayer>
    void keep(const ScaleCache& before, Same same, SameLayer sameLayer) {
        const std::scoped_lock lock(m_mutex, before.m_mutex);
        for (const auto& [from, to] : {std::pair(&before.m_extents, &m_extents),
                                       std::pair(&before.m_estimates, &m_estimates)})
            for (const auto& [key, extent] : *from)
                // A product of two maps is not one of the maps.
                if (std::get<3>(key) < 0 &&
                    same(std::get<0>(key), std::get<1>(key), std::get<2>(key)))
                    to->emplace(key, extent);
        for (const auto& [key, extent] : before.m_percentiles)
            if (std::get<2>(key) >= 0 && sameLayer(std::get<0>(key), std::get<2>(key)))
                m_percentiles.emplace(key, extent);
    }

private:
    template <class Key>
    std::optional<Extent> found(const std::map<Key, Extent>& known, const Key& key) const {
        const std::scoped_lock lock(m_mutex);
        const auto at = known.find(key);
        return at == known.end() ? std::nullopt : std::optional(at->second);
    }
    template <class Key>
    Extent set(std::map<Key, Extent>& known, const Key& key, const Extent& extent) {
        const std::scoped_lock lock(m_mutex);
        return known.insert_or_assign(key, extent).first->second;
    }

    mutable std::mutex m_mutex;
    std::map<ExtentKey, Extent> m_extents, m_estimates;
    std::map<PercentileKey, Extent> m_percentiles;
};

}  // namespace relascope::widgets
