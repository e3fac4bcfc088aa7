// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/attention/dropout.h"
#include "model/blocks/fused_layers.h"
#include "model/blocks/fused_norm_body.h"

namespace relascope::core {
namespace {

std::optional<torch::Tensor> given(const torch::Tensor& x) {
    return x.defined() ? std::optional(x) : std::nullopt;
}
const float* dataOf(const torch::Tensor& x) {
    return x.defined() ? x.const_data_ptr<float>() : nullptr;
}
// The kernels only read what is const here.
Numbers numbersOf(const torch::Tensor& x) {
    if (!x.defined()) return {};
    if (x.scalar_type() == torch::kFloat)
        return {const_cast<float*>(x.const_data_ptr<float>()), nullptr};
    return {nullptr, reinterpret_cast<std::uint16_t*>(
                         const_cast<at::BFloat16*>(x.const_data_ptr<at::BFloat16>()))};
}

struct NormSum : torch::autograd::Function<NormSum> {
    using Optional = std::optional<torch::Tensor>;  // autograd takes no undefined tensor

    static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                  const torch::Tensor& input, const Optional& more,
                                                  double p, std::int64_t seed,
                                                  const torch::Tensor& weight,
                                                  const Optional& givenBias, double eps,
                                                  torch::ScalarType normed) {
        const auto bias = givenBias.value_or(torch::Tensor());
        const std::int64_t d = input.size(-1), rows = input.numel() / d;
        const auto x = input.contiguous(), branch = more ? more->contiguous() : torch::Tensor();
        const auto sum = branch.defined() ? torch::empty_like(x) : x;
        auto y = torch::empty(x.sizes(), x.options().dtype(normed)),
             mean = torch::empty({rows}, x.options()), scale = torch::empty({rows}, x.options());
        const Forward a{dataOf(x),
                        dataOf(weight),
                        dataOf(bias),
                        numbersOf(branch),
                        branch.defined() ? sum.mutable_data_ptr<float>() : nullptr,
                        mean.mutable_data_ptr<float>(),
                        scale.mutable_data_ptr<float>(),
                        numbersOf(y),
                        d,
                        static_cast<float>(eps),
                        maskOf(p, seed)};
        at::parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / d),
                         [&](std::int64_t begin, std::int64_t end) { forwardRows(a, begin, end); });
        context->set_materialize_grads(false);
        context->save_for_backward({sum, mean, scale, weight});
        context->saved_data["p"] = p, context->saved_data["seed"] = seed;
        context->saved_data["centred"] = bias.defined();
        context->saved_data["branch"] = branch.defined();
        context->saved_data["half"] = branch.defined() && branch.scalar_type() != torch::kFloat;
        return {sum, y};
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const auto &sum = saved[0], &weight = saved[3];
        const bool centred = context->saved_data["centred"].toBool(),
                   branch = context->saved_data["branch"].toBool();
        const double p = context->saved_data["p"].toDouble();
        const std::int64_t d = sum.size(-1), rows = sum.numel() / d;
        const auto dsum = gradients[0].defined() ? gradients[0].contiguous() : torch::Tensor();
        const auto dy = gradients[1].defined() ? gradients[1].contiguous() : torch::zeros_like(sum);
        // Without dropout the branch has the gradient of x, unless it has another type.
        const bool half = context->saved_data["half"].toBool(), apart = branch && (p > 0 || half);
        auto dx = torch::empty_like(sum), dbranch = dx;
        if (apart)
            dbranch = torch::empty(sum.sizes(),
                                   sum.options().dtype(half ? torch::kBFloat16 : torch::kFloat));
        auto parts = torch::zeros({2, kParts, d}, sum.options());
        const Backward a{dataOf(sum),
                         dataOf(saved[1]),
                         dataOf(saved[2]),
                         dataOf(weight),
                         dataOf(dsum),
                         numbersOf(dy),
                         dx.mutable_data_ptr<float>(),
                         apart ? numbersOf(dbranch) : Numbers(),
                         d,
                         centred,
                         maskOf(p, context->saved_data["seed"].toInt())};
        auto* dweight = parts.mutable_data_ptr<float>();
        auto* dbias = dweight + kParts * d;
        const std::int64_t step = (rows + kParts - 1) / kParts;
        at::parallel_for(0, kParts, std::max<std::int64_t>(1, kGrain / (step * d)),
                         [&](std::int64_t begin, std::int64_t end) {
                             for (std::int64_t part = begin; part < end; ++part)
                                 backwardRows(a, std::min(rows, part * step),
                                              std::min(rows, (part + 1) * step), dweight + part * d,
                                              dbias + part * d);
                         });
        const auto sums = parts.sum(1);
        const torch::Tensor none;
        return {dx,      branch ? dbranch : none,  none, none,
                sums[0], centred ? sums[1] : none, none, none};
    }
};

struct DroppedSum : torch::autograd::Function<DroppedSum> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const torch::Tensor& input, const torch::Tensor& more, double p,
                                 std::int64_t seed) {
        const auto x = input.contiguous(), branch = more.contiguous();
        auto sum = torch::empty_like(x);
        const auto mask = maskOf(p, seed);
        const auto* first = dataOf(x);
        const auto second = numbersOf(branch);
        auto* to = sum.mutable_data_ptr<float>();
        at::parallel_for(0, x.numel() / kLanes, kGrain / kLanes,
                         [&](std::int64_t begin, std::int64_t end) {
                             addCells(first, second, to, mask, begin * kLanes, end * kLanes);
                         });
        context->saved_data["p"] = p, context->saved_data["seed"] = seed;
        return sum;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto& g = gradients[0];
        const std::int64_t d = g.size(-1), rows = g.numel() / d;
        const auto dropped = dropoutRows(g.reshape({rows, d}), context->saved_data["p"].toDouble(),
                                         context->saved_data["seed"].toInt(), 0, rows, d);
        return {g, dropped.view(g.sizes()), torch::Tensor(), torch::Tensor()};
    }
};

}  // namespace

bool hasFusedNorm(const torch::Tensor& x) {
    return x.device().is_cpu() && x.scalar_type() == torch::kFloat &&
           x.layout() == torch::kStrided && x.numel() >= kGrain && x.size(-1) % kLanes == 0;
}

NormedSum fusedNormedSum(const torch::Tensor& x, const torch::Tensor& branch, double p,
                         const NormWeights& norm, torch::ScalarType normed) {
    const bool drops = branch.defined() && p > 0;
    const auto both =
        NormSum::apply(x, given(branch), drops ? p : 0.0, drops ? drawDropoutSeed() : 0,
                       norm.weight, given(norm.bias), norm.eps, normed);
    return {both[0], both[1]};
}

torch::Tensor fusedSum(const torch::Tensor& x, const torch::Tensor& branch, double p) {
    if (p > 0) return DroppedSum::apply(x, branch, p, drawDropoutSeed());
    return branch.scalar_type() == x.scalar_type() ? x + branch
                                                   : DroppedSum::apply(x, branch, 0.0, 0);
}

}  // namespace relascope::core
