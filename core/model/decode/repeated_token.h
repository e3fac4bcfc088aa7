// SPDX-License-Identifier: GPL-3.0-or-later
// One more token through a language model with a cache, on a GPU: recorded once and repeated as a
// graph, since a token of a small batch is hundreds of kernels that take longer to give to the
// device than to compute.
#pragma once

#include <torch/types.h>

#include <memory>

#include "model/decode/cache.h"
#include "model/graph/device_graph.h"
#include "model/model.h"

namespace relascope::core {

class RepeatedToken {
public:
    /// The model is on `device`, in eval mode, and outlives this; so does the cache.
    RepeatedToken(ModelImpl& model, DecodingCache& cache, const torch::Device& device);

    /// Reads a token that follows those of the cache: the logits, [1, 1, vocabulary] on the device,
    /// valid until the next call. Where the device has no graphs, or the model's attention counts
    /// the cached tokens on the host (not by cuda_decoding.h), the model runs as usual.
    torch::Tensor read(std::int64_t token);

private:
    bool record();

    ModelImpl& m_model;
    DecodingCache& m_cache;
    std::unique_ptr<DeviceGraph> m_graph;
    torch::Tensor m_token, m_logits;
    int m_rehearsals = 0;
    bool m_recorded = false;
};

}  // namespace relascope::core
