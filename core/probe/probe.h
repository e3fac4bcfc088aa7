// Looking inside a model: one input, every map of every layer, from the forward pass training uses.
#pragma once

#include <string>
#include <vector>

#include "model/factory.h"
#include "types/relation_map.h"

namespace relascope {

/// Runs the model on one image (in evaluation mode, without gradients; its mode is restored) and
/// gives scores, relations and symbol retrieval of every layer, copied to the CPU. Throws
/// OptionError when the image does not fit the model.
ProbeResult probeModel(ModelImpl& model, const ModelOptions& options,
                       const ProbeSample& sample, std::int64_t step,
                       const std::vector<std::string>& classNames);

}  // namespace relascope
