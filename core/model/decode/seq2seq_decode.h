// SPDX-License-Identifier: GPL-3.0-or-later
// Answering a source sequence token by token.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <stop_token>

#include "model/model.h"
#include "types/model_options.h"

namespace relascope::core {

/// Whether the decoder may keep what earlier tokens of an answer computed: it is causal, and
/// neither its relations nor its symbols depend on tokens that come later or on neighbours.
bool canCacheAnswers(const ModelOptions& options);

/// The likeliest token after each other: source [b, n] or [b, n, dim] -> answers [b, length] int64
/// on the CPU, `startToken` read first. With `endToken` >= 0 an answer is filled up with it from
/// its first one on, and decoding ends when every answer has. The source is encoded once and each
/// token costs one row where canCacheAnswers(). The model answers as in evaluation, whatever its
/// mode. Throws OptionError for what the model cannot read, and Cancelled.
torch::Tensor decodeGreedy(ModelImpl& model, const ModelOptions& options,
                           const torch::Tensor& source, std::int64_t startToken,
                           std::int64_t length, std::int64_t endToken = -1,
                           std::stop_token stop = {});

}  // namespace relascope::core
