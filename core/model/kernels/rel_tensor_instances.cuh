// SPDX-License-Identifier: GPL-3.0-or-later
// The tensor-core kernels that are compiled, one source file for each type: they take the longest.
#pragma once

#include <vector>

#include "model/kernels/rel_tensor.h"
#include "model/kernels/rel_tensor_columns.cuh"

namespace relascope::core::kernels {

/// A tiling with the sizes it is compiled for.
struct RelTensorInstance {
    int heads, keyHeads, relations, width, relWidth, threads;
    RelTensorTiling tiling;
    void (*kernel)(RelArgs);
    void (*activatedKernel)(RelArgs);  // with another activation than identity
};

/// The kernels of a type, for the published models of 343 million parameters and of 1.27 billion,
/// each with the best first.
struct RelTensorInstances {
    std::vector<RelTensorInstance> forward, rows, columns;
    void (*delta)(RelArgs);
    void (*sum)(RelArgs, View, int tokens, int groups);
};
RelTensorInstances bf16Instances();
RelTensorInstances fp16Instances();

template <int Groups, class S>
RelTensorInstance relTensorInstance(std::size_t bytes, void (*kernel)(RelArgs),
                                    void (*activatedKernel)(RelArgs)) {
    return {Groups * S::kHeads,
            Groups * S::kKeyHeads,
            S::kRelations,
            S::kWidth,
            S::kRelWidth,
            S::kThreads,
            {S::kQueries, S::kKeys, S::kStages, Groups, bytes},
            kernel,
            activatedKernel};
}
template <class Format, int Groups, int Relations, int Queries, int Keys, int Stages>
RelTensorInstance forwardInstance() {
    using S = TensorShape<Format, 8, 4, Relations, Queries, Keys, Stages>;
    return relTensorInstance<Groups, S>(S::kSharedBytes, relTensorForward<S, true>,
                                        relTensorForward<S, false>);
}
template <class Format, int Groups, int Relations, int Stages>
RelTensorInstance rowsInstance() {
    using S = TensorShape<Format, 8, 4, Relations, 16, 16, Stages>;
    return relTensorInstance<Groups, S>(RowsShared<S>::kBytes, relTensorRows<S, true>,
                                        relTensorRows<S, false>);
}
template <class Format, int Groups, int Relations, int Stages>
RelTensorInstance columnsInstance() {
    using S = TensorShape<Format, 8, 4, Relations, 16, 16, Stages>;
    return relTensorInstance<Groups, S>(ColumnsShared<S>::kBytes, relTensorColumns<S, true>,
                                        relTensorColumns<S, false>);
}

template <class Format>
RelTensorInstances relTensorInstances() {
    return {{forwardInstance<Format, 1, 64, 32, 16, 2>(),  // half the traffic of 16 queries
             forwardInstance<Format, 1, 64, 16, 32, 2>(),
             forwardInstance<Format, 1, 64, 16, 16, 1>(),  // for devices with 99 KiB
             forwardInstance<Format, 2, 128, 16, 16, 2>(),
             forwardInstance<Format, 2, 128, 16, 16, 1>()},  // for an A100
            {rowsInstance<Format, 1, 64, 2>(), rowsInstance<Format, 1, 64, 1>(),
             rowsInstance<Format, 2, 128, 2>(), rowsInstance<Format, 2, 128, 1>()},
            {columnsInstance<Format, 1, 64, 2>(), columnsInstance<Format, 1, 64, 1>(),
             columnsInstance<Format, 2, 128, 1>()},
            relTensorDelta<Format>,
            relTensorSum<Format>};
}

}  // namespace relascope::core::kernels
