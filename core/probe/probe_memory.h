// SPDX-License-Identifier: GPL-3.0-or-later
// How much memory a look inside a model takes, before it is taken.
#pragma once

#include <cstdint>

#include "types/model_options.h"

namespace relascope::core {

/// Bytes of a probe of `tokens` tokens at its highest, weights not counted: every map of every
/// layer in float32, and what one layer's forward pass takes.
std::uint64_t probeBytes(const ModelOptions& model, std::int64_t tokens);

/// The most tokens whose probe fits into `bytes`, at least 1 and at most the model's context.
std::int64_t longestProbe(const ModelOptions& model, std::uint64_t bytes);

/// What a probe may take now: four fifths of the memory that is free; no bound where the system
/// does not say.
std::uint64_t probeBudget();

/// Throws OptionError with both figures, and the length that fits, when a probe of that many tokens
/// does not fit into the memory that is free.
void requireProbeMemory(const ModelOptions& model, std::int64_t tokens);

}  // namespace relascope::core
