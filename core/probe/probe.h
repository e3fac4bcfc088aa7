// SPDX-License-Identifier: GPL-3.0-or-later
// Probing a model: one forward pass that records all maps.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "probe/probe_watch.h"
#include "types/relation_map.h"

namespace relascope::core {

/// A batch of one sample. Throws OptionError if the sample does not fit the model.
ModelInput inputOf(const ProbeSample& sample, const ModelOptions& options);

/// Runs the model on one sample (in evaluation mode, without gradients; its mode is restored) and
/// gives scores, relations and symbol retrieval of every layer, on the CPU: as maps or as factors
/// of maps, whichever are smaller. Throws OptionError when the sample does not fit the model or its
/// factors do not fit into the memory, Cancelled.
ProbeResult probeModel(ModelImpl& model, const ModelOptions& options, const ProbeSample& sample,
                       std::int64_t step, const std::vector<std::string>& classNames,
                       const ProbeWatch& watch = {});

/// A random input of the right shape: uniform tokens, objects and vectors from N(0, 1), uniform
/// pixels. Deterministic for a seed.
ProbeSample randomSample(const ModelOptions& options, std::uint64_t seed);

}  // namespace relascope::core
