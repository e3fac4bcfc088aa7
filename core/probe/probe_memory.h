// SPDX-License-Identifier: GPL-3.0-or-later
// The memory that a probe needs.
#pragma once

#include <cstdint>

#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope::core {

/// Bytes that the result of a probe of `tokens` tokens takes: the maps of each kind in each layer,
/// or their factors if these are smaller, in float32.
std::uint64_t mapBytes(const ModelOptions& model, std::int64_t tokens);

/// Peak bytes of a probe of `tokens` tokens, without weights: its result, and the forward pass of
/// one layer.
std::uint64_t probeBytes(const ModelOptions& model, std::int64_t tokens);

/// The largest number of tokens for which a probe fits into `bytes`, at least 1 and at most the
/// context of the model.
std::int64_t longestProbe(const ModelOptions& model, std::uint64_t bytes);
/// The largest number of tokens for which the result of a probe alone fits into `bytes`, as
/// captures store it.
std::int64_t longestResult(const ModelOptions& model, std::uint64_t bytes);

/// The memory that a probe may use now: four fifths of the free memory; unlimited if that is
/// unknown.
std::uint64_t probeBudget();
/// The first tokens of a sample; an image stays as it is.
void shorten(ProbeSample& sample, std::int64_t longest);

/// Throws OptionError with both figures and the length that fits, if a probe of that many tokens
/// does not fit into the free memory.
void requireProbeMemory(const ModelOptions& model, std::int64_t tokens);

}  // namespace relascope::core
