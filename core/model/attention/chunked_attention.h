// SPDX-License-Identifier: GPL-3.0-or-later
// Attention in blocks of query rows: memory grows with rows x n instead of n x n, for the backward
// pass computes each block again (performance.md 1.3b).
#pragma once

#include <torch/types.h>

#include <functional>
#include <vector>

namespace relascope::core {

/// A tensor that a block of rows reads a part of.
struct ChunkInput {
    enum class Part {
        Rows,     ///< the block's rows along `dim`
        Columns,  ///< what the rows may see along `dim`: all, or up to the last row when causal
        Whole
    };
    torch::Tensor tensor;
    Part part = Part::Whole;
    std::int64_t dim = 0;
};

/// From the parts of a block whose first row is `first` to its outputs, rows along dimension 2.
/// Must give the same when called again with the same parts.
using BlockFunction = std::function<std::vector<torch::Tensor>(const std::vector<torch::Tensor>&,
                                                               std::int64_t first)>;

/// The outputs of all rows, cat along dimension 2 of those of the blocks; differentiable in every
/// input.
std::vector<torch::Tensor> attendInChunks(std::int64_t rows, std::int64_t blockRows, bool causal,
                                          const std::vector<ChunkInput>& inputs,
                                          const BlockFunction& attend);

/// f(x), of which only x is kept: the backward pass computes f again, with the same dropout, and
/// adds to the gradients of f's parameters (activation checkpointing, Chen et al. 2016).
torch::Tensor activationCheckpoint(const std::function<torch::Tensor(const torch::Tensor&)>& f,
                                   const torch::Tensor& x);

}  // namespace relascope::core
