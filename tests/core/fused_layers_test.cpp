// SPDX-License-Identifier: GPL-3.0-or-later
// Activations, norms and residuals in one pass against the plain form in double: values, gradients,
// the dropout mask and repeatability.
#include <gtest/gtest.h>

#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "model/attention/dropout.h"
#include "model/blocks/fused_layers.h"
#include "model/blocks/layers.h"

namespace relascope::core {
namespace {

using Tensors = std::vector<torch::Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

// The outputs and the gradients of all inputs.
Tensors resultsOf(const Function& function, const Tensors& inputs, torch::ScalarType type) {
    torch::manual_seed(5);  // for the masks
    Tensors leaves;
    for (const auto& input : inputs)
        leaves.push_back(input.detach().to(type).clone().requires_grad_(true));
    auto all = function(leaves);
    auto loss = torch::zeros({}, all[0].options());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto weights = torch::arange(all[i].numel(), all[i].options()).sin().view_as(all[i]);
        loss = loss + (all[i] * weights).sum() * static_cast<double>(i + 1);
    }
    const auto gradients = torch::autograd::grad({loss}, leaves);
    all.insert(all.end(), gradients.begin(), gradients.end());
    return all;
}

void expectAgree(const Function& fused, const Function& plain, const Tensors& inputs) {
    const auto fast = resultsOf(fused, inputs, torch::kFloat),
               again = resultsOf(fused, inputs, torch::kFloat),
               exact = resultsOf(plain, inputs, torch::kDouble);
    ASSERT_EQ(fast.size(), exact.size());
    for (std::size_t i = 0; i < fast.size(); ++i) {
        ASSERT_EQ(fast[i].sizes(), exact[i].sizes());
        const double size = std::max(1.0, exact[i].abs().max().item<double>());
        EXPECT_LT((fast[i] - exact[i]).abs().max().item<double>(), 3e-6 * size) << "tensor " << i;
        EXPECT_TRUE(torch::equal(fast[i], again[i])) << "tensor " << i;
    }
}

Tensors normed(const Tensors& in, bool layer, double p, bool fused) {
    auto norm = Norm(in[0].size(-1), layer ? "layernorm" : "rmsnorm");
    norm->weight = in[1];
    if (layer) norm->bias = in[2];
    const auto branch = in.size() > 3 ? in[3] : torch::Tensor();
    if (fused) {
        const auto both = norm->ofSum(in[0], branch, p);
        return {both.sum, both.normed};
    }
    const auto sum = branch.defined() ? in[0] + dropout(branch, p) : in[0] * 1.0;
    if (layer) return {sum, torch::layer_norm(sum, {sum.size(-1)}, in[1], in[2], 1e-5)};
    return {sum,
            sum * torch::rsqrt(sum.square().mean(-1, true) + 1e-5) * in[1] + 0.0 * in[2].sum()};
}

TEST(FusedLayers, NormsOfSumsAgree) {
    torch::manual_seed(1);
    for (const auto& shape :
         std::vector<std::vector<std::int64_t>>{{41, 10, 128}, {3, 65, 384}, {1030, 16}})
        for (const bool layer : {true, false})
            for (const double p : {-1.0, 0.0, 0.3}) {
                const std::int64_t d = shape.back();
                Tensors in = {torch::randn(shape) * 2 + 1, torch::randn({d}), torch::randn({d})};
                if (p >= 0) in.push_back(torch::randn(shape));
                ASSERT_TRUE(hasFusedNorm(in[0]));
                const auto fused = [&](const Tensors& x) {
                    auto all = normed(x, layer, std::max(p, 0.0), true);
                    if (!layer) all[1] = all[1] + 0.0 * x[2].sum();
                    return all;
                };
                const auto plain = [&](const Tensors& x) {
                    return normed(x, layer, std::max(p, 0.0), false);
                };
                expectAgree(fused, plain, in);
            }
}

TEST(FusedLayers, TakeInputsThatAreNotContiguous) {
    torch::manual_seed(1);
    const auto turn = [](const Tensors& in) {
        return Tensors{in[0].transpose(0, 1), in[1], in[2], in[3].transpose(0, 1)};
    };
    const Tensors in = {torch::randn({6, 50, 64}), torch::randn({64}), torch::randn({64}),
                        torch::randn({6, 50, 64})};
    expectAgree([&](const Tensors& x) { return normed(turn(x), true, 0.2, true); },
                [&](const Tensors& x) { return normed(turn(x), true, 0.2, false); }, in);
}

TEST(FusedLayers, SumOrNormAloneHasGradients) {
    torch::manual_seed(1);
    const Tensors in = {torch::randn({300, 64}), torch::randn({64}), torch::randn({64}),
                        torch::randn({300, 64})};
    for (const std::size_t only : {0U, 1U}) {
        const auto pick = [&](const Tensors& x, bool fused) {
            const auto unused = 0.0 * (x[1].sum() + x[2].sum());
            return Tensors{normed(x, true, 0.2, fused)[only] + unused};
        };
        expectAgree([&](const Tensors& x) { return pick(x, true); },
                    [&](const Tensors& x) { return pick(x, false); }, in);
    }
}

TEST(FusedLayers, SumsHaveTheMaskOfDropout) {
    torch::manual_seed(1);
    const Tensors in = {torch::randn({7, 40, 64}), torch::randn({7, 40, 64})};
    for (const double p : {0.0, 0.1, 0.7})
        expectAgree([&](const Tensors& x) { return Tensors{addDropped(x[0], x[1], p)}; },
                    [&](const Tensors& x) { return Tensors{x[0] + dropout(x[1], p)}; }, in);
}

TEST(FusedLayers, ActivationsAgree) {
    torch::manual_seed(1);
    const Tensors in = {torch::randn({150, 117}) * 4, torch::randn({150, 117})};
    ASSERT_TRUE(hasFusedActivation(in[0]));
    expectAgree([](const Tensors& x) { return Tensors{fusedGelu(x[0])}; },
                [](const Tensors& x) { return Tensors{torch::gelu(x[0], "tanh")}; }, {in[0]});
    expectAgree([](const Tensors& x) { return Tensors{fusedSwiglu(x[0], x[1])}; },
                [](const Tensors& x) { return Tensors{torch::silu(x[0]) * x[1]}; }, in);
}

TEST(FusedLayers, ActivationsOfExtremesAreExact) {
    const auto x =
        torch::tensor({-1e30F, -200.0F, -20.0F, 0.0F, 20.0F, 200.0F, 1e30F, NAN}).repeat({4096});
    const auto gelu = fusedGelu(x), swiglu = fusedSwiglu(x, torch::ones_like(x));
    for (const auto& y : {gelu, swiglu}) {
        EXPECT_LT(y.slice(0, 1, 4).abs().max().item<double>(), 1e-6);
        EXPECT_TRUE(torch::equal(y.slice(0, 3, 4), x.slice(0, 3, 4)));
        EXPECT_LT((y.slice(0, 4, 7) / x.slice(0, 4, 7) - 1).abs().max().item<double>(), 1e-6);
        EXPECT_TRUE(y[7].isnan().item<bool>());
    }
}

// Whoever counts threads in another way must get the same bits.
TEST(FusedLayers, DoNotDependOnTheThreads) {
    torch::manual_seed(1);
    const Tensors in = {torch::randn({900, 64}), torch::randn({64}), torch::randn({64}),
                        torch::randn({900, 64})};
    const auto run = [&] {
        return resultsOf([](const Tensors& x) { return normed(x, true, 0.2, true); }, in,
                         torch::kFloat);
    };
    const int threads = torch::get_num_threads();
    torch::set_num_threads(1);
    const auto one = run();
    torch::set_num_threads(3);
    const auto three = run();
    torch::set_num_threads(threads);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(torch::equal(one[i], three[i]));
}

TEST(FusedLayers, OthersKeepThePlainForm) {
    EXPECT_FALSE(hasFusedNorm(torch::randn({4, 64})));
    EXPECT_FALSE(hasFusedNorm(torch::randn({4096, 20})));
    for (const auto& options :
         {torch::TensorOptions(torch::kDouble), torch::TensorOptions(torch::kMeta),
          torch::TensorOptions(torch::kBFloat16)}) {
        const auto x = torch::zeros({4096, 64}, options);
        EXPECT_FALSE(hasFusedNorm(x));
        EXPECT_EQ(hasFusedActivation(x), x.scalar_type() == torch::kBFloat16);
    }
}

}  // namespace
}  // namespace relascope::core
