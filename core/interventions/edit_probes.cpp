// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <string_view>
#include <tuple>

#include "interventions/edit_probes.h"
#include "interventions/fitted_maps.h"
#include "probe/probe.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;  // for all streams
constexpr std::string_view kStreamEnd = ".hook_resid_post";

/// Blocks that did not run again have the maps of the pass without edits.
void addMissingMaps(ProbeResult& result, const std::vector<RelationMap>& all) {
    const auto place = [](const RelationMap& map) {
        return std::tuple(map.kind, map.layer, map.index);
    };
    const auto before = [&](const RelationMap& a, const RelationMap& b) {
        return place(a) < place(b);
    };
    std::vector<RelationMap> missing;
    for (const auto& map : all)
        if (!std::binary_search(result.maps.begin(), result.maps.end(), map, before))
            missing.push_back(map);
    result.maps.insert(result.maps.end(), missing.begin(), missing.end());
    std::stable_sort(result.maps.begin(), result.maps.end(), before);
}

}  // namespace

bool EditProbes::keepsStreams(const ModelInput& input) {
    // The points of a text's first token suffice, which are found long before its maps.
    const bool cut = m_options.input() == InputKind::Tokens && !input.target.defined();
    if (m_streamNames.empty()) {
        auto first = input;
        if (cut) first.x = input.x.slice(1, 0, 1);
        for (const auto& point : pointsOf(m_model, first)) {
            if (!point.name.ends_with(kStreamEnd)) continue;
            m_streamNames.push_back(point.name);
            std::int64_t size = 4;
            for (const auto n : point.shape) size *= n;
            m_streamBytes += size;
        }
    }
    return !m_streamNames.empty() && m_streamBytes * (cut ? input.x.size(1) : 1) <= kMostBytes;
}

ProbeResult EditProbes::plain(const EditList& list, const ProbeSample& sample, std::int64_t step,
                              const std::vector<std::string>& classNames, const ProbeWatch& watch) {
    const auto probe = [&] {
        return withFittedMaps(list, m_options, [&] {
            return probeModel(m_model, m_options, sample, step, classNames, watch);
        });
    };
    m_streams.clear();
    m_maps.clear();
    const auto device = m_model.device();
    if (!keepsStreams(inputOf(sample, m_options).to(device))) return probe();
    PointReader reader(m_streamNames);
    const HookScope scope(&reader);
    auto result = probe();
    m_sample = sample;
    m_maps = result.maps;
    for (auto& [name, tensor] : reader.take())
        m_streams.emplace(name.substr(0, name.size() - kStreamEnd.size()), tensor);
    return result;
}

ActiveEdits& EditProbes::sessionOf(const Interventions& interventions) {
    const auto& [edits, data] = interventions;
    if (m_session && m_session->list() == edits) {
        m_session->setData(data);
        return *m_session;
    }
    auto fresh = std::make_unique<ActiveEdits>(m_model, m_options, edits, data);
    if (m_session) fresh->continueFrom(*m_session);
    m_session = std::move(fresh);
    return *m_session;
}

ProbeResult EditProbes::edited(const Interventions& interventions, const ProbeSample& sample,
                               std::int64_t step, const std::vector<std::string>& classNames,
                               const ProbeWatch& watch, bool below) {
    ActiveEdits& session = sessionOf(interventions);
    session.prepare(inputOf(sample, m_options));
    const bool known = !below && !m_streams.empty() && m_sample == sample;
    session.editor().keepStreams(known ? m_streams : std::map<std::string, torch::Tensor>(),
                                 session.points());
    const InterventionScope scope(&session.editor());
    auto result = withFittedMaps(interventions.edits, m_options, [&] {
        return probeModel(m_model, m_options, sample, step, classNames, watch);
    });
    if (known) addMissingMaps(result, m_maps);
    return result;
}

}  // namespace relascope::core
