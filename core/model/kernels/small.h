// SPDX-License-Identifier: GPL-3.0-or-later
// Attention for few tokens, float32 (float64 too on the CPU's stand-in): everything that belongs to
// a batch element stays in one block's shared memory, and the sensory and relational heads of a
// layer share one launch. The same bits at every call, and the masks of the FFMA kernels.
#pragma once

#include <cstddef>

#include "model/kernels/rel_args.h"

namespace relascope::core::kernels {

/// The heads of one kind. They compute
///   out_i^a = sum_j A_ij^a s_j + W_r^a sum_j A_ij^a r_ij,
/// which with relations = 0 is plain attention with values s.
struct SmallPart {
    /// `related`, `lse`, `dRelated` and `delta` are not used, and `out` is not read by the backward
    /// pass: it computes the weights and relations again.
    RelArgs rel;
    View wr;   ///< W_r [heads, valueDim, relations]: token counts valueDim, batch is 0
    View dwr;  ///< gradients of wr for every batch element: the caller adds these up
    /// q_rel is k_rel as well (queries = keys): only qRel is read, and dqRel is the sum of both
    /// gradients.
    bool symmetric = false;
    /// With several groups of heads (SmallPlan) each writes its own part of the relations'
    /// gradients, so many elements after those of the group before; the caller adds these up.
    std::int64_t dqRelGroup = 0, dkRelGroup = 0;
};

/// One launch: the sensory and the relational heads of a layer, or one kind of them.
struct SmallArgs {
    SmallPart parts[2];
    int count = 1;                ///< parts; they have the same type and batch
    std::size_t sharedLimit = 0;  ///< bytes of shared memory that the device gives to a block
};

/// How a part is divided: among how many blocks for each batch element, each with some of the heads
/// and of all relations; one if their data fits a block. The backward pass has more to keep.
struct SmallPlan {
    int forwardGroups = 0, backwardGroups = 0;  ///< 0: not served
    std::size_t forwardBytes = 0, backwardBytes = 0;
    bool serves() const { return forwardGroups > 0 && backwardGroups > 0; }
};
SmallPlan smallPlan(const SmallPart& part, std::size_t sharedLimit);

// Both return a cudaError_t as the launches of rel_ffma.h do: cudaErrorInvalidValue also for calls
// that smallPlan does not serve.
extern "C" {
/// Writes out.
int launchSmallForward(const SmallArgs* args, void* stream);
/// Reads dOut and writes dq, dk, ds, dqRel, dkRel and dwr.
int launchSmallBackward(const SmallArgs* args, void* stream);
}

}  // namespace relascope::core::kernels
