// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the kernels for few tokens on sensory and relational heads, from and to tensors in double
// precision; and what the reference says of them.
#pragma once

#include <optional>
#include <vector>

#include "kernels/run_rel.h"
#include "model/kernels/small.h"

namespace relascope::core::kernels {

/// The heads of one kind: a problem with W_r.
struct SmallHeads {
    Problem problem;
    bool symmetric = false;
    Inputs in;
    Tensor4 wr;  ///< [1, valueDim, heads, relations]
    Tensor4 dOut;
};
/// Random numbers for all tensors.
SmallHeads smallHeads(const Problem& problem, bool symmetric, std::uint64_t seed);

struct SmallResults {
    Tensor4 out;
    Inputs gradients;  ///< symmetric: qRel has both, kRel nothing
    Tensor4 dwr;       ///< [batch, valueDim, heads, relations]
};
SmallResults smallReference(const SmallHeads& heads);
/// sum(dOut out)
double smallLoss(const SmallHeads& heads);

/// Sizes and options without tensors.
SmallPart smallPartOf(const SmallHeads& heads, DataType type);
/// The least shared memory that serves all of the heads.
std::size_t leastSharedBytes(const std::vector<SmallHeads>& parts, DataType type);

/// Forward and backward of one launch each with one or two kinds of heads. `sharedLimit`: of the
/// device; the launch divides the heads so that they fit. Throws as runRel does.
std::vector<SmallResults> runSmall(const std::vector<SmallHeads>& parts, std::size_t sharedLimit,
                                   DataType type, HostOrder order);

}  // namespace relascope::core::kernels
