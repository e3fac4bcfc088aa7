// SPDX-License-Identifier: GPL-3.0-or-later
// Attention on the CPU by kernels of our own: all heads of a tile of query rows at a time, where
// the scores stay in the cache; the backward pass recomputes them.
#pragma once

#include <string>

#include "model/attention/documents.h"
#include "model/attention/kernel_options.h"
#include "model/attention/tile_kernels.h"

namespace relascope::core {

/// Longest sequences that `tiledAttention` is used for.
inline constexpr std::int64_t kMostTiledTokens = 1024;
/// Longest ones whatever the batch. Threads share the batch, and longer sequences of a small batch
/// are faster in a form whose threads share the rows.
inline constexpr std::int64_t kShortTiledTokens = 256;

/// Whether tiles are expected to be the fastest form for 2 to kMostTiledTokens tokens on the CPU.
bool prefersTiles(std::int64_t tokens, std::int64_t batch);
/// The activations of relations that `tiledAttention` has: all but softmax.
bool hasTiledActivation(const std::string& activation);
/// Whether `tiledAttention` takes q [b, h, n, key_dim] and k [b, g, m, key_dim]: float32 on the
/// CPU; causal masks need n == m.
bool servesTiles(const torch::Tensor& q, const torch::Tensor& k, bool causal);

/// The heads' outputs, joined: [b, n, h d_h]. v [b, g, m, d_h]; or, if `maxOffset` >= 0, the
/// library [g, 2 maxOffset + 1, d_h] of relative symbols (mixSymbols in relational_attention.h).
/// `documents` of causal heads must close no row.
torch::Tensor tiledAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                             std::int64_t maxOffset, const KernelRelations& relations,
                             const KernelOptions& options, const Documents& documents = {});

/// Sets the widest vectors that the kernels use, in its scope and for all threads. For tests.
class VectorLevelScope {
public:
    explicit VectorLevelScope(VectorLevel level);
    ~VectorLevelScope();
    VectorLevelScope(const VectorLevelScope&) = delete;
    VectorLevelScope& operator=(const VectorLevelScope&) = delete;

private:
    VectorLevel m_previous;
};

}  // namespace relascope::core
