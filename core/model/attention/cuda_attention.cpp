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

const CheckedKernels* kernelsFor(const torch::Device& device) {
    const auto& kernels = checkedKernels(device);
    return kernels.table && kernels.problems.float32.empty() ? &kernels : nullptr;
}

}  // namespace cuda_calls

using namespace cuda_calls;

namespace {

using kernels::KernelTable;
using kernels::RelArgs;

// Up to here one launch for all of a layer's heads counts for more than tuned products. Beyond it
// LibTorch's forms win even where they hold n x n weights: on an H200 a recorded step of `relascope-bench
// mathematics` (161 tokens) takes 3.5 ms by them and 10.3 by these kernels, one of
// `lm_dat_512_dropout` 7.9 and 98.
constexpr std::int64_t kShortTokens = 128;
constexpr std::int64_t kTensorTile = 16;
constexpr std::int64_t kMostBatch = 65535;  // the largest second dimension of a grid

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
    const auto& kernels = checkedKernels(in.q.device());
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
    switch (serving) {
        case CudaKernels::None:
            return false;
        case CudaKernels::Tensor:
            // A block has 16 queries or more: of one query after many cached keys little is used.
            return isShort || queries >= kTensorTile;
        case CudaKernels::Float32:
            break;
    }
    if (!isShort) return false;
    if (typeOf(in) == torch::kFloat) return true;
    // Widened 16-bit inputs give up tensor cores, but a dozen launches cost more than these few
    // tokens compute.
    const bool activated = options.relActivation != "identity";
    return relations || options.dropout > 0 || in.maxOffset >= 0 || activated;
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

using namespace cuda_calls;

namespace {

using kernels::KernelTable;
using kernels::SmallArgs;
using kernels::SmallPart;
using torch::autograd::variable_list;

}  // namespace

kernels::View cuda_calls::viewOfWr(const torch::Tensor& x) {
    const auto view = viewOf(x.dim() == 4 ? x : x.unsqueeze(0));
    return {view.data, x.dim() == 4 ? view.batch : 0, view.token, view.head};
}

namespace {

/// Arguments without pointers, for the backward pass too.
struct SmallCalls : torch::CustomClassHolder {
    SmallArgs args;
    const KernelTable* table = nullptr;
    std::int64_t groups[2] = {};  ///< blocks that write relations' gradients, for a batch element
};

// A tensor whose rows have consecutive numbers, W_r [h, d_h, d_r] included.
torch::Tensor readableInput(const torch::Tensor& x) {
    return x.dim() == 4 ? readable(x) : x.contiguous();
}
SmallPart partOf(const KernelCall& call) {
    SmallPart part;
    part.rel = argsOf(call.in, call.options);
    part.symmetric = part.rel.relations > 0 && !call.in.relations.k.defined();
    return part;
}

struct SmallHeads : torch::autograd::Function<SmallHeads> {
    // `inputs` are those of each part in turn: q, k, s and, with relations, q_rel, k_rel (unless
    // symmetric) and W_r. Gives the outputs [b, n, h, d_h] of each part.
    static variable_list forward(torch::autograd::AutogradContext* context,
                                 const c10::intrusive_ptr<SmallCalls>& calls,
                                 at::TensorList inputs) {
        const auto device = inputs[0].device();
        const c10::DeviceGuard guard(device);
        SmallArgs& args = calls->args;
        variable_list in, outputs;
        for (const auto& x : inputs) in.push_back(readableInput(x));
        point(args, in);
        for (int i = 0; i < args.count; ++i) {
            auto& a = args.parts[i].rel;
            outputs.push_back(
                torch::empty({a.batch, a.queries, a.heads, a.valueDim}, in[0].options()));
            a.out = viewOf(byHead(outputs.back()));
        }
        require(*calls->table, calls->table->smallForward(&args, streamOf(device)), "forward");
        context->save_for_backward(in);
        context->saved_data["calls"] = at::IValue::make_capsule(calls);
        return outputs;
    }

    static variable_list backward(torch::autograd::AutogradContext* context,
                                  variable_list gradients) {
        const auto calls = c10::static_intrusive_pointer_cast<SmallCalls>(
            context->saved_data["calls"].toCapsule());
        SmallArgs args = calls->args;
        const auto in = context->get_saved_variables();
        const auto device = in[0].device();
        const c10::DeviceGuard guard(device);
        point(args, in);
        variable_list found = {torch::Tensor()};  // of the calls
        std::vector<std::size_t> summed;  // gradients that several blocks write their parts of
        variable_list dOut;               // lives until the launch
        const auto relationGradients = [&](const SmallPart& part, std::int64_t groups,
                                           std::int64_t& distance) {
            const auto& a = part.rel;
            const auto parts =
                torch::empty({groups, a.batch, a.queries, a.relations, a.relDim}, in[0].options())
                    .transpose(2, 3);
            distance = parts.stride(0);
            if (groups > 1) summed.push_back(found.size());
            found.push_back(groups > 1 ? parts : parts[0]);
            return viewOf(parts[0]);
        };
        for (int i = 0; i < args.count; ++i) {
            SmallPart& part = args.parts[i];
            auto& a = part.rel;
            dOut.push_back(readable(byHead(gradients[static_cast<std::size_t>(i)])));
            a.dOut = viewOf(dOut.back());
            for (auto* gradient : {&a.dq, &a.dk, &a.ds}) {
                found.push_back(emptyLike(in[found.size() - 1]));
                *gradient = viewOf(found.back());
            }
            if (a.relations == 0) continue;
            a.dqRel = relationGradients(part, calls->groups[i], part.dqRelGroup);
            if (!part.symmetric)
                a.dkRel = relationGradients(part, calls->groups[i], part.dkRelGroup);
            summed.push_back(found.size());
            found.push_back(
                torch::empty({a.batch, a.heads, a.valueDim, a.relations}, in[0].options()));
            part.dwr = viewOfWr(found.back());
        }
        require(*calls->table, calls->table->smallBackward(&args, streamOf(device)), "backward");
        for (const auto i : summed) found[i] = found[i].sum(0);
        return found;
    }

private:
    static void point(SmallArgs& args, const variable_list& in) {
        auto next = in.begin();
        for (int i = 0; i < args.count; ++i) {
            SmallPart& part = args.parts[i];
            auto& a = part.rel;
            a.q = viewOf(*next++), a.k = viewOf(*next++), a.s = viewOf(*next++);
            if (a.relations == 0) continue;
            a.qRel = viewOf(*next++);
            a.kRel = part.symmetric ? a.qRel : viewOf(*next++);
            part.wr = viewOfWr(*next++);
        }
    }
};

}  // namespace

bool cuda_calls::hasRoomForSmall(const CheckedKernels& kernels, const SmallPart& part) {
    return kernels.table->small(part, kernels.limits.sharedBytes).serves();
}

std::vector<torch::Tensor> cuda_calls::smallAttentionBy(const CheckedKernels& kernels,
                                                        const std::vector<KernelCall>& calls) {
    const auto device = calls.at(0).in.q.device();
    const auto all = c10::make_intrusive<SmallCalls>();
    all->table = kernels.table;
    all->args.count = static_cast<int>(calls.size());
    all->args.sharedLimit = kernels.limits.sharedBytes;
    variable_list inputs;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto& in = calls[i].in;
        SmallPart& part = all->args.parts[i];
        part = partOf(calls[i]);
        if (part.rel.dropThreshold > 0) part.rel.philox = drawPhilox(device);
        all->groups[i] = kernels.table->small(part, all->args.sharedLimit).backwardGroups;
        auto s = in.v;
        if (in.maxOffset >= 0)
            s = s.unsqueeze(0).expand({in.q.size(0), s.size(0), s.size(1), s.size(2)});
        inputs.insert(inputs.end(), {in.q, in.k, s});
        if (part.rel.relations == 0) continue;
        inputs.push_back(in.relations.q);
        if (!part.symmetric) inputs.push_back(in.relations.k);
        inputs.push_back(in.relations.wr);
    }
    auto outputs = SmallHeads::apply(all, at::TensorList(inputs));
    for (auto& out : outputs) out = out.flatten(2);
    return outputs;
}

bool servesSmall(const torch::Tensor& x, const std::vector<KernelHeads>& heads) {
    if (x.scalar_type() != torch::kFloat || x.numel() == 0 || heads.empty() || heads.size() > 2 ||
        at::autocast::is_autocast_enabled(x.device().type()))
        return false;
    const auto* kernels = kernelsFor(x.device());
    if (!kernels) return false;
    return std::all_of(heads.begin(), heads.end(), [&](const KernelHeads& h) {
        if (h.form != AttentionForm::Automatic && h.form != AttentionForm::Cuda) return false;
        if (!knowsActivation(h.relActivation)) return false;
        SmallPart part;
        auto& a = part.rel;
        const auto narrow = [](std::int64_t size) { return static_cast<std::int32_t>(size); };
        a.batch = narrow(x.size(0)), a.queries = a.keys = narrow(x.size(1));
        a.heads = narrow(h.heads), a.keyHeads = narrow(h.keyHeads);
        a.keyDim = narrow(h.keyDim), a.valueDim = narrow(h.valueDim);
        a.relations = narrow(h.relations), a.relDim = narrow(h.relDim);
        a.maxOffset = narrow(h.maxOffset);
        part.symmetric = h.symmetric;
        return hasRoomForSmall(*kernels, part);
    });
}

std::vector<torch::Tensor> smallAttention(const std::vector<KernelCall>& calls) {
    return smallAttentionBy(*kernelsFor(calls.at(0).in.q.device()), calls);
}

using namespace cuda_calls;

}  // namespace relascope::core
