// Continuing a sequence with a language model.
#pragma once

#include <torch/types.h>

#include "model/model.h"
#include "types/model_options.h"

namespace relascope {

/// Rows of the vocabulary that stand for tokens: published vocabularies of 50304 rows have 50257;
/// the rest is padding, never sampled.
std::int64_t usableVocabulary(const ModelOptions& options);

/// prompt [b, n] int64 followed by `count` tokens, each the likeliest; once longer than the
/// context, the model sees the last max_block_size tokens.
torch::Tensor generateGreedy(ModelImpl& model, const ModelOptions& options, torch::Tensor prompt,
                             std::int64_t count);

}  // namespace relascope
