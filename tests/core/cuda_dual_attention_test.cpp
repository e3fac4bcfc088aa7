// SPDX-License-Identifier: GPL-3.0-or-later
// Dual attention by the CUDA kernels for few tokens, here compiled for the CPU: outputs and every
// gradient against the plain form in double precision, masks of dropout, and a model's step.
#include "model/attention/cuda_attention.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/utils.h>

#include <gtest/gtest.h>

#include "model/blocks/dual_attention.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"
#include "model/model.h"
#include "options/presets.h"
#include "support/form_results.h"
#include "support/host_kernels.h"
#include "support/model_fields.h"
#include "support/relational_cases.h"

namespace relascope::core {
namespace {

// The compiled kernels, counting launches; with less shared memory where a test asks for it.
int s_small = 0, s_others = 0;
std::size_t s_sharedLimit = 0;
const kernels::KernelTable& smallKernels() {
    static const auto table = [] {
        auto counting = compiledKernels();
        counting.smallForward = [](const kernels::SmallArgs* args, void* stream) {
            return ++s_small, compiledKernels().smallForward(args, stream);
        };
        counting.smallBackward = [](const kernels::SmallArgs* args, void* stream) {
            return ++s_small, compiledKernels().smallBackward(args, stream);
        };
        counting.relForward = [](const kernels::RelArgs* args, void* stream) {
            return ++s_others, compiledKernels().relForward(args, stream);
        };
        counting.deviceLimits = [](int device, kernels::DeviceLimits* limits) {
            const int error = compiledKernels().deviceLimits(device, limits);
            if (s_sharedLimit > 0) limits->sharedBytes = s_sharedLimit;
            return error;
        };
        return counting;
    }();
    return table;
}

StackOptions smallStack() {
    StackOptions s;
    s.d_model = 24, s.dual = true;
    s.block.n_heads_sa = s.block.n_heads_ra = 4;
    s.block.n_relations = 6, s.block.rel_proj_dim = 5;
    s.block.dropout_rate = 0, s.block.symmetric_rels = false;
    return s;
}

class CudaDualAttention : public testing::Test {
protected:
    CudaDualAttention() : m_scope(smallKernels()) { s_small = s_others = 0; }
    ~CudaDualAttention() override { s_sharedLimit = 0; }

    // In double precision no kernel serves, so that the plain form computes.
    void expectAgrees(const StackOptions& options, const SymbolKind& kind, std::int64_t n,
                      const std::string& what) {
        torch::manual_seed(3);
        DualAttentionImpl module(options);
        const Tensors inputs = {torch::randn({2, n, options.d_model}),
                                randomSymbols(kind, 2, n, options.d_model)};
        const auto forward = [&](const Tensors& in) {
            return module.forward(in[0], symbolsOf(kind, in[1]), HookedModule(""));
        };
        Tensors wide;
        for (const auto& input : inputs) wide.push_back(input.to(torch::kDouble));
        module.to(torch::kDouble);
        const auto plain = resultsOf(module, wide, forward);
        module.to(torch::kFloat);
        s_small = s_others = 0;
        expectNear(plain, resultsOf(module, inputs, forward), 1e-5, what);
        EXPECT_EQ(s_small, 2) << what;
        EXPECT_EQ(s_others, 0) << what;
    }

private:
    CpuKernelsScope m_scope;
};

TEST_F(CudaDualAttention, AgreesForEveryKindOfHeadAndSymbol) {
    for (const bool causal : {false, true})
        for (const int kv : {0, 2})
            for (const bool symmetric : {false, true})
                for (const auto& kind : kSymbolKinds) {
                    auto s = smallStack();
                    s.causal = s.rope = causal, s.block.sa_n_kv_heads = s.block.ra_n_kv_heads = kv;
                    s.block.symmetric_rels = symmetric;
                    s.block.sa_key_dim = s.block.ra_key_dim = 4;
                    expectAgrees(s, kind, 19,
                                 std::string(kind.name) + (causal ? " causal" : "") +
                                     (symmetric ? " symmetric" : "") + " kv " + std::to_string(kv));
                }
}

TEST_F(CudaDualAttention, AgreesForEveryActivationAndBias) {
    for (const char* activation : {"identity", "relu", "sigmoid", "tanh", "gelu", "silu"}) {
        auto s = smallStack();
        s.block.rel_activation = activation;
        s.block.sa_add_bias_kv = s.block.ra_add_bias_out = true;
        s.block.share_attn_params = true;
        expectAgrees(s, kSymbolKinds[0], 9, activation);
    }
}

TEST_F(CudaDualAttention, AgreesForOneKindAloneAndForCrossAttention) {
    auto s = smallStack();
    s.block.n_heads_sa = 0;
    expectAgrees(s, kSymbolKinds[1], 9, "relational alone");
    s = smallStack();
    s.block.n_heads_ra = 0;
    expectAgrees(s, kSymbolKinds[0], 9, "sensory alone");
    s = smallStack();
    s.block.ra_type = "rca";
    expectAgrees(s, kSymbolKinds[0], 9, "rca");
    expectAgrees(s, kSymbolKinds[2], 9, "rca, relative");
}

// Each key head has a block of its own: gradients of relations are sums over them.
TEST_F(CudaDualAttention, AgreesWhereHeadsAreDivided) {
    s_sharedLimit = 12 * 1024;
    for (const bool symmetric : {false, true}) {
        auto s = smallStack();
        s.block.symmetric_rels = symmetric;
        expectAgrees(s, kSymbolKinds[0], 19, symmetric ? "symmetric" : "");
    }
}

TEST_F(CudaDualAttention, IsNotUsedWhereItDoesNotServe) {
    const auto launches = [](const StackOptions& options, std::int64_t n,
                             AttentionForm form = AttentionForm::Automatic) {
        const torch::NoGradGuard guard;
        DualAttentionImpl module(options);
        if (module.relational_attention) module.relational_attention->form = form;
        s_small = 0;
        const auto x = torch::randn({2, n, options.d_model});
        module.forward(x, {x, -1}, HookedModule(""));
        return s_small;
    };
    auto s = smallStack();
    EXPECT_EQ(launches(s, 10), 1);
    EXPECT_EQ(launches(s, 10, AttentionForm::Cuda), 1);
    // The sensory heads alone.
    EXPECT_EQ(launches(s, 10, AttentionForm::Explicit), 1);
    s.block.ra_type = "disrca";
    EXPECT_EQ(launches(s, 10), 1);
    s = smallStack();
    s.block.rel_activation = "softmax";
    EXPECT_EQ(launches(s, 10), 1);
    s = smallStack();
    EXPECT_EQ(launches(s, 1000), 0) << "scores that fit no block";
    s.causal = true;
    DecodingCache cache(10);
    const CacheScope scope(cache);
    EXPECT_EQ(launches(s, 10), 0) << "with a cache";
}

// The same states of the generator give the same masks as the kernels of one kind of heads.
TEST_F(CudaDualAttention, DropsWhatTheSeparateKernelsDrop) {
    torch::manual_seed(3);
    const auto random = [](std::vector<std::int64_t> shape) {
        return torch::randn(shape, torch::requires_grad());
    };
    const KernelCall sensory{{random({2, 4, 30, 6}), random({2, 2, 30, 6}), random({2, 2, 30, 5})},
                             {0.4, true, 0.3}};
    const KernelCall relational{{random({2, 3, 30, 6}),
                                 random({2, 3, 30, 6}),
                                 random({3, 9, 5}),
                                 4,
                                 {random({2, 3, 30, 4}), random({2, 3, 30, 4}), random({3, 5, 3})}},
                                {0.4, true, 0.2, 0.5, "tanh"}};
    const auto results = [&](bool together) {
        torch::manual_seed(7);
        Tensors out;
        if (together)
            out = smallAttention({sensory, relational});
        else
            for (const auto& call : {sensory, relational})
                out.push_back(cudaAttention(call.in, call.options, CudaKernels::Float32));
        Tensors leaves = {sensory.in.q, sensory.in.k, sensory.in.v};
        for (const auto& x :
             {relational.in.q, relational.in.k, relational.in.v, relational.in.relations.q,
              relational.in.relations.k, relational.in.relations.wr})
            leaves.push_back(x);
        auto all = torch::autograd::grad(
            {(out[0] * out[0].detach().cos()).sum() + (out[1] * out[1].detach().cos()).sum()},
            leaves);
        all.insert(all.end(), out.begin(), out.end());
        return all;
    };
    const auto together = results(true);
    EXPECT_EQ(s_small, 2);
    expectNear(results(false), together, 1e-5, "masks");
    EXPECT_EQ(s_others, 2);
    const auto again = results(true);
    for (std::size_t i = 0; i < again.size(); ++i)
        EXPECT_TRUE(torch::equal(again[i], together[i])) << "the same bits, tensor " << i;
    const auto other = smallAttention({sensory, relational});
    EXPECT_GT((other[0] - together[9]).abs().max().item<double>(), 0.1) << "other masks";
    EXPECT_GT((other[1] - together[10]).abs().max().item<double>(), 0.1) << "other masks";
}

// What the backward pass keeps must not keep itself.
TEST_F(CudaDualAttention, ReleasesWhatWasSaved) {
    const auto x = torch::randn({2, 4, 9, 6}, torch::requires_grad());
    auto out = smallAttention({{{x, x, x}, {}}});
    std::weak_ptr<torch::autograd::Node> kernels;
    for (auto node = out[0].grad_fn(); node && kernels.expired();
         node = node->next_edges().empty() ? nullptr : node->next_edges()[0].function)
        if (node->name().find("SmallHeads") != std::string::npos) kernels = node;
    ASSERT_FALSE(kernels.expired());
    out.clear();
    EXPECT_TRUE(kernels.expired());
}

// A step of the published model of Relational Games, without dropout.
TEST_F(CudaDualAttention, TrainsTheModelOfRelationalGames) {
    for (const char* variant : {"dat", "dat-relational-asymmetric", "transformer", "dat-rca"}) {
        auto options = presetOptions("relational-games-same", variant).model;
        put(options, "dropout_rate", 0.0);
        torch::manual_seed(3);
        const auto model = makeModel(options);
        const auto images = torch::rand({3, 3, 36, 36});
        const auto labels = torch::tensor({0, 1, 1});
        const auto step = [&](torch::ScalarType type) {
            model->to(type);
            const auto loss = torch::cross_entropy_loss(model->forward(images.to(type)), labels);
            auto all = torch::autograd::grad({loss}, model->parameters(), {}, std::nullopt, false,
                                             /*allow_unused=*/true);
            all.push_back(loss.detach());
            return all;
        };
        const auto plain = step(torch::kDouble);
        s_small = 0;
        expectNear(plain, step(torch::kFloat), 1e-5, variant);
        EXPECT_EQ(s_small, 4) << variant << ": two layers, both ways";
    }
}

}  // namespace
}  // namespace relascope::core
