// SPDX-License-Identifier: GPL-3.0-or-later
// Relational heads that continue a cache by the CUDA kernels, here compiled for the CPU, and the
// check of all kernels before their first use. Tensor cores: cuda_tensor_attention_test.cpp; the
// kernels themselves: tests/kernels.
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

// Token by token with a cache as all at once.
TEST(CudaAttention, ContinuesACache) {
    const CpuKernelsScope kernels(hostKernels());
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
    EXPECT_EQ(kernelCalls(), (KernelCalls{.decode = 2}));
}

TEST(CudaKernelCheck, FindsDecodingThatIsWrong) {
    EXPECT_EQ(cudaKernelProblems(hostKernels(), torch::kCPU).decoding, "");
    auto wrong = hostKernels();
    wrong.decode = [](const kernels::DecodeArgs* args, void* stream) {
        auto other = *args;
        other.scale *= 1.2;
        return compiledKernels().decode(&other, stream);
    };
    const auto found = cudaKernelProblems(wrong, torch::kCPU);
    EXPECT_NE(found.decoding.find("kernels for decoding differ from LibTorch's on cpu"),
              std::string::npos)
        << found.decoding;
    EXPECT_EQ(found.tensor, "");
    wrong.decode = [](const kernels::DecodeArgs*, void*) { return 1; };
    EXPECT_NE(cudaKernelProblems(wrong, torch::kCPU).decoding.find("fail on cpu ("),
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
    EXPECT_EQ(found.decoding, "");
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
    EXPECT_EQ(kernelCalls(), (KernelCalls{.decode = 1}));
}

TEST(CudaKernelCheck, TellsMemoryFromResults) {
    testing_support::SmallMemory memory;
    memory.limit = memory.live() + 1000;
    const auto found = cudaKernelProblems(hostKernels(), torch::kCPU);
    for (const auto& problem : {found.decoding, found.tensor}) {
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
    EXPECT_EQ(found.decoding, "");
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
