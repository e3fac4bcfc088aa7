// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/measures.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace relascope::widgets {
namespace {

constexpr int tellEvery = 200;  ///< ms: sorting all maps anew for each piece would be wasted

}  // namespace

Measures::Measures(BackgroundWork& work, QObject* parent) : QObject(parent), m_work(work) {
    m_work.setLane(BackgroundWork::Measures, [this] { return next(); });
}

void Measures::setMaps(const ViewMaps& maps) {
    if (maps.shared() == m_maps.shared()) return;
    std::erase_if(m_known, [&](const auto& known) {
        const MapId& id = known.first;
        const RelationMap* before = m_maps.find(id.kind, id.layer, id.index);
        const RelationMap* now = maps.find(id.kind, id.layer, id.index);
        return !before || !now || !before->source || before->source != now->source;
    });
    m_maps = maps;
    m_requested.clear();
    ++m_generation;
}

void Measures::request(std::vector<MapId> maps) {
    std::erase_if(maps, [this](const MapId& id) { return known(id); });
    std::reverse(maps.begin(), maps.end());
    m_requested = std::move(maps);
    m_told.start();
    m_work.wake();
}

MapMeasures Measures::of(const MapId& map) const {
    const auto at = m_known.find(map);
    return at == m_known.end() ? MapMeasures() : at->second;
}

std::optional<BackgroundWork::Job> Measures::next() {
    if (m_requested.empty()) return std::nullopt;
    constexpr std::size_t most = 16;
    auto some = std::make_shared<std::vector<std::pair<MapId, MapMeasures>>>();
    for (std::size_t k = 0; k < std::min(most, m_requested.size()); ++k)
        some->emplace_back(m_requested[m_requested.size() - 1 - k], MapMeasures());
    return BackgroundWork::Job{
        [some, maps = m_maps] {
            using Clock = std::chrono::steady_clock;
            const auto end = Clock::now() + std::chrono::duration<double, std::milli>(kPieceOfWork);
            std::size_t done = 0;
            for (auto& [id, measures] : *some) {
                ++done;
                if (const RelationMap* map = maps.find(id.kind, id.layer, id.index))
                    measures = measuresOf(*map);
                if (Clock::now() > end) break;
            }
            some->resize(done);
        },
        [this, some, generation = m_generation] {
            if (generation != m_generation) return;
            for (const auto& [id, measures] : *some) {
                m_known[id] = measures;
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
