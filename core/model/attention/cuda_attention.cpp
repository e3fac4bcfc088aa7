// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/cuda_attention.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>

#include "model/attention/cuda_calls.h"
#include "model/attention/dropout.h"
#include "model/kernels/plugin.h"
#include "types/error.h"

namespace relascope::core {

using namespace cuda_calls;

namespace {

using kernels::Activation;
using kernels::KernelTable;
using kernels::RelArgs;
using kernels::SmallPart;

// Up to here one launch for all of a layer's heads counts for more than tuned products.
constexpr std::int64_t kShortTokens = 128;
constexpr std::int64_t kMostBatch = 65535;  // of a grid's second dimension

constexpr std::array<std::pair<const char*, Activation>, 6> kActivations = {
    {{"identity", Activation::Identity},
     {"relu", Activation::Relu},
     {"sigmoid", Activation::Sigmoid},
     {"tanh", Activation::Tanh},
     {"gelu", Activation::Gelu},
     {"silu", Activation::Silu}}};

std::atomic<const KernelTable*> s_cpuTable = nullptr;

}  // namespace

namespace cuda_calls {

torch::Tensor readable(const torch::Tensor& x) {
    return x.stride(3) == 1 || x.size(3) == 1 ? x : x.contiguous();
}
kernels::View viewOf(const torch::Tensor& x) {
    if (!x.defined()) return {};
    return {const_cast<void*>(x.const_data_ptr()), x.stride(0), x.stride(2), x.stride(1)};
}
torch::Tensor byHead(const torch::Tensor& x) {
    return x.transpose(1, 2);
}
torch::Tensor emptyLike(const torch::Tensor& x) {
    return torch::empty({x.size(0), x.size(2), x.size(1), x.size(3)}, x.options()).transpose(1, 2);
}

bool knowsActivation(const std::string& name) {
    return std::any_of(kActivations.begin(), kActivations.end(),
                       [&](const auto& known) { return name == known.first; });
}

}  // namespace cuda_calls

namespace {

/// Arguments without pointers, for the backward pass too.
struct CudaPlan : torch::CustomClassHolder {
    RelArgs args;
    const KernelTable* table = nullptr;
    bool symmetric = false;
};

}  // namespace

namespace cuda_calls {

RelArgs argsOf(const CudaAttentionInput& in, const KernelOptions& options) {
    const auto size = [](const torch::Tensor& x, int dim) {
        return static_cast<std::int32_t>(x.size(dim));
    };
    RelArgs a;
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

// As LibTorch's own kernels take random numbers from its generator.
kernels::Philox drawPhilox(const torch::Device& device) {
    kernels::Philox state;
    if (device.is_cpu()) {
        state.seedValue = static_cast<std::uint64_t>(drawDropoutSeed());
        return state;
    }
    auto generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    state.seedValue = generator.current_seed();
    state.offsetValue = generator.get_offset();
    generator.set_offset(state.offsetValue + 4);
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

namespace {

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
        const auto lse = torch::empty({a.batch, a.heads, a.queries}, options);
        point(a, in, outputs, lse);
        require(*plan->table, plan->table->relForward(&a, streamOf(q.device())), "forward");
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
        require(*plan->table, plan->table->relBackward(&a, streamOf(q.device())), "backward");
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

torch::Tensor apply(const KernelTable& table, const CudaAttentionInput& in,
                    const KernelOptions& options) {
    const auto plan = c10::make_intrusive<CudaPlan>();
    plan->args = argsOf(in, options);
    plan->table = &table;
    if (plan->args.dropThreshold > 0) plan->args.philox = drawPhilox(in.q.device());
    auto s = in.v;
    if (in.maxOffset >= 0)
        s = s.unsqueeze(0).expand({in.q.size(0), s.size(0), s.size(1), s.size(2)});
    torch::autograd::variable_list relations;
    const auto& of = in.relations;
    if (of.q.defined()) relations.push_back(of.q);
    if (of.k.defined()) relations.push_back(of.k);
    plan->symmetric = relations.size() == 1;
    const auto parts = CudaHeads::apply(plan, in.q, in.k, s, at::TensorList(relations));
    if (parts.size() == 1) return parts[0].flatten(2);
    return joinHeads(torch::matmul(byHead(parts[1]), of.wr.transpose(1, 2)) + byHead(parts[0]));
}

// What apply() gives for symbols of each key, with relations without an activation.
torch::Tensor plainly(const CudaAttentionInput& in, const KernelOptions& o) {
    const auto shared = [&](const torch::Tensor& x) {
        return x.repeat_interleave(in.q.size(1) / x.size(1), 1);
    };
    auto scores = torch::matmul(in.q * o.scale, shared(in.k).transpose(2, 3));
    if (o.causal)
        scores = scores.masked_fill(futureMask(in.q.size(2), in.k.size(2), 0, in.q.device()),
                                    -std::numeric_limits<double>::infinity());
    const auto alpha = torch::softmax(scores, -1);
    const auto r = torch::matmul(in.relations.q * o.relScale, in.relations.k.transpose(2, 3));
    const auto related = torch::einsum("bhnm,blnm->bhnl", {alpha, r});
    return joinHeads(torch::matmul(related, in.relations.wr.transpose(1, 2)) +
                     torch::matmul(alpha, shared(in.v)));
}

// How far the last token, by the kernels for decoding, is from what it should be; empty if it is
// not.
std::string decodingProblem(const KernelTable& table, const CudaAttentionInput& in,
                            const KernelOptions& options, const torch::Tensor& expected) {
    const torch::NoGradGuard guard;
    const auto& r = in.relations;
    const std::int64_t past = in.q.size(2) - 1;
    const auto last = [&](const torch::Tensor& x) { return x.slice(2, past); };
    const auto spoilt = [&](torch::Tensor x) {  // the new row is the kernel's to write
        x = x.contiguous().clone();
        x.select(-2, past).zero_();
        return x;
    };
    const KernelCall call{{last(in.q), last(in.k), last(in.v), -1, {last(r.q), last(r.k), r.wr}},
                          options};
    const auto found = decodingBy(
        table, call,
        {spoilt(in.k),
         spoilt(in.v),
         spoilt(joinHeads(r.k)),
         {},
         torch::full({1}, past, torch::TensorOptions().dtype(torch::kLong).device(in.q.device()))});
    const double error = (found - expected).abs().max().item<double>();
    if (error <= 1e-2 * expected.abs().max().item<double>()) return {};
    return "differ from LibTorch's on " + in.q.device().str() + " by " + std::to_string(error) +
           " in decoding";
}

}  // namespace

const KernelTable* cuda_calls::tableFor(const torch::Device& device) {
    if (device.is_cpu()) return s_cpuTable.load();
    if (!device.is_cuda()) return nullptr;
    const KernelTable* table = kernels::kernelTable(device.index());
    if (!table) return nullptr;
    static std::mutex mutex;
    static std::map<c10::DeviceIndex, bool> agrees;
    const std::lock_guard lock(mutex);
    const auto [entry, first] = agrees.try_emplace(device.index(), false);
    if (first) {
        const auto problem = cudaKernelsProblem(*table, device);
        if (!problem.empty()) std::fprintf(stderr, "relascope: %s\n", problem.c_str());
        entry->second = problem.empty();
    }
    return entry->second ? table : nullptr;
}

bool servesCuda(const CudaAttentionInput& in, const KernelOptions& options) {
    if (in.q.is_cpu() && !s_cpuTable.load()) return false;
    if (in.q.scalar_type() != torch::kFloat || in.k.scalar_type() != torch::kFloat ||
        in.v.scalar_type() != torch::kFloat || in.q.numel() == 0 || in.k.numel() == 0)
        return false;
    if (at::autocast::is_autocast_enabled(in.q.device().type()) || in.q.size(0) > kMostBatch)
        return false;
    if (!knowsActivation(options.relActivation)) return false;
    const KernelTable* table = tableFor(in.q.device());
    if (!table) return false;
    kernels::DeviceLimits limits;
    const int device = in.q.is_cpu() ? 0 : in.q.device().index();
    if (table->deviceLimits(device, &limits) != 0) return false;
    const auto bytes = table->relShared(argsOf(in, options));
    return std::max({bytes.forward, bytes.backwardRows, bytes.backwardColumns,
                     bytes.backwardLibrary}) <= limits.sharedBytes;
}

bool prefersCuda(const CudaAttentionInput& in, const KernelOptions& options) {
    if (std::max(in.q.size(2), in.k.size(2)) <= kShortTokens) return true;
    return options.dropout > 0 || in.maxOffset >= 0 || options.relActivation != "identity";
}

torch::Tensor cudaAttention(const CudaAttentionInput& in, const KernelOptions& options) {
    return apply(*tableFor(in.q.device()), in, options);
}

std::string cudaKernelsProblem(const KernelTable& table, const torch::Device& device) {
    const c10::InferenceMode lasting(false);
    const torch::AutoGradMode gradients(true);
    int seed = 0;
    const auto made = [&](std::initializer_list<std::int64_t> shape) {
        const auto numbers = torch::arange(c10::multiply_integers(shape), torch::kFloat);
        return (numbers * (0.7 + 0.1 * ++seed)).sin().view(shape).to(device).requires_grad_(true);
    };
    // More queries than a tile has, and none of the sizes a multiple of its sides.
    const CudaAttentionInput in{made({2, 4, 37, 12}),
                                made({2, 2, 37, 12}),
                                made({2, 2, 37, 10}),
                                -1,
                                {made({2, 5, 37, 6}), made({2, 5, 37, 6}), made({4, 10, 5})}};
    const KernelOptions options{0.3, true, 0.0, 0.4};
    const std::vector<torch::Tensor> leaves = {in.q,           in.k,           in.v,
                                               in.relations.q, in.relations.k, in.relations.wr};
    const std::string advice =
        "; LibTorch's kernels are used instead. Please report it with the output of relascope-cli "
        "devices";
    try {
        const auto results = [&](const torch::Tensor& out) {
            auto all = torch::autograd::grad({(out * out.detach().cos()).sum()}, leaves);
            all.push_back(out.detach());
            return all;
        };
        std::vector<torch::Tensor> outputs = {apply(table, in, options)};
        SmallPart part;
        part.rel = argsOf(in, options);
        if (hasRoomForSmall(table, device, part))
            outputs.push_back(smallAttentionBy(table, {{in, options}})[0]);
        const auto whole = plainly(in, options);
        const auto problem = decodingProblem(table, in, options, whole.slice(1, 36));
        if (!problem.empty()) return "Relascope's CUDA kernels " + problem + advice;
        const auto plain = results(whole);
        for (const auto& output : outputs) {
            const auto found = results(output);
            for (std::size_t i = 0; i < plain.size(); ++i) {
                // TF32 may be allowed for LibTorch's products.
                const double error = (found[i] - plain[i]).abs().max().item<double>(),
                             bound = 1e-2 * plain[i].abs().max().item<double>();
                if (!(error <= bound))
                    return "Relascope's CUDA kernels differ from LibTorch's on " + device.str() +
                           " by " + std::to_string(error) + advice;
            }
        }
    } catch (const std::exception& error) {
        const std::string text = error.what();
        return "Relascope's CUDA kernels fail on " + device.str() + " (" +
               text.substr(0, text.find('\n')) + ")" + advice;
    }
    return {};
}

CpuKernelsScope::CpuKernelsScope(const kernels::KernelTable& table) {
    s_cpuTable = &table;
}
CpuKernelsScope::~CpuKernelsScope() {
    s_cpuTable = nullptr;
}

}  // namespace relascope::core
