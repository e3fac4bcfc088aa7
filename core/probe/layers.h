// Where a model's attention modules stand, for people: "encoder 2", "decoder 1 cross". No torch
// here.
#pragma once

#include <string>
#include <vector>

#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope {

/// A layer of the probe and the modules that belong to it: those whose registered path begins with
/// `module`, unless a longer prefix claims them.
struct LayerPlace {
    std::string module;
    ProbeLayer layer;
    bool causal = false;
};

/// Every layer of the model in the order they compute.
std::vector<LayerPlace> layerPlaces(const ModelOptions& options);

/// The index into `places` that a module belongs to, -1 for none.
int layerOfModule(const std::vector<LayerPlace>& places, const std::string& module);

/// The index into `places` of symbol retrieval number `layer` (as recorded by `module`).
int layerOfSymbols(const std::vector<LayerPlace>& places, const ModelOptions& options,
                   const std::string& module, int layer);

/// The objects along the maps of a sample: patches, tokens, source and target, selections.
std::vector<ProbeSide> probeSides(const ModelOptions& options, const ProbeSample& sample);

}  // namespace relascope
