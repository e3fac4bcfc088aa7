// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/cuda_attention.h"

#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>
#include <torch/utils.h>

#include <algorithm>

#include "model/attention/cuda_calls.h"

namespace relascope::core {

using namespace cuda_calls;

namespace {

using kernels::KernelTable;
using kernels::RelArgs;

// Up to here one launch for all of a layer's heads counts for more than tuned products.
constexpr std::int64_t kShortTokens = 128;
constexpr std::int64_t kTensorTile = 16;
constexpr std::int64_t kMostBatch = 65535;  // of a grid's second dimension

/// Arguments without pointers, for the backward pass too.
struct CudaPlan : torch::CustomClassHolder {
    RelArgs args;
    const KernelTable* table = nullptr;
    decltype(KernelTable::relForward) forward = nullptr;
    decltype(KernelTable::relBackward) backward = nullptr;
    std::size_t workspace = 0;  // bytes that the backward pass needs
    bool symmetric = false;
};

struct CudaHeads : torch::autograd::Function<CudaHeads> {
    // `relations` is q_rel and, unless relations are symmetric, k_rel; or nothing. Gives the mixed
    // values [b, n, h, d_h] and, with relations, the mixed relations [b, n, h, d_r].
    static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                  const c10::intrusive_ptr<CudaPlan>& plan,
                                                  const torch::Tensor& q, const torch::Tensor& k,
                                                  const torch::Tensor& s,
                                                  at::TensorList relations) {
        const c10::DeviceGuard guard(q.device());
        RelArgs& a = plan->args;
        torch::autograd::variable_list in = {readable(q), readable(k), readable(s)};
        for (const auto& x : relations) in.push_back(readable(x));
        const auto options = q.options();
        torch::autograd::variable_list outputs = {
            torch::empty({a.batch, a.queries, a.heads, a.valueDim}, options)};
        if (a.relations > 0)
            outputs.push_back(torch::empty({a.batch, a.queries, a.heads, a.relations}, options));
        const auto lse = torch::empty({a.batch, a.heads, a.queries}, options.dtype(torch::kFloat));
        point(a, in, outputs, lse);
        require(*plan->table, plan->forward(&a, streamOf(q.device())), "forward");
        torch::autograd::variable_list saved = in;
        saved.insert(saved.end(), outputs.begin(), outputs.end());
        saved.push_back(lse);
        context->save_for_backward(saved);
        context->saved_data["plan"] = at::IValue::make_capsule(plan);
        return outputs;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto plan =
            c10::static_intrusive_pointer_cast<CudaPlan>(context->saved_data["plan"].toCapsule());
        RelArgs a = plan->args;
        const auto saved = context->get_saved_variables();
        const auto outputs = saved.end() - 1 - (a.relations > 0 ? 2 : 1);
        const torch::autograd::variable_list in(saved.begin(), outputs);
        const auto& q = in[0];
        const c10::DeviceGuard guard(q.device());
        point(a, in, {outputs, saved.end() - 1}, saved.back());
        const auto dOut = readable(byHead(gradients[0]));
        const auto dRelated = a.relations > 0 ? readable(byHead(gradients[1])) : torch::Tensor();
        a.dOut = viewOf(dOut), a.dRelated = viewOf(dRelated);
        const auto delta = torch::empty_like(saved.back());
        a.delta = delta.mutable_data_ptr();
        torch::autograd::variable_list found = {torch::Tensor()};  // of the plan
        for (const auto& x : in) found.push_back(emptyLike(x));
        if (plan->symmetric) found.push_back(emptyLike(in[3]));
        a.dq = viewOf(found[1]), a.dk = viewOf(found[2]), a.ds = viewOf(found[3]);
        if (a.relations > 0) a.dqRel = viewOf(found[4]), a.dkRel = viewOf(found[5]);
        torch::Tensor workspace;
        if (plan->workspace > 0) {
            const auto bytes = static_cast<std::int64_t>(plan->workspace);
            workspace = torch::empty({bytes}, q.options().dtype(torch::kByte));
            a.workspace = workspace.mutable_data_ptr();
        }
        require(*plan->table, plan->backward(&a, streamOf(q.device())), "backward");
        if (plan->symmetric) {
            found[4] += found[5];
            found.pop_back();
        }
        return found;
    }

private:
    static void point(RelArgs& a, const torch::autograd::variable_list& in,
                      const torch::autograd::variable_list& outputs, const torch::Tensor& lse) {
        a.q = viewOf(in[0]), a.k = viewOf(in[1]), a.s = viewOf(in[2]);
        if (in.size() > 3) a.qRel = viewOf(in[3]), a.kRel = viewOf(in.back());
        a.out = viewOf(byHead(outputs[0]));
        if (outputs.size() > 1) a.related = viewOf(byHead(outputs[1]));
        a.lse = lse.mutable_data_ptr();
    }
};

// The type that LibTorch's forms compute in; undefined if they refuse these inputs.
torch::ScalarType typeOf(const CudaAttentionInput& in) {
    const auto device = in.q.device().type();
    const bool cast = at::autocast::is_autocast_enabled(device);
    const auto type = cast ? at::autocast::get_autocast_dtype(device) : in.q.scalar_type();
    for (const auto* x : {&in.q, &in.k, &in.v, &in.relations.q, &in.relations.k}) {
        if (!x->defined()) continue;
        const auto own = x->scalar_type();
        const bool eligible =
            own == torch::kFloat || own == torch::kBFloat16 || own == torch::kHalf;
        if (!eligible || (!cast && own != type)) return torch::ScalarType::Undefined;
    }
    return type;
}

bool needsGradients(const CudaAttentionInput& in, const KernelOptions& options) {
    // Dropout means training, where a layer may be recomputed for its backward pass
    // (activationCheckpoint): it runs without gradients at first, and must draw the same masks
    // then.
    if (options.dropout > 0) return true;
    if (!torch::GradMode::is_enabled()) return false;
    return in.q.requires_grad() || in.k.requires_grad() || in.v.requires_grad() ||
           (in.relations.q.defined() && in.relations.q.requires_grad()) ||
           (in.relations.k.defined() && in.relations.k.requires_grad());
}

bool servesFloat32(const CheckedKernels& kernels, const CudaAttentionInput& in,
                   const KernelOptions& options) {
    if (!kernels.problems.float32.empty()) return false;
    const auto bytes = kernels.table->relShared(argsOf(in, options, torch::kFloat));
    return std::max({bytes.forward, bytes.backwardRows, bytes.backwardColumns,
                     bytes.backwardLibrary}) <= kernels.limits.sharedBytes;
}

}  // namespace

bool servesTensorCores(const CheckedKernels& kernels, const CudaAttentionInput& in,
                       const KernelOptions& options, torch::ScalarType type, bool gradients) {
    if (type != torch::kBFloat16 && type != torch::kHalf) return false;
    if (!kernels.problems.tensor.empty()) return false;
    const auto args = argsOf(in, options, type);
    const auto& [table, limits, problems] = kernels;
    const int capability = 10 * limits.major + limits.minor;
    return table->tensorServes(args, limits.sharedBytes, capability) &&
           (!gradients || table->tensorServesBackward(args, limits.sharedBytes, capability));
}

CudaKernels servingCuda(const CudaAttentionInput& in, const KernelOptions& options) {
    const auto kernels = checkedKernels(in.q.device());
    if (!kernels.table || in.q.numel() == 0 || in.k.numel() == 0 || in.q.size(0) > kMostBatch)
        return CudaKernels::None;
    if (!knowsActivation(options.relActivation)) return CudaKernels::None;
    const auto type = typeOf(in);
    if (type == torch::ScalarType::Undefined) return CudaKernels::None;
    if (servesTensorCores(kernels, in, options, type, needsGradients(in, options)))
        return CudaKernels::Tensor;
    return servesFloat32(kernels, in, options) ? CudaKernels::Float32 : CudaKernels::None;
}

bool prefersCuda(CudaKernels serving, const CudaAttentionInput& in, const KernelOptions& options) {
    const std::int64_t queries = in.q.size(2), longest = std::max(queries, in.k.size(2));
    const bool isShort = longest <= kShortTokens, relations = in.relations.q.defined();
    const bool activated = options.relActivation != "identity";
    switch (serving) {
        case CudaKernels::None:
            return false;
        case CudaKernels::Tensor:
            // A block has 16 queries or more: of one query after many cached keys little is used.
            return isShort || queries >= kTensorTile;
        case CudaKernels::Float32:
            break;
    }
    // LibTorch's kernels are better tuned for long sequences, but have neither dropout nor
    // activations nor relative symbols without an n x n matrix.
    const bool simple = options.dropout == 0 && in.maxOffset < 0 && !activated;
    if (typeOf(in) == torch::kFloat) return isShort || !simple;
    // Widened 16-bit inputs give up tensor cores, which makes up for the n x n weights of
    // LibTorch's forms with dropout or relative symbols. Not for few tokens, where a dozen launches
    // cost more than they compute, nor for activations, which need the relations [b, d_r, n, m] in
    // memory.
    return activated || (isShort && (relations || !simple));
}

CudaKernels chosenCuda(AttentionForm form, const CudaAttentionInput& in,
                       const KernelOptions& options) {
    if (form != AttentionForm::Cuda && form != AttentionForm::Automatic) return CudaKernels::None;
    const auto serving = servingCuda(in, options);
    const bool use = form == AttentionForm::Cuda || prefersCuda(serving, in, options);
    return use ? serving : CudaKernels::None;
}

torch::Tensor cudaAttention(const CudaAttentionInput& in, const KernelOptions& options,
                            CudaKernels kernels) {
    return cudaAttention(*checkedKernels(in.q.device()).table, in, options, kernels);
}

torch::Tensor cudaAttention(const KernelTable& table, const CudaAttentionInput& in,
                            const KernelOptions& options, CudaKernels kernels) {
    const bool tensor = kernels == CudaKernels::Tensor;
    const auto type = typeOf(in), computed = tensor ? type : torch::kFloat;
    const auto plan = c10::make_intrusive<CudaPlan>();
    plan->args = argsOf(in, options, computed);
    plan->forward = tensor ? table.relTensorForward : table.relForward;
    plan->backward = tensor ? table.relTensorBackward : table.relBackward;
    plan->table = &table;
    if (tensor) plan->workspace = table.tensorWorkspace(plan->args);
    if (plan->args.dropThreshold > 0) plan->args.philox = drawPhilox(in.q.device());
    auto s = in.v.to(computed);
    if (in.maxOffset >= 0)
        s = s.unsqueeze(0).expand({in.q.size(0), s.size(0), s.size(1), s.size(2)});
    torch::autograd::variable_list relations;
    const auto& of = in.relations;
    if (of.q.defined()) relations.push_back(of.q.to(computed));
    if (of.k.defined()) relations.push_back(of.k.to(computed));
    plan->symmetric = relations.size() == 1;
    torch::autograd::variable_list parts;
    {
        // The types are settled; autograd gives the inputs' gradients back in theirs.
        const c10::impl::ExcludeDispatchKeyGuard asTheyAre(c10::autocast_dispatch_keyset);
        parts = CudaHeads::apply(plan, in.q.to(computed), in.k.to(computed), s,
                                 at::TensorList(relations));
    }
    for (auto& part : parts) part = part.to(type);
    if (parts.size() == 1) return parts[0].flatten(2);
    // In 16 bits this is a product with sums in float32, as in LibTorch's forms.
    const auto wr = of.wr.to(type).transpose(1, 2);
    return joinHeads(torch::matmul(byHead(parts[1]), wr) + byHead(parts[0]));
}

}  // namespace relascope::core
