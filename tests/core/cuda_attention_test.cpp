// SPDX-License-Identifier: GPL-3.0-or-later
// Modules that use the CUDA kernels, here compiled for the CPU, against the explicit form in double
// precision: outputs, every gradient, caches and dropout. The kernels themselves are tested in
// tests/kernels.
#include "model/attention/cuda_attention.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/utils.h>

#include "model/attention/relational_attention.h"
#include "model/decode/cache.h"
#include "support/form_results.h"
#include "support/host_kernels.h"
#include "support/relational_cases.h"
#include "support/small_memory.h"

namespace relascope::core {
namespace {

class CudaAttention : public testing::Test {
protected:
    CudaAttention() : m_scope(hostKernels()) {}

    template <class Module, class Forward>
    void expectAgrees(Module& module, const Tensors& inputs, const Forward& forward,
                      const std::string& what) {
        const auto plain = explicitResultsOf(module, inputs, forward);
        module.form = AttentionForm::Cuda;
        kernelCalls() = {};
        expectNear(plain, resultsOf(module, inputs, forward), 1e-5, what);
        EXPECT_EQ(kernelCalls(), (KernelCalls{1, 1})) << what;
    }
    void expectRelational(RelationalOptions o, std::int64_t n, const SymbolKind& kind) {
        o.output_dropout = 0.0;
        torch::manual_seed(3);
        RelationalAttentionImpl module(o);
        const auto x = torch::randn({2, n, o.d_model}), s = randomSymbols(kind, 2, n, o.d_model);
        const auto forward = [&](const Tensors& in) {
            return module.forward(in[0], symbolsOf(kind, in[1]));
        };
        expectAgrees(module, {x, s}, forward, describe(o, n, kind));
    }

private:
    CpuKernelsScope m_scope;
};

TEST_F(CudaAttention, AgreesForEveryKindOfHeadAndSymbol) {
    for (const bool causal : {false, true})
        for (const int kv : {0, 2})
            for (const bool symmetric : {false, true})
                for (const auto& kind : kSymbolKinds) {
                    auto o = smallHeads();
                    o.causal = causal, o.n_kv_heads = kv, o.symmetric_rels = symmetric;
                    o.rope = causal, o.key_dim = o.rope ? 4 : 0;
                    expectRelational(o, 19, kind);
                }
}

TEST_F(CudaAttention, AgreesForEveryActivation) {
    for (const char* activation : {"identity", "relu", "sigmoid", "tanh", "gelu", "silu"}) {
        auto o = smallHeads();
        o.rel_activation = activation;
        expectRelational(o, 12, kSymbolKinds[0]);
    }
}

TEST_F(CudaAttention, AgreesForSensoryAndCrossAttention) {
    for (const auto& [n, m] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{10, 10}, {9, 33}, {21, 5}}) {
        HeadOptions o;
        o.d_model = 24, o.n_heads = 4, o.head_dim = 6, o.n_kv_heads = 2;
        o.causal = n == m;
        torch::manual_seed(3);
        AttentionImpl module(o);
        const bool self = n == m;
        const auto forward = [&](const Tensors& in) {
            const auto& from = self ? in[0] : in[1];
            return module.forward(in[0], from, from) + 0.0 * in[1].sum();
        };
        expectAgrees(module, {torch::randn({2, n, 24}), torch::randn({2, m, 24})}, forward,
                     "n " + std::to_string(n) + " m " + std::to_string(m));
    }
}

TEST_F(CudaAttention, AgreesForRelationalCrossAttention) {
    for (const auto& kind : kSymbolKinds) {
        auto o = smallHeads();
        o.causal = true;
        torch::manual_seed(3);
        RelationalCrossAttentionImpl module(o);
        const auto forward = [&](const Tensors& in) {
            return module.forward(in[0], symbolsOf(kind, in[1]));
        };
        expectAgrees(module, {torch::randn({2, 17, 12}), randomSymbols(kind, 2, 17, 12)}, forward,
                     kind.name);
    }
}

// Token by token with a cache as all at once.
TEST_F(CudaAttention, ContinuesACache) {
    const torch::NoGradGuard guard;
    auto o = smallHeads();
    o.causal = true, o.rope = true, o.key_dim = 4;
    torch::manual_seed(3);
    RelationalAttentionImpl module(o);
    const auto x = torch::randn({2, 11, 12}), s = torch::randn({2, 11, 12});
    module.form = AttentionForm::Explicit;
    const auto whole = module.forward(x, {s, -1});
    module.form = AttentionForm::Cuda;
    DecodingCache cache(11);
    const CacheScope scope(cache);
    std::int64_t past = 0;
    kernelCalls() = {};
    for (const std::int64_t count : {4, 1, 1, 5}) {
        const auto part =
            module.forward(x.slice(1, past, past + count), {s.slice(1, past, past + count), -1});
        EXPECT_LT((part - whole.slice(1, past, past + count)).abs().max().item<double>(), 1e-5)
            << "after " << past;
        past += count;
        cache.advance(count);
    }
    EXPECT_EQ(kernelCalls(), (KernelCalls{.forward = 2, .decode = 2}));
}

// The output is linear in the values and in W_r, so that with the same mask in both passes
// <dv, v> + <dW_r, W_r> = <dOut, out>.
TEST_F(CudaAttention, DropsTheSameWeightsInBothPasses) {
    torch::manual_seed(3);
    const auto random = [](std::vector<std::int64_t> shape) {
        return torch::randn(shape, torch::requires_grad());
    };
    const auto q = random({2, 4, 30, 6}), k = random({2, 2, 30, 6}), v = random({2, 2, 30, 5});
    const KernelRelations relations{random({2, 3, 30, 4}), random({2, 3, 30, 4}),
                                    random({4, 5, 3})};
    const CudaAttentionInput in{q, k, v, -1, relations};
    const auto run = [&](double p) {
        torch::manual_seed(7);
        return cudaAttention(in, {0.4, true, p, 0.5}, CudaKernels::Float32);
    };
    const auto out = run(0.3);
    EXPECT_TRUE(torch::equal(out, run(0.3))) << "the same seed";
    EXPECT_FALSE(torch::equal(out, cudaAttention(in, {0.4, true, 0.3, 0.5}, CudaKernels::Float32)))
        << "another one";
    EXPECT_GT((out - run(0.0)).abs().max().item<double>(), 0.1);
    const auto dOut = torch::randn_like(out);
    const auto gradients = torch::autograd::grad({out}, {v, relations.wr}, {dOut});
    const double mixed = (gradients[0] * v).sum().item<double>() +
                         (gradients[1] * relations.wr).sum().item<double>();
    EXPECT_NEAR(mixed, (dOut * out).sum().item<double>(), 1e-3);
    // The mean over many masks is what there is without dropout.
    auto mean = torch::zeros_like(out);
    for (int seed = 0; seed < 200; ++seed)
        mean += cudaAttention(in, {0.4, true, 0.3, 0.5}, CudaKernels::Float32);
    EXPECT_LT((mean / 200 - run(0.0)).abs().mean().item<double>(),
              0.2 * (out - run(0.0)).abs().mean().item<double>());
}

// What the backward pass keeps must not keep itself.
TEST_F(CudaAttention, ReleasesWhatWasSaved) {
    const auto x = torch::randn({2, 4, 9, 6}, torch::requires_grad());
    auto out =
        cudaAttention({x, x, x, -1, {x, x, torch::randn({4, 6, 4})}}, {}, CudaKernels::Float32);
    std::vector<std::shared_ptr<torch::autograd::Node>> nodes = {out.grad_fn()};
    std::weak_ptr<torch::autograd::Node> kernels;
    while (!nodes.empty() && kernels.expired()) {
        const auto node = nodes.back();
        nodes.pop_back();
        if (node->name().find("CudaHeads") != std::string::npos) kernels = node;
        for (const auto& edge : node->next_edges())
            if (edge.function) nodes.push_back(edge.function);
    }
    ASSERT_FALSE(kernels.expired());
    nodes.clear();
    out = torch::Tensor();
    EXPECT_TRUE(kernels.expired());
}

TEST_F(CudaAttention, ServesWhatFitsADevice) {
    const auto input = [](std::int64_t heads, std::int64_t width, torch::ScalarType type) {
        const auto x = torch::randn({2, heads, 9, width}, type);
        return CudaAttentionInput{x, x, x};
    };
    const auto serving = [](const CudaAttentionInput& in, const KernelOptions& options = {}) {
        return servingCuda(in, options);
    };
    EXPECT_EQ(serving(input(4, 8, torch::kFloat)), CudaKernels::Float32);
    EXPECT_EQ(serving(input(4, 8, torch::kBFloat16)), CudaKernels::Float32) << "widened";
    EXPECT_EQ(serving(input(4, 8, torch::kDouble)), CudaKernels::None);
    EXPECT_EQ(serving(input(512, 64, torch::kFloat)), CudaKernels::None) << "more than 227 KB";
    KernelOptions softmax;
    softmax.relActivation = "softmax";
    EXPECT_EQ(serving(input(4, 8, torch::kFloat), softmax), CudaKernels::None);
}

TEST(CudaKernelCheck, FindsFloat32KernelsThatAreWrong) {
    EXPECT_EQ(cudaKernelProblems(hostKernels(), torch::kCPU).float32, "");
    auto wrong = hostKernels();
    wrong.relForward = [](const kernels::RelArgs* args, void* stream) {
        auto other = *args;
        other.relScale *= 1.05;
        return compiledKernels().relForward(&other, stream);
    };
    const auto found = cudaKernelProblems(wrong, torch::kCPU);
    EXPECT_NE(found.float32.find("kernels differ from LibTorch's on cpu"), std::string::npos);
    EXPECT_EQ(found.tensor, "");
    wrong = hostKernels();
    wrong.relBackward = [](const kernels::RelArgs* args, void* stream) {
        auto other = *args;
        other.relScale *= 1.05;
        return compiledKernels().relBackward(&other, stream);
    };
    EXPECT_NE(cudaKernelProblems(wrong, torch::kCPU).float32, "") << "gradients";
    wrong = hostKernels();
    wrong.smallBackward = [](const kernels::SmallArgs* args, void* stream) {
        auto other = *args;
        other.parts[0].dwr.head = 0;
        return compiledKernels().smallBackward(&other, stream);
    };
    EXPECT_NE(cudaKernelProblems(wrong, torch::kCPU).float32, "") << "of those for few tokens";
    wrong = hostKernels();
    wrong.decode = [](const kernels::DecodeArgs* args, void* stream) {
        auto other = *args;
        other.scale *= 1.2;
        return compiledKernels().decode(&other, stream);
    };
    EXPECT_NE(cudaKernelProblems(wrong, torch::kCPU).float32, "") << "of decoding";
    wrong = hostKernels();
    wrong.relForward = [](const kernels::RelArgs*, void*) { return 1; };
    EXPECT_NE(cudaKernelProblems(wrong, torch::kCPU).float32.find("fail on cpu ("),
              std::string::npos);
}

TEST(CudaKernelCheck, FindsTensorKernelsThatAreWrong) {
    EXPECT_EQ(cudaKernelProblems(hostKernels(), torch::kCPU).tensor, "");
    auto wrong = hostKernels();
    wrong.relTensorForward = [](const kernels::RelArgs* args, void* stream) {
        auto other = *args;
        other.relScale *= 1.1;
        return compiledKernels().relTensorForward(&other, stream);
    };
    const auto found = cudaKernelProblems(wrong, torch::kCPU);
    EXPECT_NE(found.tensor.find("for bfloat16 and float16 differ from LibTorch's on cpu"),
              std::string::npos)
        << found.tensor;
    EXPECT_EQ(found.float32, "");
    wrong = hostKernels();
    wrong.relTensorBackward = [](const kernels::RelArgs* args, void* stream) {
        auto other = *args;
        other.relScale *= 1.1;
        return compiledKernels().relTensorBackward(&other, stream);
    };
    EXPECT_NE(cudaKernelProblems(wrong, torch::kCPU).tensor, "");
    // A device that they do not serve has no problem with them.
    kernelCalls() = {};
    wrong.deviceLimits = [](int, kernels::DeviceLimits* limits) {
        *limits = {7, 5, 40, 65536};
        return 0;
    };
    EXPECT_EQ(cudaKernelProblems(wrong, torch::kCPU).tensor, "");
    EXPECT_EQ(kernelCalls(), (KernelCalls{2, 2, 0, 0, 1}))
        << "those for few tokens and for decoding too";
}

TEST(CudaKernelCheck, TellsMemoryFromResults) {
    testing_support::SmallMemory memory;
    memory.limit = memory.live() + 1000;
    const auto found = cudaKernelProblems(hostKernels(), torch::kCPU);
    for (const auto& problem : {found.float32, found.tensor}) {
        EXPECT_NE(problem.find("were not checked, since cpu has no memory left"), std::string::npos)
            << problem;
        EXPECT_EQ(problem.find("report"), std::string::npos) << problem;
    }
}

// A training step may be the first to ask.
TEST(CudaKernelCheck, IsTheSameUnderAutocast) {
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const auto found = cudaKernelProblems(hostKernels(), torch::kCPU);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    EXPECT_EQ(found.float32, "");
    EXPECT_EQ(found.tensor, "");
}

TEST(CudaAttentionForm, IsNotUsedWithoutKernels) {
    auto o = smallHeads();
    torch::manual_seed(3);
    RelationalAttentionImpl module(o);
    const auto x = torch::randn({2, 9, 12});
    module.form = AttentionForm::Explicit;
    const auto plain = module.forward(x, {x, -1});
    module.form = AttentionForm::Cuda;
    kernelCalls() = {};
    EXPECT_TRUE(torch::equal(module.forward(x, {x, -1}), plain));
    EXPECT_EQ(kernelCalls(), KernelCalls{});
}

}  // namespace
}  // namespace relascope::core
