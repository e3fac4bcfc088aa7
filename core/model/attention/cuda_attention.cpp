// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>
#include <torch/utils.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "model/attention/cuda_attention.h"
#include "model/attention/dropout.h"
#include "model/graph/device_graph.h"
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

// The stride of a dimension; 0 for one element, whose stride may be any number and would count as
// misaligned.
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

// Takes random numbers from LibTorch's generator, as its own kernels do.
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

}  // namespace cuda_calls

using namespace cuda_calls;

namespace {

using kernels::KernelTable;
using kernels::RelArgs;

constexpr std::int64_t kShortTokens = 128;
constexpr std::int64_t kTensorTile = 16;
constexpr std::int64_t kMostBatch = 65535;  // the largest second dimension of a grid

/// Arguments without pointers, for the backward pass too.
struct CudaPlan : torch::CustomClassHolder {
    RelArgs args;
    const KernelTable* table = nullptr;
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
        require(*plan->table, plan->table->relTensorForward(&a, streamOf(q.device())), "forward");
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
        torch::autograd::variable_list found = {torch::Tensor()};  // the plan has no gradient
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
        require(*plan->table, plan->table->relTensorBackward(&a, streamOf(q.device())), "backward");
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

}  // namespace

bool servesTensorCores(const CheckedKernels& kernels, const CudaAttentionInput& in,
                       const KernelOptions& options, torch::ScalarType type, bool gradients) {
    if (type != torch::kBFloat16 && type != torch::kHalf) return false;
    if (!kernels.problems.tensor.empty() || in.maxOffset >= 0) return false;
    const auto args = argsOf(in, options, type);
    const auto& [table, limits, problems] = kernels;
    const int capability = 10 * limits.major + limits.minor;
    return table->tensorServes(args, limits.sharedBytes, capability) &&
           (!gradients || table->tensorServesBackward(args, limits.sharedBytes, capability));
}

bool servesCuda(const CudaAttentionInput& in, const KernelOptions& options) {
    const auto& kernels = checkedKernels(in.q.device());
    if (!kernels.table || in.q.numel() == 0 || in.k.numel() == 0 || in.q.size(0) > kMostBatch)
        return false;
    return knowsActivation(options.relActivation) &&
           servesTensorCores(kernels, in, options, typeOf(in), needsGradients(in, options));
}

bool choosesCuda(AttentionForm form, const CudaAttentionInput& in, const KernelOptions& options) {
    if (form != AttentionForm::Cuda && form != AttentionForm::Automatic) return false;
    // A block has 16 queries or more: of one query after many cached keys little is used.
    const std::int64_t queries = in.q.size(2);
    if (form == AttentionForm::Automatic && queries < kTensorTile &&
        std::max(queries, in.k.size(2)) > kShortTokens)
        return false;
    return servesCuda(in, options);
}

torch::Tensor cudaAttention(const CudaAttentionInput& in, const KernelOptions& options) {
    return cudaAttention(*checkedKernels(in.q.device()).table, in, options);
}

torch::Tensor cudaAttention(const KernelTable& table, const CudaAttentionInput& in,
                            const KernelOptions& options) {
    const auto type = typeOf(in);
    const auto plan = c10::make_intrusive<CudaPlan>();
    plan->args = argsOf(in, options, type);
    plan->table = &table;
    plan->workspace = table.tensorWorkspace(plan->args);
    if (plan->args.dropThreshold > 0) plan->args.philox = drawPhilox(in.q.device());
    torch::autograd::variable_list relations;
    const auto& of = in.relations;
    if (of.q.defined()) relations.push_back(of.q.to(type));
    if (of.k.defined()) relations.push_back(of.k.to(type));
    plan->symmetric = relations.size() == 1;
    torch::autograd::variable_list parts;
    {
        // The types are settled; autograd gives the inputs' gradients back in theirs.
        const c10::impl::ExcludeDispatchKeyGuard asTheyAre(c10::autocast_dispatch_keyset);
        parts = CudaHeads::apply(plan, in.q.to(type), in.k.to(type), in.v.to(type),
                                 at::TensorList(relations));
    }
    if (parts.size() == 1) return parts[0].flatten(2);
    // In 16 bits this is a product with sums in float32, as in LibTorch's forms.
    const auto wr = of.wr.to(type).transpose(1, 2);
    return joinHeads(torch::matmul(byHead(parts[1]), wr) + byHead(parts[0]));
}

}  // namespace relascope::core
