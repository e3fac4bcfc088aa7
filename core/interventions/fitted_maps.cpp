// SPDX-License-Identifier: GPL-3.0-or-later
#include "interventions/fitted_maps.h"

#include <torch/utils.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "interventions/editor.h"
#include "model/architecture.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::string_view kBeforeBlock = ".hook_resid_pre";

/// The layer of a stream: that after which it is, or the first; -1: the model has none there.
/// "blocks.2.hook_resid_pre" is before "layer 3".
int layerOfStream(const std::vector<LayerPlace>& places, const std::string& point) {
    const auto block = point.substr(0, point.rfind('.'));
    const auto dot = block.rfind('.');
    std::size_t number = 0;
    if (dot == std::string::npos ||
        std::from_chars(block.data() + dot + 1, block.data() + block.size(), number).ec !=
            std::errc())
        return -1;
    const auto stack = block.substr(0, dot);
    const auto name =
        (stack == "blocks" ? std::string("layer") : stack) + " " + std::to_string(number + 1);
    const auto found = std::find_if(places.begin(), places.end(), [&](const LayerPlace& place) {
        return place.layer.name == name || place.layer.name.starts_with(name + " ");
    });
    if (found == places.end()) return -1;
    const auto layer = static_cast<int>(found - places.begin());
    const bool before = point.ends_with(kBeforeBlock);
    return before && layer > 0 && (found - 1)->layer.rows == found->layer.rows ? layer - 1 : layer;
}

}  // namespace

FittedMaps::FittedMaps(const EditList& list) {
    for (const auto& file : list.relations()) {
        try {
            const auto read = readRelation(file);
            m_relations.push_back({file, read.point, streamRelationOf(read), read.firstTokens, {}});
        } catch (const Error&) {
            // Of an edit that is in force check_edits.h has said it.
        }
    }
}

bool FittedMaps::takes(std::string_view prefix) const {
    return std::any_of(m_relations.begin(), m_relations.end(), [&](const Relation& one) {
        return std::string_view(one.point).starts_with(prefix);
    });
}

torch::Tensor FittedMaps::at(const HookPoint& point, const torch::Tensor& value) {
    for (auto& one : m_relations) {
        const auto& mean = one.relation.mean;
        if (point.name != one.point || value.dim() != 3 || value.size(2) != mean.size(1)) continue;
        const auto n = value.size(1);
        const auto end = mean.size(0) == 1 ? n : one.firstTokens + mean.size(0);
        if (one.firstTokens >= end || end > n) continue;
        const auto places = value[0].slice(0, one.firstTokens, end).detach().to(torch::kCPU);
        one.map = torch::full({n, n}, std::numeric_limits<float>::quiet_NaN());
        one.map.slice(0, one.firstTokens, end)
            .slice(1, one.firstTokens, end)
            .copy_(one.relation.map(places));
    }
    return value;
}

bool FittedMaps::plan(const HookPoint&, const torch::Tensor&, PointPlan& steps) {
    PointStep read;
    read.reader = this;
    steps.push_back(std::move(read));
    return true;
}

void FittedMaps::addTo(ProbeResult& result, const ModelOptions& options) const {
    const auto places = options.info().layers(options);
    for (const auto& one : m_relations) {
        const int layer = one.map.defined() ? layerOfStream(places, one.point) : -1;
        if (layer < 0) continue;
        RelationMap map;
        map.layer = layer, map.index = result.count(MapKind::Relation, layer);
        map.rows = map.columns = static_cast<int>(one.map.size(0));
        const auto* first = one.map.const_data_ptr<float>();
        map.values.assign(first, first + one.map.numel());
        map.fitted = one.file;
        const auto behind =
            std::find_if(result.maps.begin(), result.maps.end(), [&](const auto& m) {
                return m.kind > map.kind || (m.kind == map.kind && m.layer > layer);
            });
        result.maps.insert(behind, std::move(map));
    }
}

ProbeResult withFittedMaps(const EditList& list, const ModelOptions& options,
                           const std::function<ProbeResult()>& probe) {
    FittedMaps fitted(list);
    if (fitted.empty()) return probe();
    const InterventionScope scope(&fitted);
    auto result = probe();
    fitted.addTo(result, options);
    return result;
}

}  // namespace relascope::core
