// SPDX-License-Identifier: GPL-3.0-or-later
// Attention in blocks of query rows: memory grows with rows x n instead of n x n, as the backward
// pass recomputes each block (performance.md 1.3b).
#pragma once

#include <torch/types.h>

#include <functional>
#include <vector>

namespace relascope::core {

/// An input tensor, and the part of it that a block of rows reads.
struct ChunkInput {
    enum class Part {
        Rows,     ///< the block's rows along `dim`
        Columns,  ///< the keys of the rows along `dim`: all, or up to the last row if causal
        Whole
    };
    torch::Tensor tensor;
    Part part = Part::Whole;
    std::int64_t dim = 0;
};

/// Computes the outputs of a block, rows along dimension 2, from its parts; `first` is its first
/// row. Must return the same when called again with the same parts.
using BlockFunction = std::function<std::vector<torch::Tensor>(const std::vector<torch::Tensor>&,
                                                               std::int64_t first)>;

/// The outputs of all blocks, concatenated along dimension 2; differentiable with respect to every
/// input.
std::vector<torch::Tensor> attendInChunks(std::int64_t rows, std::int64_t blockRows, bool causal,
                                          const std::vector<ChunkInput>& inputs,
                                          const BlockFunction& attend);

/// f(x), keeping only x: the backward pass recomputes f with the same dropout and adds to the
/// gradients of its parameters (activation checkpointing, Chen et al. 2016).
torch::Tensor activationCheckpoint(const std::function<torch::Tensor(const torch::Tensor&)>& f,
                                   const torch::Tensor& x);

}  // namespace relascope::core
