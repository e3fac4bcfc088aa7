// SPDX-License-Identifier: GPL-3.0-or-later
// Greedy decoding of sequence-to-sequence models.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <stop_token>

#include "model/model.h"
#include "types/model_options.h"

namespace relascope::core {

/// Whether the decoder can use a cache: it is causal, and neither its relations nor its symbols
/// depend on later tokens or on neighbours.
bool canCacheAnswers(const ModelOptions& options);

/// Greedy decoding: source [b, n] or [b, n, dim] -> answers [b, length] int64 on the CPU, starting
/// with `startToken`. With `endToken` >= 0 an answer is filled with it after its first one, and
/// decoding ends when every answer has one. The source is encoded once, and each token costs one
/// row if canCacheAnswers(). The model is run in evaluation mode. Throws OptionError for invalid
/// inputs, and Cancelled.
torch::Tensor decodeGreedy(ModelImpl& model, const ModelOptions& options,
                           const torch::Tensor& source, std::int64_t startToken,
                           std::int64_t length, std::int64_t endToken = -1,
                           std::stop_token stop = {});

}  // namespace relascope::core
