// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the tensor-core kernels of relational attention on a problem, from and to tensors in double
// precision.
#pragma once

#include "kernels/reference.h"
#include "kernels/run_rel.h"

namespace relascope::core::kernels {

constexpr int kBestTiling = -1;

/// Both types are one kernel, and fp16 shows more: it runs every problem in every order, bf16 some.
inline std::vector<DataType> typesFor(const Problem& p) {
    if (p.activation != "identity" || p.first > 0) return {DataType::Float16};
    return {DataType::Float16, DataType::BFloat16};
}

/// The sizes of the model with 343 million parameters, one sequence.
inline Problem middle(const std::string& name, int queries, int keys) {
    Problem p;
    p.name = name;
    p.batch = 1, p.queries = queries, p.keys = keys;
    p.heads = 8, p.keyHeads = 4, p.keyDim = p.valueDim = 64, p.relations = 64, p.relDim = 8;
    return p;
}
/// And with 1.27 billion: two groups of heads.
inline Problem large(const std::string& name, int queries, int keys) {
    auto p = middle(name, queries, keys);
    p.heads = 16, p.keyHeads = 8, p.relations = 128;
    return p;
}

/// The numbers that a 16-bit type has for them.
Inputs rounded(Inputs in, DataType type);
Tensor4 rounded(Tensor4 tensor, DataType type);
/// By that tiling of relTensorTilings, or the one that is chosen. Throws std::runtime_error when
/// the launch fails or something was written between the rows of a tensor.
Outputs runRelTensor(const Problem& problem, const Inputs& in, DataType type, int tiling,
                     HostOrder order);

/// The gradients with those results of the forward pass, by that tiling of relTensorRowsTilings and
/// of relTensorColumnsTilings, or by launchRelTensorBackward.
Inputs runRelTensorBackward(const Problem& problem, const Inputs& in, const Outputs& forward,
                            const Tensor4& dOut, const Tensor4& dRelated, DataType type, int tiling,
                            HostOrder order);

bool sameBits(const Tensor4& x, const Tensor4& y);
bool sameBits(const Outputs& x, const Outputs& y);
bool sameBits(const Inputs& x, const Inputs& y);
/// The largest difference, relative to the largest number expected. NaN where a result was not
/// written.
double relativeDifference(const Tensor4& x, const Tensor4& expected);

}  // namespace relascope::core::kernels
