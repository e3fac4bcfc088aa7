// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/cuda_calls.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "model/attention/dropout.h"
#include "model/graph/graph_library.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using kernels::Activation;
using kernels::KernelTable;
using kernels::RelArgs;

constexpr std::array<std::pair<const char*, Activation>, 6> kActivations = {
    {{"identity", Activation::Identity},
     {"relu", Activation::Relu},
     {"sigmoid", Activation::Sigmoid},
     {"tanh", Activation::Tanh},
     {"gelu", Activation::Gelu},
     {"silu", Activation::Silu}}};

// Of a dimension of one element it may be any number, which would count as misaligned.
std::int64_t strideOf(const torch::Tensor& x, int dim) {
    return x.size(dim) > 1 ? x.stride(dim) : 0;
}
// The kernels for tensor cores copy 16 bytes at a time.
bool isAligned(const torch::Tensor& x) {
    constexpr std::int64_t bytes = 16, numbers = 8;
    return reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % bytes == 0 &&
           strideOf(x, 0) % numbers == 0 && strideOf(x, 1) % numbers == 0 &&
           strideOf(x, 2) % numbers == 0;
}
}  // namespace

namespace cuda_calls {

torch::Tensor readable(const torch::Tensor& x) {
    const bool rows = x.stride(3) == 1 || x.size(3) == 1;
    const bool wide = x.element_size() > 2;
    return rows && (wide || isAligned(x)) ? x : x.clone(at::MemoryFormat::Contiguous);
}

kernels::View viewOf(const torch::Tensor& x) {
    if (!x.defined()) return {};
    return {const_cast<void*>(x.const_data_ptr()), strideOf(x, 0), strideOf(x, 2), strideOf(x, 1)};
}

torch::Tensor byHead(const torch::Tensor& x) {
    return x.transpose(1, 2);
}

torch::Tensor emptyLike(const torch::Tensor& x) {
    return torch::empty({x.size(0), x.size(2), x.size(1), x.size(3)}, x.options()).transpose(1, 2);
}

RelArgs argsOf(const CudaAttentionInput& in, const KernelOptions& options, torch::ScalarType type) {
    const auto size = [](const torch::Tensor& x, int dim) {
        return static_cast<std::int32_t>(x.size(dim));
    };
    RelArgs a;
    a.type = type == torch::kBFloat16 ? kernels::DataType::BFloat16
             : type == torch::kHalf   ? kernels::DataType::Float16
                                      : kernels::DataType::Float32;
    a.batch = size(in.q, 0), a.heads = size(in.q, 1), a.queries = size(in.q, 2);
    a.keyDim = size(in.q, 3);
    a.keyHeads = size(in.k, 1), a.keys = size(in.k, 2);
    a.valueDim = static_cast<std::int32_t>(in.v.size(-1));
    if (in.relations.q.defined())
        a.relations = size(in.relations.q, 1), a.relDim = size(in.relations.q, 3);
    a.first = static_cast<std::int32_t>(in.first);
    a.causal = options.causal;
    a.maxOffset = static_cast<std::int32_t>(in.maxOffset);
    a.scale = options.scale, a.relScale = options.relScale;
    for (const auto& [name, activation] : kActivations)
        if (options.relActivation == name) a.activation = activation;
    a.dropThreshold =
        static_cast<std::uint32_t>(std::clamp(std::lround(65536.0 * options.dropout), 0L, 65535L));
    return a;
}

bool knowsActivation(const std::string& name) {
    return std::any_of(kActivations.begin(), kActivations.end(),
                       [&](const auto& known) { return name == known.first; });
}

// As LibTorch's own kernels take random numbers from its generator.
kernels::Philox drawPhilox(const torch::Device& device) {
    constexpr std::uint64_t numbers = 4;
    if (device.is_cuda() && graphLibrary().table)
        return graphLibrary().table->drawPhilox(device.index(), numbers);
    if (isRecordingGraph())
        throw Error("a graph cannot draw new random numbers for dropout: " +
                    graphLibrary().problem);
    kernels::Philox state;
    auto generator = at::globalContext().defaultGenerator(device);
    if (generator.device().is_cpu()) {
        state.seedValue = static_cast<std::uint64_t>(drawDropoutSeed());
        return state;
    }
    const std::lock_guard lock(generator.mutex());
    state.seedValue = generator.current_seed();
    state.offsetValue = generator.get_offset();
    generator.set_offset(state.offsetValue + numbers);
    return state;
}

void* streamOf(const torch::Device& device) {
    if (device.is_cpu()) return nullptr;
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device).native_handle();
}

void require(const KernelTable& table, int error, const char* pass) {
    if (error == 0) return;
    throw Error(std::string("the CUDA kernel of the attention's ") + pass +
                " pass failed: " + table.errorText(error) +
                "; with RELASCOPE_CUDA_PLUGIN=off in the environment LibTorch's kernels are used");
}

const KernelTable* tableFor(const torch::Device& device) {
    const auto kernels = checkedKernels(device);
    return kernels.problems.float32.empty() ? kernels.table : nullptr;
}

}  // namespace cuda_calls
}  // namespace relascope::core
