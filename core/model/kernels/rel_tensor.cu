// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention on tensor cores: which calls are served, and the launches.
#include "model/kernels/rel_tensor.h"

#include "model/kernels/rel_launch.cuh"
#include "model/kernels/rel_tensor_instances.cuh"

namespace relascope::core::kernels {
namespace {

bool isAligned(const View& view, int bytes) {
    const int numbers = bytes / 2;
    return reinterpret_cast<std::uintptr_t>(view.data) % bytes == 0 && view.batch % numbers == 0 &&
           view.token % numbers == 0 && view.head % numbers == 0;
}

std::vector<RelTensorInstance> servingInstances(const RelArgs& x) {
    std::vector<RelTensorInstance> serving;
    if (!isConsistent(x) || x.maxOffset >= 0) return serving;
    const bool isBf16 = x.type == DataType::BFloat16;
    if (!isBf16 && x.type != DataType::Float16) return serving;
    for (const auto* view : {&x.k, &x.s, &x.kRel})
        if (!isAligned(*view, 16)) return serving;
    for (const auto* view : {&x.q, &x.qRel, &x.out})
        if (!isAligned(*view, 4)) return serving;
    for (const auto& each : isBf16 ? bf16Instances() : fp16Instances())
        if (x.heads == each.heads && x.keyHeads == each.keyHeads && x.keyDim == each.width &&
            x.valueDim == each.width && x.relations == each.relations && x.relDim == each.relWidth)
            serving.push_back(each);
    return serving;
}

int fittingTiling(const std::vector<RelTensorTiling>& tilings, std::size_t sharedLimit) {
    for (std::size_t i = 0; i < tilings.size(); ++i)
        if (tilings[i].sharedBytes <= sharedLimit) return static_cast<int>(i);
    return -1;
}

struct DeviceLimits {
    int computeCapability = 0;
    int sharedLimit = 0;
};
cudaError_t currentLimits(DeviceLimits& to) {
    int device = 0, major = 0, minor = 0;
    auto error = cudaGetDevice(&device);
    const auto read = [&](int& value, cudaDeviceAttr attribute) {
        if (error == cudaSuccess) error = cudaDeviceGetAttribute(&value, attribute, device);
    };
    read(major, cudaDevAttrComputeCapabilityMajor);
    read(minor, cudaDevAttrComputeCapabilityMinor);
    read(to.sharedLimit, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    to.computeCapability = 10 * major + minor;
    return error;
}

constexpr int kLeastCapability = 80;  // bf16, m16n8k16 and copies beside the computation

cudaError_t launch(const RelArgs& x, const RelTensorInstance& each, void* stream) {
    const dim3 grid(tiles(x.queries, each.tiling.queries), x.batch, each.tiling.groups);
    if (grid.x == 0 || grid.y == 0) return cudaSuccess;
    const auto kernel = x.activation == Activation::Identity ? each.forward : each.activatedForward;
    const std::size_t bytes = each.tiling.sharedBytes;
    if (const auto error = allowSharedBytes(kernel, bytes); error != cudaSuccess) return error;
    LAUNCH(kernel, grid, each.threads, bytes, stream, x);
    return cudaGetLastError();
}

}  // namespace

std::vector<RelTensorTiling> relTensorTilings(const RelArgs& x) {
    std::vector<RelTensorTiling> tilings;
    for (const auto& each : servingInstances(x)) tilings.push_back(each.tiling);
    return tilings;
}

bool relTensorServes(const RelArgs& x, std::size_t sharedLimit, int computeCapability) {
    return computeCapability >= kLeastCapability && relTensorSharedBytes(x, sharedLimit) > 0;
}

std::size_t relTensorSharedBytes(const RelArgs& x, std::size_t sharedLimit) {
    const auto tilings = relTensorTilings(x);
    const int fitting = fittingTiling(tilings, sharedLimit);
    return fitting < 0 ? 0 : tilings[fitting].sharedBytes;
}

int launchRelTensorForward(const RelArgs* args, void* stream) {
    DeviceLimits limits;
    if (const auto error = currentLimits(limits); error != cudaSuccess) return error;
    const int tiling = fittingTiling(relTensorTilings(*args), limits.sharedLimit);
    return launchRelTensorForwardTiled(args, tiling, stream);
}

int launchRelTensorForwardTiled(const RelArgs* args, int tiling, void* stream) {
    DeviceLimits limits;
    if (const auto error = currentLimits(limits); error != cudaSuccess) return error;
    const auto serving = servingInstances(*args);
    if (limits.computeCapability < kLeastCapability || tiling < 0 ||
        tiling >= static_cast<int>(serving.size()))
        return cudaErrorInvalidValue;
    return launch(*args, serving[tiling], stream);
}

}  // namespace relascope::core::kernels
