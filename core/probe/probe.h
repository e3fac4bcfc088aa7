// SPDX-License-Identifier: GPL-3.0-or-later
// Looking inside a model: one forward pass, every map.
#pragma once

#include <string>
#include <vector>

#include "model/factory.h"
#include "types/relation_map.h"

namespace relascope::core {

/// A batch of one from what the screens hold. Throws OptionError when it does not fit the model.
ModelInput inputOf(const ProbeSample& sample, const ModelOptions& options);

/// Runs the model on one sample (in evaluation mode, without gradients; its mode is restored) and
/// gives scores, relations and symbol retrieval of every layer, copied to the CPU. Throws
/// OptionError when the sample does not fit the model.
ProbeResult probeModel(ModelImpl& model, const ModelOptions& options, const ProbeSample& sample,
                       std::int64_t step, const std::vector<std::string>& classNames);

/// A made-up input that fits the model: tokens drawn evenly, objects and vectors from N(0, 1),
/// pixels evenly. The same for the same seed.
ProbeSample randomSample(const ModelOptions& options, std::uint64_t seed);

}  // namespace relascope::core
