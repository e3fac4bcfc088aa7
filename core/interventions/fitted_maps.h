// SPDX-License-Identifier: GPL-3.0-or-later
// Maps of fitted relations beside those of the model: of each relation that an edit names, whether
// it is taken out or not (interventions.md section 18).
#pragma once

#include <torch/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "interventions/projection.h"
#include "model/hooks/hooks.h"
#include "types/edit.h"
#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope::core {

/// Reads the streams that the relations are of, and makes their maps. A relation whose file cannot
/// be read, or that is of another width, has no map: what checks the edits says why.
class FittedMaps : public Hooks {
public:
    explicit FittedMaps(const EditList& list);

    bool empty() const { return m_relations.empty(); }
    bool takes(std::string_view prefix) const override;
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override;
    bool plan(const HookPoint& point, const torch::Tensor& like, PointPlan& steps) override;
    /// Adds the maps of the pass, each to the layer that its stream is of: that after which it is
    /// read, or the first.
    void addTo(ProbeResult& result, const ModelOptions& options) const;

private:
    struct Relation {
        std::string file, point;
        StreamRelation relation;
        std::int64_t firstTokens = 0;
        torch::Tensor map;  ///< [positions, positions]; not a number where there is no place
    };
    std::vector<Relation> m_relations;
};

/// The result of `probe` with the maps of the relations that the list names. Edits that are in
/// force around it are in force on the streams that are read.
ProbeResult withFittedMaps(const EditList& list, const ModelOptions& options,
                           const std::function<ProbeResult()>& probe);

}  // namespace relascope::core
