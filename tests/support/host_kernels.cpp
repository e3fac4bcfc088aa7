// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/host_kernels.h"

#include <stdexcept>

#include "model/kernels/plugin.h"
#include "support/host_gpu.h"

namespace relascope::core {
namespace {

using kernels::KernelTable;

KernelCalls s_calls;

template <auto kernel, auto count, class Args>
int launched(const Args* args, void*) {
    ++(s_calls.*count);
    return testing_support::launchOnHostGpu(
        [copy = *args] { return (compiledKernels().*kernel)(&copy, nullptr); });
}

}  // namespace

const kernels::KernelTable& hostGpuKernels() {
    static const auto table = [] {
        using Calls = KernelCalls;
        auto recorded = compiledKernels();
        recorded.relTensorForward =
            launched<&KernelTable::relTensorForward, &Calls::tensorForward, kernels::RelArgs>;
        recorded.relTensorBackward =
            launched<&KernelTable::relTensorBackward, &Calls::tensorBackward, kernels::RelArgs>;
        recorded.decode = launched<&KernelTable::decode, &Calls::decode, kernels::DecodeArgs>;
        return recorded;
    }();
    return table;
}

KernelCalls& kernelCalls() {
    return s_calls;
}

const kernels::KernelTable& compiledKernels() {
    static const auto plugin =
        kernels::openKernelPlugin(RELASCOPE_BIN "/../tests/fake_kernels/host_kernels.so");
    if (!plugin.table) throw std::runtime_error(plugin.problem);
    return *plugin.table;
}

const kernels::KernelTable& hostKernels() {
    static const auto table = [] {
        auto counting = compiledKernels();
        counting.decode = [](const kernels::DecodeArgs* args, void* stream) {
            return ++s_calls.decode, compiledKernels().decode(args, stream);
        };
        counting.relTensorForward = [](const kernels::RelArgs* args, void* stream) {
            return ++s_calls.tensorForward, compiledKernels().relTensorForward(args, stream);
        };
        counting.relTensorBackward = [](const kernels::RelArgs* args, void* stream) {
            return ++s_calls.tensorBackward, compiledKernels().relTensorBackward(args, stream);
        };
        return counting;
    }();
    return table;
}

}  // namespace relascope::core
