// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/cuda_check.h"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <mutex>

#include "model/attention/cuda_attention.h"

namespace relascope::core {
namespace {

using kernels::KernelTable;
using Tensors = std::vector<torch::Tensor>;

/// q, k, v, q_rel, k_rel and W_r of one call, and what the output's gradient is made of.
struct Example {
    std::int64_t heads, keyHeads, width, relations, relWidth;
    KernelOptions options;

    // More queries than a tile has, and no multiple of its sides.
    static constexpr std::int64_t kTokens = 37;

    /// Numbers that look random within +-1.7, the same on every device.
    Tensors tensors(torch::ScalarType type, const c10::Device& device) const {
        auto made = [&, seed = 0](const std::vector<std::int64_t>& shape) mutable {
            const auto numbers = torch::arange(c10::multiply_integers(shape), torch::kDouble);
            const auto mixed = ((numbers * (0.7 + 0.1 * ++seed)).sin() * 997.0).frac() * 1.7;
            return mixed.view(shape).to(type).to(device);
        };
        return {made({2, heads, kTokens, width}),        made({2, keyHeads, kTokens, width}),
                made({2, keyHeads, kTokens, width}),     made({2, relations, kTokens, relWidth}),
                made({2, relations, kTokens, relWidth}), made({heads, width, relations}),
                made({2, kTokens, heads * width})};
    }
};

const Example kOdd{4, 2, 12, 5, 6, {0.3, true, 0.0, 0.4}};
// The published model of 343 million parameters.
const Example kPublished{8, 4, 64, 64, 8, {0.125, true, 0.0, 0.35}};

CudaAttentionInput inputOf(const Tensors& x) {
    return {x[0], x[1], x[2], -1, {x[3], x[4], x[5]}};
}

// The results of the kernels for relations without an activation, computed by LibTorch.
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

// The largest difference of an output or gradient, relative to its largest number, of the kernels
// for tensor cores in bfloat16; 0 on a device that they do not serve.
double differenceOnTensorCores(const Example& example, const CheckedKernels& kernels,
                               const c10::Device& device) {
    const auto input = inputOf(example.tensors(torch::kBFloat16, device));
    if (!servesTensorCores(kernels, input, example.options, torch::kBFloat16, true)) return 0.0;
    const auto run = [&](torch::ScalarType computed, const auto& attention) {
        auto x = example.tensors(torch::kBFloat16, device);
        const auto dOut = x.back().to(computed);
        x.pop_back();
        for (auto& each : x) each = each.to(computed).requires_grad_(true);
        const auto out = attention(inputOf(x));
        auto all = torch::autograd::grad({out}, x, {dOut});
        all.push_back(out.detach());
        return all;
    };
    const auto found = run(torch::kBFloat16, [&](const auto& in) {
        return cudaAttention(*kernels.table, in, example.options);
    });
    const auto plain =
        run(torch::kFloat, [&](const auto& in) { return plainly(in, example.options); });
    double most = 0.0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const double each =
            ((found[i].to(torch::kFloat) - plain[i]).abs().max() / plain[i].abs().max())
                .item<double>();
        if (!(each <= most)) most = each;  // NaN too
    }
    return most;
}

// The difference of the kernels for decoding: the last token, given the tokens before it.
double differenceOfDecoding(const Example& example, const CheckedKernels& kernels,
                            const c10::Device& device) {
    const torch::NoGradGuard guard;
    const auto in = inputOf(example.tensors(torch::kFloat, device));
    const auto& r = in.relations;
    const std::int64_t past = Example::kTokens - 1;
    const auto last = [&](const torch::Tensor& x) { return x.slice(2, past); };
    const auto spoilt = [&](torch::Tensor x) {  // the new row is the kernel's to write
        x = x.contiguous().clone();
        x.select(-2, past).zero_();
        return x;
    };
    const KernelCall call{{last(in.q), last(in.k), last(in.v), -1, {last(r.q), last(r.k), r.wr}},
                          example.options};
    const auto found = cuda_calls::decodingBy(
        kernels, call,
        {spoilt(in.k),
         spoilt(in.v),
         spoilt(joinHeads(r.k)),
         {},
         torch::full({1}, past, torch::TensorOptions().dtype(torch::kLong).device(device))});
    const auto expected = plainly(in, example.options).slice(1, past);
    return ((found - expected).abs().max() / expected.abs().max()).item<double>();
}

/// What is wrong with the kernels `named` on a device where their results have that difference.
std::string problemWith(const std::string& named, double bound, const c10::Device& device,
                        const std::function<double()>& difference) {
    const std::string advice =
        "; LibTorch's kernels are used instead. Please report it with the output of relascope-cli "
        "devices";
    try {
        const double found = difference();
        if (found <= bound) return {};
        return named + " differ from LibTorch's on " + device.str() + " by " +
               std::to_string(found) + " of the largest number" + advice;
    } catch (const c10::OutOfMemoryError&) {
        return named + " were not checked, since " + device.str() +
               " has no memory left; LibTorch's kernels are used instead. Free some of its memory "
               "and start again";
    } catch (const std::exception& error) {
        const std::string text = error.what();
        return named + " fail on " + device.str() + " (" + text.substr(0, text.find('\n')) + ")" +
               advice;
    }
}

std::atomic<const CheckedKernels*> s_cpu = nullptr;
std::atomic<bool> s_off = false;

std::mutex s_mutex;
std::map<c10::DeviceIndex, CheckedKernels>& checked() {
    static std::map<c10::DeviceIndex, CheckedKernels> devices;
    return devices;
}

}  // namespace

kernels::KernelProblems cudaKernelProblems(const KernelTable& table, const c10::Device& device) {
    const c10::InferenceMode lasting(false);
    const torch::AutoGradMode gradients(true);
    const c10::impl::ExcludeDispatchKeyGuard asTheyAre(c10::autocast_dispatch_keyset);
    CheckedKernels kernels{&table, {}, {}};
    if (table.deviceLimits(device.is_cpu() ? 0 : device.index(), &kernels.limits) != 0) return {};
    // TF32 may be allowed for LibTorch's products; 16-bit gradients are of weights, relations and
    // sums that were rounded to 8 bits.
    return {problemWith("Relascope's CUDA kernels for decoding", 1e-2, device,
                        [&] { return differenceOfDecoding(kOdd, kernels, device); }),
            problemWith("Relascope's CUDA kernels for bfloat16 and float16", 3e-2, device,
                        [&] { return differenceOnTensorCores(kPublished, kernels, device); })};
}

const CheckedKernels& checkedKernels(const c10::Device& device) {
    static const CheckedKernels none;
    if (s_off) return none;
    if (const auto* kernels = s_cpu.load()) return *kernels;
    if (!device.is_cuda()) return none;
    const KernelTable* table = kernels::kernelTable(device.index());
    if (!table) return none;
    const std::lock_guard lock(s_mutex);
    const auto [entry, first] = checked().try_emplace(device.index());
    auto& kernels = entry->second;  // a map keeps its elements where they are
    if (first && table->deviceLimits(device.index(), &kernels.limits) == 0) {
        kernels.problems = cudaKernelProblems(*table, device);
        kernels.table = table;
        for (const auto& problem : {kernels.problems.decoding, kernels.problems.tensor})
            if (!problem.empty()) std::fprintf(stderr, "relascope: %s\n", problem.c_str());
    }
    return kernels;
}

std::optional<kernels::KernelProblems> foundKernelProblems(int device) {
    const std::lock_guard lock(s_mutex);
    const auto entry = checked().find(static_cast<c10::DeviceIndex>(device));
    if (entry == checked().end()) return std::nullopt;
    return entry->second.problems;
}

NoCudaKernelsScope::NoCudaKernelsScope() {
    s_off = true;
}
NoCudaKernelsScope::~NoCudaKernelsScope() {
    s_off = false;
}

CpuKernelsScope::CpuKernelsScope(const KernelTable& table, kernels::KernelProblems problems)
    : m_kernels{&table, {}, std::move(problems)} {
    (void)table.deviceLimits(0, &m_kernels.limits);
    s_cpu = &m_kernels;
}
CpuKernelsScope::~CpuKernelsScope() {
    s_cpu = nullptr;
}

}  // namespace relascope::core
