// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of the kernel that decodes one token.
#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>

#include "model/attention/cuda_attention.h"

namespace relascope::core {

using namespace cuda_calls;

namespace {

using kernels::DataType;
using kernels::DecodeArgs;
using kernels::KernelTable;

DataType typeOf(const torch::Tensor& x) {
    return x.scalar_type() == torch::kBFloat16 ? DataType::BFloat16 : DataType::Float32;
}

// W_r [h, d_h, d_r] as DecodeArgs has it.
kernels::View viewOfWr(const torch::Tensor& x) {
    const auto view = viewOf(x.unsqueeze(0));
    return {view.data, 0, view.token, view.head};
}

}  // namespace

bool servesDecoding(const torch::Tensor& x, const KernelHeads& heads, std::int64_t capacity) {
    if (x.scalar_type() != torch::kFloat && x.scalar_type() != torch::kBFloat16) return false;
    if (torch::GradMode::is_enabled() || x.numel() == 0 || x.size(0) > 65535 ||
        at::autocast::is_autocast_enabled(x.device().type()))
        return false;
    if (heads.form != AttentionForm::Automatic && heads.form != AttentionForm::Cuda) return false;
    if (!knowsActivation(heads.relActivation)) return false;
    const auto& kernels = checkedKernels(x.device());
    if (!kernels.table || !kernels.problems.decoding.empty()) return false;
    const auto narrow = [](std::int64_t size) { return static_cast<std::int32_t>(size); };
    DecodeArgs a;
    a.type = typeOf(x);
    a.batch = narrow(x.size(0)), a.capacity = narrow(capacity);
    a.heads = narrow(heads.heads), a.keyHeads = narrow(heads.keyHeads);
    a.keyDim = narrow(heads.keyDim), a.valueDim = narrow(heads.valueDim);
    a.relations = narrow(heads.relations), a.relDim = narrow(heads.relDim);
    a.maxOffset = narrow(heads.maxOffset);
    a.sharedLimit = kernels.limits.sharedBytes;
    return kernels.table->decodeShared(a) > 0;
}

torch::Tensor cuda_calls::decodingBy(const CheckedKernels& kernels, const KernelCall& call,
                                     const DecodingBuffers& buffers) {
    const KernelTable& table = *kernels.table;
    const auto device = call.in.q.device();
    const c10::DeviceGuard guard(device);
    const auto rel = argsOf(call.in, call.options);
    DecodeArgs a;
    a.type = typeOf(call.in.q);
    a.batch = rel.batch, a.capacity = static_cast<std::int32_t>(buffers.k.size(2));
    a.heads = rel.heads, a.keyHeads = rel.keyHeads;
    a.keyDim = rel.keyDim, a.valueDim = rel.valueDim;
    a.relations = rel.relations, a.relDim = rel.relDim;
    a.maxOffset = static_cast<std::int32_t>(call.in.maxOffset), a.activation = rel.activation;
    a.scale = rel.scale, a.relScale = rel.relScale;
    a.past = buffers.past.const_data_ptr<std::int64_t>();
    a.sharedLimit = kernels.limits.sharedBytes;
    // These copies live until the launch.
    const auto q = readable(call.in.q), k = readable(call.in.k);
    a.q = viewOf(q), a.k = viewOf(k), a.keyCache = viewOf(buffers.k);
    auto s = call.in.v;
    if (a.maxOffset >= 0) {
        s = readable(s.unsqueeze(0));
        a.symbolCache = viewOf(s);
        a.symbolCache.batch = 0;
    } else {
        s = readable(s);
        a.s = viewOf(s), a.symbolCache = viewOf(buffers.v);
    }
    torch::Tensor qRel, kRel, wr;
    if (rel.relations > 0) {
        const auto& of = call.in.relations;
        qRel = readable(of.q), kRel = of.k.defined() ? readable(of.k) : qRel;
        a.qRel = viewOf(qRel), a.kRel = viewOf(kRel);
        const auto& cache = buffers.relations;
        a.relationCache = {cache.mutable_data_ptr(), cache.stride(0), cache.stride(1), rel.relDim};
        wr = of.wr.contiguous();
        a.wr = viewOfWr(wr);
    }
    if (buffers.rotary.defined()) a.rotary = buffers.rotary.const_data_ptr<float>();
    const auto out = torch::empty({a.batch, 1, a.heads, a.valueDim}, q.options());
    a.out = viewOf(byHead(out));
    const auto workspace = torch::empty({static_cast<std::int64_t>(table.decodeWorkspace(a))},
                                        torch::TensorOptions().dtype(torch::kByte).device(device));
    a.workspace = workspace.mutable_data_ptr();
    require(table, table.decode(&a, streamOf(device)), "decoding");
    return out.flatten(2);
}

torch::Tensor cudaDecoding(const KernelCall& call, const DecodingBuffers& buffers) {
    return cuda_calls::decodingBy(checkedKernels(call.in.q.device()), call, buffers);
}

}  // namespace relascope::core
