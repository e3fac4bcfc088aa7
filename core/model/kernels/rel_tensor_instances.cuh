// SPDX-License-Identifier: GPL-3.0-or-later
// The tensor-core kernels that are compiled, one source file for each type: they take the longest.
#pragma once

#include <vector>

#include "model/kernels/rel_tensor.h"
#include "model/kernels/rel_tensor_forward.cuh"

namespace relascope::core::kernels {

/// A tiling with the sizes it is compiled for.
struct RelTensorInstance {
    int heads, keyHeads, relations, width, relWidth, threads;
    RelTensorTiling tiling;
    void (*forward)(RelArgs);
    void (*activatedForward)(RelArgs);  // with another activation than identity
};

std::vector<RelTensorInstance> bf16Instances();
std::vector<RelTensorInstance> fp16Instances();

template <class Format, int Groups, int Relations, int Queries, int Keys, int Stages>
RelTensorInstance relTensorInstance() {
    using S = TensorShape<Format, 8, 4, Relations, Queries, Keys, Stages>;
    return {Groups * S::kHeads,
            Groups * S::kKeyHeads,
            Relations,
            S::kWidth,
            S::kRelWidth,
            S::kThreads,
            {Queries, Keys, Stages, Groups, S::kSharedBytes},
            relTensorForward<S, true>,
            relTensorForward<S, false>};
}

/// For the published models of 343 million parameters and of 1.27 billion, the best first.
template <class Format>
std::vector<RelTensorInstance> relTensorInstances() {
    return {relTensorInstance<Format, 1, 64, 32, 16, 2>(),  // half the traffic of 16 queries
            relTensorInstance<Format, 1, 64, 16, 32, 2>(),
            relTensorInstance<Format, 1, 64, 16, 16, 1>(),  // for devices with 99 KiB
            relTensorInstance<Format, 2, 128, 16, 16, 2>(),
            relTensorInstance<Format, 2, 128, 16, 16, 1>()};  // for an A100
}

}  // namespace relascope::core::kernels
