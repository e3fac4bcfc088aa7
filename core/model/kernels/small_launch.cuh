// SPDX-License-Identifier: GPL-3.0-or-later
// How the kernels for few tokens are started.
#pragma once

#include <algorithm>

#include "model/kernels/rel_launch.cuh"
#include "model/kernels/small_block.cuh"

namespace relascope::core::kernels {

struct SmallLaunchPlan {
    SmallLaunch launch;
    int groups = 0;  ///< blocks for a batch element
    std::size_t bytes = 0;
    bool valid = false;
};
SmallLaunchPlan smallLaunchPlan(const SmallArgs& args, bool backward);

inline cudaError_t launchSmall(const SmallArgs& args, bool backward, void (*narrow)(SmallLaunch),
                               void (*wide)(SmallLaunch), void* stream) {
    const auto plan = smallLaunchPlan(args, backward);
    const auto kernel = args.parts[0].rel.type == DataType::Float64 ? wide : narrow;
    if (!plan.valid || !kernel) return cudaErrorInvalidValue;
    if (args.parts[0].rel.batch == 0) return cudaSuccess;
    if (const auto error = allowSharedBytes(kernel, plan.bytes); error != cudaSuccess) return error;
    // Large blocks leave room for few on a multiprocessor, so they bring more threads.
    const unsigned threads = plan.bytes <= 56 * 1024 ? 128 : plan.bytes <= 112 * 1024 ? 256 : 512;
    const dim3 grid(args.parts[0].rel.batch, plan.groups);
    LAUNCH(kernel, grid, threads, plan.bytes, stream, plan.launch);
    return cudaGetLastError();
}

}  // namespace relascope::core::kernels
