// Answering a source sequence token by token.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <stop_token>

#include "model/model.h"
#include "types/model_options.h"

namespace relascope {

torch::Tensor decodeGreedy(ModelImpl& model, const ModelOptions& options,
                           const torch::Tensor& source, std::int64_t startToken,
                           std::int64_t length, std::int64_t endToken = -1,
                           std::stop_token stop = {});

}  // namespace relascope
