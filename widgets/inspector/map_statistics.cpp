// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "probe/head_places.h"
#include "widgets/inspector/map_statistics.h"

namespace relascope::widgets {

std::optional<BackgroundWork::Job> BackgroundWork::next() const {
    for (const Next& lane : m_lanes)
        if (lane)
            if (auto job = lane()) return job;
    return std::nullopt;
}

void BackgroundWork::wake() {
    if (m_running) return;
    if (immediate()) {
        m_running = true;  // what is done may ask for more
        while (const auto job = next()) {
            job->work();
            job->done();
        }
        m_running = false;
        return;
    }
    auto job = next();
    if (!job) return;
    m_running = true;
    m_executor(
        this,
        [work = std::move(job->work)] {
            try {
                work();
            } catch (const std::exception&) {
                // Out of memory: the picture stays empty, and the next work has its turn.
            }
        },
        [this, done = std::move(job->done)] {
            m_running = false;
            done();
            wake();
        });
}

namespace {

constexpr int tellEvery = 200;  ///< ms: sorting all maps anew for each piece would be wasted

}  // namespace

MapStatistics::MapStatistics(BackgroundWork& work, QObject* parent)
    : QObject(parent), m_work(work) {
    m_work.setLane(BackgroundWork::MapStatistics, [this] { return next(); });
}

struct MapStatistics::Places {
    const core::HeadPlaces* of(const ViewMaps& maps) {
        std::call_once(once, [&] {
            if (maps.result()) places.emplace(*maps.result());
        });
        return places ? &*places : nullptr;
    }
    std::once_flag once;
    std::optional<core::HeadPlaces> places;
};

void MapStatistics::setMaps(const ViewMaps& maps) {
    if (maps.shared() == m_maps.shared()) return;
    ++m_generation;
    for (auto at = m_known.begin(); at != m_known.end();) {
        auto& [id, known] = *at;
        const RelationMap* before = m_maps.find(id.kind, id.layer, id.index);
        const RelationMap* now = maps.find(id.kind, id.layer, id.index);
        if (!before || !now || before->rows != now->rows || before->columns != now->columns) {
            at = m_known.erase(at);
            continue;
        }
        if (before->source && before->source == now->source && known.generation + 1 == m_generation)
            known.generation = m_generation;
        ++at;
    }
    m_maps = maps;
    m_places = std::make_shared<Places>();
    m_requested.clear();
}

void MapStatistics::request(std::vector<MapId> maps) {
    std::erase_if(maps, [this](const MapId& id) { return known(id); });
    const auto age = [this](const MapId& id) {
        const auto at = m_known.find(id);
        return at == m_known.end() ? -1 : at->second.generation;
    };
    std::stable_sort(maps.begin(), maps.end(),
                     [&](const MapId& a, const MapId& b) { return age(a) < age(b); });
    std::reverse(maps.begin(), maps.end());
    m_requested = std::move(maps);
    if (!m_told.isValid()) m_told.start();  // else requests in quick succession would tell nothing
    m_work.wake();
}

MapMeasures MapStatistics::of(const MapId& map) const {
    const auto at = m_known.find(map);
    return at == m_known.end() ? MapMeasures() : at->second.measures;
}

bool MapStatistics::known(const MapId& map) const {
    const auto at = m_known.find(map);
    return at != m_known.end() && at->second.generation == m_generation;
}

std::optional<BackgroundWork::Job> MapStatistics::next() {
    if (m_requested.empty()) return std::nullopt;
    constexpr std::size_t most = 16;
    auto some = std::make_shared<std::vector<std::pair<MapId, MapMeasures>>>();
    for (std::size_t k = 0; k < std::min(most, m_requested.size()); ++k)
        some->emplace_back(m_requested[m_requested.size() - 1 - k], MapMeasures());
    return BackgroundWork::Job{
        [some, maps = m_maps, places = m_places] {
            using Clock = std::chrono::steady_clock;
            const auto end = Clock::now() + std::chrono::duration<double, std::milli>(kPieceOfWork);
            std::size_t done = 0;
            for (auto& [id, measures] : *some) {
                ++done;
                if (const RelationMap* map = maps.find(id.kind, id.layer, id.index))
                    measures = measuresOf(*map, places ? places->of(maps) : nullptr);
                if (Clock::now() > end) break;
            }
            some->resize(done);
        },
        [this, some, generation = m_generation] {
            if (generation != m_generation) return;
            for (const auto& [id, measures] : *some) {
                m_known[id] = {measures, m_generation};
                if (!m_requested.empty() && m_requested.back() == id)
                    m_requested.pop_back();
                else  // requested anew in another order
                    std::erase(m_requested, id);
            }
            if (!complete() && m_told.elapsed() < tellEvery) return;
            m_told.start();
            Q_EMIT changed();
        }};
}

}  // namespace relascope::widgets
