// SPDX-License-Identifier: GPL-3.0-or-later
// Display names of the attention modules of a model: "encoder 2", "decoder 1 cross". Does not
// include torch.
#pragma once

#include <string>
#include <vector>

#include "model/architecture.h"
#include "types/relation_map.h"

namespace relascope::core {

/// The index into `places` that a module belongs to, -1 for none.
int layerOfModule(const std::vector<LayerPlace>& places, const std::string& module);

/// Whether a module of that layer mixes relations, or symbols weighted by relations, rather than
/// features.
bool isRelational(const std::string& module, const LayerPlace& place);

/// The index into `places` of symbol retrieval number `retrieval` (as recorded by `module`).
int layerOfSymbols(const std::vector<LayerPlace>& places, const ModelOptions& options,
                   const std::string& module, int retrieval);

/// The objects along the maps of a sample: patches, tokens, source and target, selections.
std::vector<ProbeSide> probeSides(const ModelOptions& options, const ProbeSample& sample);

}  // namespace relascope::core
