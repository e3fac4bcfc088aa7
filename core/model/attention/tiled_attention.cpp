// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/tiled_attention.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "model/attention/dropout.h"
#include "model/attention/tile_levels.h"
#include "model/blocks/bfloat16.h"

namespace relascope::core {

VectorLevel bestVectorLevel() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return VectorLevel::Avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorLevel::Avx2;
#endif
    return VectorLevel::Plain;
}

const TileKernels* tileKernels(VectorLevel level) {
    if (level == VectorLevel::Avx512) return tileKernelsAvx512();
    return level == VectorLevel::Avx2 ? tileKernelsAvx2() : tileKernelsPlain();
}

namespace {

std::atomic<VectorLevel> s_level = bestVectorLevel();

constexpr std::array<std::pair<const char*, TileActivation>, 6> kActivations = {
    {{"identity", TileActivation::Identity},
     {"relu", TileActivation::Relu},
     {"sigmoid", TileActivation::Sigmoid},
     {"tanh", TileActivation::Tanh},
     {"gelu", TileActivation::Gelu},
     {"silu", TileActivation::Silu}}};

// Threads share the batch; small batches stay on one.
constexpr std::int64_t kMultiplicationsOfThread = 1 << 18;

// Kernels and backward passes only read what is given as const.
TileRows rowsOf(const torch::Tensor& x) {
    if (!x.defined()) return {};
    return {const_cast<float*>(x.const_data_ptr<float>()), x.stride(0), x.stride(1), x.stride(2)};
}

// The kernels compute in float32; what is kept for the backward pass has its own type.
torch::Tensor widened(const torch::Tensor& x) {
    return x.defined() ? x.to(torch::kFloat) : x;
}

// Rows that a kernel reads have their numbers side by side.
torch::Tensor readable(const torch::Tensor& x) {
    return !x.defined() || x.stride(3) == 1 ? x : x.contiguous();
}

// [b, heads, n, width] laid out as [b, n, heads, width], as a linear layer's gradient is.
torch::Tensor emptyLike(const torch::Tensor& x) {
    if (!x.defined()) return {};
    return torch::empty({x.size(0), x.size(2), x.size(1), x.size(3)}, x.options()).transpose(1, 2);
}

// Kept by the autograd graph between the two passes.
struct TilePlan : torch::CustomClassHolder {
    TileArgs args;
    torch::Tensor firstKey;  // keeps what `args` points to
    std::int64_t batch = 0;
};

// The tensors of a call: all are defined, except that sensory heads have no qRel, wr and mixed, and
// symmetric relations no kRel.
struct TileInputs {
    torch::Tensor q, k, s, qRel, wr, mixed, kRel;

    TileInputs inFloats() const {
        return {widened(q),  widened(k), widened(s),   widened(qRel),
                widened(wr), mixed,      widened(kRel)};
    }
    void pointFrom(TileArgs& a) const {
        a.q = rowsOf(q), a.k = rowsOf(k), a.s = rowsOf(s);
        a.qRel = rowsOf(qRel), a.kRel = a.symmetric ? a.qRel : rowsOf(kRel);
        if (a.relations == 0) return;
        a.wr = wr.const_data_ptr<float>();
        a.mixed = mixed.mutable_data_ptr<float>();
    }
};

void runTiles(const TileArgs& a, std::int64_t batch, bool backward) {
    const auto* kernels = tileKernels(s_level);
    const std::int64_t floats = kernels->scratch(a, backward);
    const std::int64_t work =
        a.n * a.m * (a.heads * (a.keyDim + a.valueDim + a.relations) + a.relations * a.relDim);
    const std::int64_t grain = std::max<std::int64_t>(1, kMultiplicationsOfThread / work);
    at::parallel_for(0, batch, grain, [&](std::int64_t begin, std::int64_t end) {
        const std::unique_ptr<float, decltype(&std::free)> memory(
            static_cast<float*>(
                std::aligned_alloc(64, static_cast<std::size_t>(floats) * sizeof(float))),
            &std::free);
        if (!memory) throw std::bad_alloc();
        for (std::int64_t b = begin; b < end; ++b)
            (backward ? kernels->backward : kernels->forward)(a, b, memory.get());
    });
}

struct TiledHeads : torch::autograd::Function<TiledHeads> {
    // `relations` is q_rel, W_r and, unless relations are symmetric, k_rel; or nothing.
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const c10::intrusive_ptr<TilePlan>& plan, const torch::Tensor& q,
                                 const torch::Tensor& k, const torch::Tensor& s,
                                 at::TensorList relations) {
        auto& a = plan->args;
        plan->batch = q.size(0);
        a.heads = q.size(1), a.n = q.size(2), a.keyDim = q.size(3);
        a.keyHeads = k.size(1), a.m = k.size(2), a.valueDim = s.size(3);
        TileInputs in{readable(q), readable(k), readable(s), {}, {}, {}, {}};
        const auto numbers = q.options().dtype(torch::kFloat);
        torch::autograd::variable_list saved = {in.q, in.k, in.s};
        if (!relations.empty()) {
            in.qRel = readable(relations[0]), in.wr = relations[1].contiguous();
            a.relations = in.qRel.size(1), a.relDim = in.qRel.size(3);
            a.symmetric = relations.size() == 2;
            in.mixed = torch::empty({plan->batch, a.heads, a.n, a.relations}, numbers);
            saved.insert(saved.end(), {in.qRel, in.wr, in.mixed});
            if (!a.symmetric) saved.push_back(in.kRel = readable(relations[2]));
        }
        auto out = torch::empty({plan->batch, a.n, a.heads * a.valueDim}, numbers);
        a.out = rowsOf(out.view({plan->batch, a.n, a.heads, a.valueDim}).transpose(1, 2));
        const auto floats = in.inFloats();
        floats.pointFrom(a);
        runTiles(a, plan->batch, false);
        context->save_for_backward(saved);
        context->saved_data["plan"] = at::IValue::make_capsule(plan);
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto plan =
            c10::static_intrusive_pointer_cast<TilePlan>(context->saved_data["plan"].toCapsule());
        auto a = plan->args;
        auto saved = context->get_saved_variables();
        const std::size_t inputs = saved.size() - (saved.size() > 3 ? 1 : 0);
        saved.resize(7);
        const auto in =
            TileInputs{saved[0], saved[1], saved[2], saved[3], saved[4], saved[5], saved[6]}
                .inFloats();
        in.pointFrom(a);
        const auto dOut = gradients[0].contiguous().view({plan->batch, a.n, a.heads, a.valueDim});
        a.dOut = rowsOf(dOut.transpose(1, 2));
        const auto dq = emptyLike(in.q), dk = emptyLike(in.k), ds = emptyLike(in.s);
        const auto dqRel = emptyLike(in.qRel), dkRel = emptyLike(in.kRel);
        a.dq = rowsOf(dq), a.dk = rowsOf(dk), a.ds = rowsOf(ds);
        a.dqRel = rowsOf(dqRel), a.dkRel = rowsOf(dkRel);
        torch::Tensor dwr;
        if (a.relations > 0) {
            dwr = torch::zeros({plan->batch, a.heads, a.valueDim, a.relations}, dq.options());
            a.dwr = dwr.mutable_data_ptr<float>();
        }
        runTiles(a, plan->batch, true);
        torch::autograd::variable_list all = {{}, dq, dk, ds};
        if (a.relations > 0) all.insert(all.end(), {dqRel, dwr.sum(0)});
        if (dkRel.defined()) all.push_back(dkRel);
        TORCH_INTERNAL_ASSERT(all.size() == inputs + 1);
        return all;
    }
};

// The library's row of every offset from -(n - 1) to m - 1: [g, n + m - 1, d_h].
torch::Tensor rowsByOffset(const torch::Tensor& library, std::int64_t most, std::int64_t n,
                           std::int64_t m) {
    if (n - 1 <= most && m - 1 <= most) return library.slice(1, most - (n - 1), most + m);
    const auto offsets = torch::arange(-(n - 1), m).clamp(-most, most) + most;
    return library.index_select(1, offsets);
}

}  // namespace

bool hasTiledActivation(const std::string& activation) {
    return std::any_of(kActivations.begin(), kActivations.end(),
                       [&](const auto& known) { return activation == known.first; });
}

bool prefersTiles(std::int64_t tokens, std::int64_t batch) {
    if (tokens <= kShortTiledTokens) return tokens > 1;
    return tokens <= kMostTiledTokens && batch >= at::get_num_threads();
}

bool servesTiles(const torch::Tensor& q, const torch::Tensor& k, bool causal) {
    const auto served = [](const torch::Tensor& x) {
        const auto type = x.scalar_type();
        return x.device().is_cpu() &&
               (type == torch::kFloat || (type == torch::kBFloat16 && roundsProducts())) &&
               x.numel() > 0;
    };
    return served(q) && served(k) && (!causal || q.size(2) == k.size(2));
}

torch::Tensor tiledAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                             std::int64_t maxOffset, const KernelRelations& relations,
                             const KernelOptions& options, const Documents& documents) {
    const auto plan = c10::make_intrusive<TilePlan>();
    auto& a = plan->args;
    a.scale = static_cast<float>(options.scale), a.relScale = static_cast<float>(options.relScale);
    a.causal = options.causal, a.relative = maxOffset >= 0;
    if (documents) {
        plan->firstKey = documents.first.contiguous();
        a.firstKey = plan->firstKey.const_data_ptr<std::int64_t>();
    }
    for (const auto& [name, activation] : kActivations)
        if (options.relActivation == name) a.activation = activation;
    if (options.dropout > 0) {
        a.dropsBelow = static_cast<std::uint32_t>(options.dropout * 4294967296.0);
        a.keepScale = static_cast<float>(1.0 / (1.0 - options.dropout));
        a.seed = static_cast<std::uint64_t>(drawDropoutSeed());
    }
    auto s = v;
    if (a.relative) {
        // Many offsets add to one row's gradient: in float32.
        s = rowsByOffset(widened(v), maxOffset, q.size(2), k.size(2)).unsqueeze(0);
        s = s.expand({q.size(0), s.size(1), s.size(2), s.size(3)});
    }
    torch::autograd::variable_list of;
    if (relations.q.defined()) of = {relations.q, relations.wr};
    if (relations.k.defined()) of.push_back(relations.k);
    return TiledHeads::apply(plan, q, k, s, at::TensorList(of));
}

VectorLevelScope::VectorLevelScope(VectorLevel level) : m_previous(s_level.exchange(level)) {}
VectorLevelScope::~VectorLevelScope() {
    s_level = m_previous;
}

}  // namespace relascope::core
