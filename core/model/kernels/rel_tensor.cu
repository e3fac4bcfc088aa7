// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention on tensor cores: which calls are served, and the launches.
#include "model/kernels/rel_tensor.h"

#include <algorithm>

#include "model/kernels/rel_launch.cuh"
#include "model/kernels/rel_tensor_instances.cuh"

namespace relascope::core::kernels {
namespace {

bool isAligned(const View& view, int bytes) {
    const int numbers = bytes / 2;
    return reinterpret_cast<std::uintptr_t>(view.data) % bytes == 0 && view.batch % numbers == 0 &&
           view.token % numbers == 0 && view.head % numbers == 0;
}

enum class Pass { Forward, Rows, Columns };

RelTensorInstances instancesOf(const RelArgs& x) {
    return x.type == DataType::BFloat16 ? bf16Instances() : fp16Instances();
}

std::vector<RelTensorInstance> servingInstances(const RelArgs& x, Pass pass) {
    std::vector<RelTensorInstance> serving;
    if (!isConsistent(x)) return serving;
    if (x.type != DataType::BFloat16 && x.type != DataType::Float16) return serving;
    std::vector<const View*> copied{&x.k, &x.s, &x.kRel}, inPairs{&x.q, &x.qRel, &x.out};
    if (pass == Pass::Columns) {
        copied = {&x.q, &x.qRel, &x.dOut, &x.dRelated};
        inPairs = {&x.k, &x.s, &x.kRel, &x.dk, &x.ds, &x.dkRel};
    }
    if (pass == Pass::Rows) {
        copied.push_back(&x.dRelated);
        inPairs.insert(inPairs.end(), {&x.related, &x.dOut, &x.dq, &x.dqRel});
    }
    for (const auto* view : copied)
        if (!isAligned(*view, 16)) return serving;
    for (const auto* view : inPairs)
        if (!isAligned(*view, 4)) return serving;
    const auto all = instancesOf(x);
    for (const auto& each : pass == Pass::Forward ? all.forward
                            : pass == Pass::Rows  ? all.rows
                                                  : all.columns)
        if (x.heads == each.heads && x.keyHeads == each.keyHeads && x.keyDim == each.width &&
            x.valueDim == each.width && x.relations == each.relations && x.relDim == each.relWidth)
            serving.push_back(each);
    return serving;
}

std::vector<RelTensorTiling> tilingsOf(const RelArgs& x, Pass pass) {
    std::vector<RelTensorTiling> tilings;
    for (const auto& each : servingInstances(x, pass)) tilings.push_back(each.tiling);
    return tilings;
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

/// Starts the sum of the groups' parts of dqRel or dkRel.
cudaError_t startSum(const RelArgs& x, Pass pass, int groups, void* stream) {
    const bool isRows = pass == Pass::Rows;
    const int tokens = isRows ? x.queries : x.keys;
    const auto pairs = std::int64_t{x.batch} * tokens * x.relations * x.relDim / 2;
    const dim3 grid(static_cast<unsigned>((pairs + kSumThreads - 1) / kSumThreads));
    LAUNCH(instancesOf(x).sum, grid, kSumThreads, 0, stream, x, isRows ? x.dqRel : x.dkRel, tokens,
           groups);
    return cudaGetLastError();
}

cudaError_t start(const RelArgs& x, Pass pass, const RelTensorInstance& each, void* stream) {
    const auto count = pass == Pass::Columns ? tiles(x.keys, each.tiling.keys)
                                             : tiles(x.queries, each.tiling.queries);
    const bool isInParts = pass != Pass::Forward && each.tiling.groups > 1;
    if (isInParts && !x.workspace) return cudaErrorInvalidValue;
    const dim3 grid(count, x.batch, each.tiling.groups);
    if (grid.x == 0 || grid.y == 0) return cudaSuccess;
    const auto kernel = x.activation == Activation::Identity ? each.kernel : each.activatedKernel;
    const std::size_t bytes = each.tiling.sharedBytes;
    if (const auto error = allowSharedBytes(kernel, bytes); error != cudaSuccess) return error;
    LAUNCH(kernel, grid, each.threads, bytes, stream, x);
    const auto error = cudaGetLastError();
    return error || !isInParts ? error : startSum(x, pass, each.tiling.groups, stream);
}

constexpr int kBest = -1;

cudaError_t launch(const RelArgs& x, Pass pass, int tiling, void* stream) {
    DeviceLimits limits;
    if (const auto error = currentLimits(limits); error != cudaSuccess) return error;
    if (tiling == kBest) tiling = fittingTiling(tilingsOf(x, pass), limits.sharedLimit);
    const auto serving = servingInstances(x, pass);
    if (limits.computeCapability < kLeastCapability || tiling < 0 ||
        tiling >= static_cast<int>(serving.size()))
        return cudaErrorInvalidValue;
    return start(x, pass, serving[tiling], stream);
}

bool fits(const std::vector<RelTensorTiling>& tilings, std::size_t sharedLimit, int capability) {
    return capability >= kLeastCapability && fittingTiling(tilings, sharedLimit) >= 0;
}

}  // namespace

std::vector<RelTensorTiling> relTensorTilings(const RelArgs& x) {
    return tilingsOf(x, Pass::Forward);
}

std::vector<RelTensorTiling> relTensorRowsTilings(const RelArgs& x) {
    return tilingsOf(x, Pass::Rows);
}

std::vector<RelTensorTiling> relTensorColumnsTilings(const RelArgs& x) {
    return tilingsOf(x, Pass::Columns);
}

bool relTensorServes(const RelArgs& x, std::size_t sharedLimit, int computeCapability) {
    return fits(relTensorTilings(x), sharedLimit, computeCapability);
}

bool relTensorServesRows(const RelArgs& x, std::size_t sharedLimit, int computeCapability) {
    return fits(relTensorRowsTilings(x), sharedLimit, computeCapability);
}

bool relTensorServesColumns(const RelArgs& x, std::size_t sharedLimit, int computeCapability) {
    return fits(relTensorColumnsTilings(x), sharedLimit, computeCapability);
}

bool relTensorServesBackward(const RelArgs& x, std::size_t sharedLimit, int computeCapability) {
    return relTensorServesRows(x, sharedLimit, computeCapability) &&
           relTensorServesColumns(x, sharedLimit, computeCapability);
}

std::size_t relTensorWorkspaceBytes(const RelArgs& x) {
    const auto tilings = relTensorRowsTilings(x);
    if (tilings.empty() || tilings[0].groups == 1) return 0;
    return sizeof(float) * tilings[0].groups * x.batch * std::max(x.queries, x.keys) * x.relations *
           x.relDim;
}

std::size_t relTensorSharedBytes(const RelArgs& x, std::size_t sharedLimit) {
    const auto tilings = relTensorTilings(x);
    const int fitting = fittingTiling(tilings, sharedLimit);
    return fitting < 0 ? 0 : tilings[fitting].sharedBytes;
}

int launchRelTensorForward(const RelArgs* args, void* stream) {
    return launch(*args, Pass::Forward, kBest, stream);
}

int launchRelTensorForwardTiled(const RelArgs* args, int tiling, void* stream) {
    return tiling < 0 ? cudaErrorInvalidValue : launch(*args, Pass::Forward, tiling, stream);
}

int launchRelTensorDelta(const RelArgs* args, void* stream) {
    DeviceLimits limits;
    if (const auto error = currentLimits(limits); error != cudaSuccess) return error;
    if (limits.computeCapability < kLeastCapability || servingInstances(*args, Pass::Rows).empty())
        return cudaErrorInvalidValue;
    const auto rows = std::int64_t{args->batch} * args->heads * args->queries;
    if (rows == 0) return cudaSuccess;
    const dim3 grid(static_cast<unsigned>((rows + kDeltaRows - 1) / kDeltaRows));
    LAUNCH(instancesOf(*args).delta, grid, 32 * kDeltaRows, 0, stream, *args);
    return cudaGetLastError();
}

int launchRelTensorBackwardRows(const RelArgs* args, void* stream) {
    return launch(*args, Pass::Rows, kBest, stream);
}

int launchRelTensorBackwardRowsTiled(const RelArgs* args, int tiling, void* stream) {
    return tiling < 0 ? cudaErrorInvalidValue : launch(*args, Pass::Rows, tiling, stream);
}

int launchRelTensorBackwardColumns(const RelArgs* args, void* stream) {
    return launch(*args, Pass::Columns, kBest, stream);
}

int launchRelTensorBackwardColumnsTiled(const RelArgs* args, int tiling, void* stream) {
    return tiling < 0 ? cudaErrorInvalidValue : launch(*args, Pass::Columns, tiling, stream);
}

int launchRelTensorBackward(const RelArgs* args, void* stream) {
    DeviceLimits limits;
    int error = currentLimits(limits);
    // All or nothing is written.
    if (!error && (!relTensorServesBackward(*args, limits.sharedLimit, limits.computeCapability) ||
                   (!args->workspace && relTensorWorkspaceBytes(*args) > 0)))
        error = cudaErrorInvalidValue;
    if (!error) error = launchRelTensorDelta(args, stream);
    if (!error) error = launchRelTensorBackwardRows(args, stream);
    if (!error) error = launchRelTensorBackwardColumns(args, stream);
    return error;
}

}  // namespace relascope::core::kernels
