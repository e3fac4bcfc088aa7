// SPDX-License-Identifier: GPL-3.0-or-later
// Work of the inspector that takes longer than a frame: the most urgent first, one piece at a time.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <QElapsedTimer>
#include <QObject>

#include "widgets/inspector/view_maps.h"
#include "widgets/maps/map_values.h"

namespace relascope::widgets {

/// Runs `work` on another thread, then `done` on the thread of `context`, if that still lives.
/// Widgets start no thread: the application sets it.
using Background =
    std::function<void(QObject* context, std::function<void()> work, std::function<void()> done)>;

class BackgroundWork : public QObject {
    Q_OBJECT
public:
    /// From the most urgent to the least.
    enum Lane { Map, Thumbnails, Extents, MapStatistics, Lanes };
    struct Job {
        std::function<void()> work;  ///< touches no widget
        std::function<void()> done;
    };
    /// Gives the next job of a lane; it is asked when the job before is done, so what is no longer
    /// wanted is never begun.
    using Next = std::function<std::optional<Job>()>;

    using QObject::QObject;

    /// Without one, all work is done at once, on the thread of the caller.
    void setExecutor(Background executor) { m_executor = std::move(executor); }
    bool immediate() const { return !m_executor; }
    void setLane(Lane lane, Next next) { m_lanes[lane] = std::move(next); }
    /// Starts the next job, if none runs.
    void wake();
    bool busy() const { return m_running; }

private:
    std::optional<Job> next() const;

    Background m_executor;
    std::array<Next, Lanes> m_lanes;
    bool m_running = false;
};

/// ms that a piece of work may take on the thread of the window.
inline constexpr double kSmallWork = 3.0;
/// ms of one piece of work of a lane that is not urgent: the urgent one waits for it.
inline constexpr double kPieceOfWork = 10.0;

// The measures of all maps of a result, computed in the background.

class MapStatistics : public QObject {
    Q_OBJECT
public:
    explicit MapStatistics(BackgroundWork& work, QObject* parent = nullptr);

    /// What is known of maps that the new result has, too, is kept. Of other maps of the same
    /// shape the measures of the last result are given until the new ones are known: while a model
    /// trains, results may come faster than all of their maps are measured.
    void setMaps(const ViewMaps& maps);
    /// Starts to compute the measures of these maps, in this order, but those first that are
    /// missing or older; replaces what was requested before.
    void request(std::vector<MapId> maps);
    /// NaN while there are none.
    MapMeasures of(const MapId& map) const;
    /// Whether they are of the current result.
    bool known(const MapId& map) const;
    bool complete() const { return m_requested.empty(); }

Q_SIGNALS:
    void changed();  ///< more are known: some times a second, and at the end

private:
    std::optional<BackgroundWork::Job> next();

    BackgroundWork& m_work;
    ViewMaps m_maps;
    /// What the input of these maps says of places; made by the first job, as a long text takes a
    /// while.
    struct Places;
    std::shared_ptr<Places> m_places;
    struct Known {
        MapMeasures measures;
        int generation = 0;  ///< m_generation of the result that they are of
    };
    std::map<MapId, Known> m_known;
    std::vector<MapId> m_requested;  ///< from the last to the first
    int m_generation = 0;
    QElapsedTimer m_told;
};

// What is known of the values of a result's maps, so that a change of layer does not read the whole
// model again. May be used by several threads at once.

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
