// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA kernels compiled for the CPU (tests/kernels/plugins/host_kernels.cpp), for tests of what
// calls them.
#pragma once

#include "model/attention/cuda_check.h"

namespace relascope::core {

const kernels::KernelTable& compiledKernels();

/// How often each pass ran, to see that a form was used and did not leave the work to another.
struct KernelCalls {
    int tensorForward = 0, tensorBackward = 0, decode = 0;
    bool operator==(const KernelCalls&) const = default;
};
KernelCalls& kernelCalls();
/// The compiled kernels for the host GPU (host_gpu.h), whose graphs repeat them; their passes are
/// counted.
const kernels::KernelTable& hostGpuKernels();
/// The compiled kernels; their passes are counted.
const kernels::KernelTable& hostKernels();

}  // namespace relascope::core
