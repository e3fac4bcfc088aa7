// SPDX-License-Identifier: GPL-3.0-or-later
// Products in bfloat16 on the CPU: as exact as LibTorch's autocast against double precision, the
// same by the processor's instructions and widened, with equal masks of dropout; and what is said
// where the processor has no such products. All of it runs on processors without them as well.
#include "model/blocks/bfloat16.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/functional.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>
#include <set>

#include "evaluate/evaluate.h"
#include "evaluate/scoring.h"
#include "files/processor.h"
#include "model/attention/block_attention.h"
#include "model/attention/dropout.h"
#include "model/attention/relational_attention.h"
#include "model/blocks/layers.h"
#include "model/score_loss.h"
#include "support/form_results.h"
#include "support/relational_cases.h"

namespace relascope::core {
namespace {

constexpr double kHalfUnit = 0x1p-8;  // of bfloat16, relative

double largest(const torch::Tensor& x) {
    return x.abs().max().item<double>();
}
double errorOf(const torch::Tensor& found, const torch::Tensor& exact) {
    return largest(found.to(torch::kDouble) - exact.to(torch::kDouble));
}
// Of all numbers, which depends on chance less than that of the worst.
double meanErrorOf(const torch::Tensor& found, const torch::Tensor& exact) {
    return (found.to(torch::kDouble) - exact.to(torch::kDouble))
        .square()
        .mean()
        .sqrt()
        .item<double>();
}

// y and the gradients of x, the weights and the biases of some layers of one input.
Tensors linearResults(
    const torch::Tensor& input, const Tensors& weights, const Tensors& biases,
    const std::function<Tensors(const torch::Tensor&, const Tensors&, const Tensors&)>& layers) {
    Tensors leaves = {input.detach().clone().requires_grad_(true)};
    for (const auto* list : {&weights, &biases})
        for (const auto& each : *list) leaves.push_back(each.detach().clone().requires_grad_(true));
    const auto begin = leaves.begin() + 1,
               middle = begin + static_cast<std::ptrdiff_t>(weights.size());
    const auto outputs = layers(leaves[0], {begin, middle}, {middle, leaves.end()});
    torch::Tensor loss;
    for (const auto& y : outputs) {
        const auto wide = y.to(leaves[0].scalar_type());
        const auto cells = torch::arange(y.numel(), wide.options()).sin().view_as(y);
        loss = loss.defined() ? loss + (wide * cells).sum() : (wide * cells).sum();
    }
    auto all = torch::autograd::grad({loss}, leaves);
    all.insert(all.begin(), outputs.begin(), outputs.end());
    return all;
}

Tensors plainLayers(const torch::Tensor& x, const Tensors& weights, const Tensors& biases) {
    Tensors outputs;
    for (std::size_t i = 0; i < weights.size(); ++i)
        outputs.push_back(torch::nn::functional::linear(
            x, weights[i], i < biases.size() ? biases[i] : torch::Tensor()));
    return outputs;
}
Tensors autocastLayers(const torch::Tensor& x, const Tensors& weights, const Tensors& biases) {
    const AutocastScope autocast(true, torch::kCPU);
    return plainLayers(x, weights, biases);
}
Tensors roundedLayers(const torch::Tensor& x, const Tensors& weights, const Tensors& biases) {
    const AutocastScope autocast(true, torch::kCPU);
    std::vector<LinearWeights> layers;
    for (std::size_t i = 0; i < weights.size(); ++i)
        layers.push_back({weights[i], i < biases.size() ? biases[i] : torch::Tensor()});
    return roundedLinear(x, layers);
}
Tensors doubles(const Tensors& all) {
    Tensors wide;
    for (const auto& each : all) wide.push_back(each.to(torch::kDouble));
    return wide;
}

TEST(BFloat16, RoundsAsLibTorchDoes) {
    const float infinity = std::numeric_limits<float>::infinity();
    auto numbers = torch::randn({4099}) * torch::randn({4099}).exp();
    for (const float x : {0.0f, -0.0f, 1.00390625f, 1.01171875f, 3.4e38f, infinity, -infinity})
        numbers = torch::cat({numbers, torch::full({1}, x)});
    auto narrow = torch::empty({numbers.numel()}, torch::kBFloat16);
    narrowNumbers(numbers.const_data_ptr<float>(), narrow.mutable_data_ptr<at::BFloat16>(),
                  numbers.numel());
    EXPECT_TRUE(torch::equal(narrow, numbers.to(torch::kBFloat16)));
    auto wide = torch::empty({numbers.numel()});
    widenNumbers(narrow.const_data_ptr<at::BFloat16>(), wide.mutable_data_ptr<float>(),
                 numbers.numel());
    EXPECT_TRUE(torch::equal(wide, narrow.to(torch::kFloat)));
    const auto none = torch::full({20}, std::nan(""));
    narrowNumbers(none.const_data_ptr<float>(), narrow.mutable_data_ptr<at::BFloat16>(), 20);
    EXPECT_TRUE(narrow.slice(0, 0, 20).isnan().all().item<bool>());
}

TEST(BFloat16, LinearLayersAreAsExactAsAutocast) {
    torch::manual_seed(3);
    const auto x = torch::randn({3, 50, 96});
    const Tensors weights = {torch::randn({64, 96}), torch::randn({40, 96}),
                             torch::randn({64, 96})},
                  biases = {torch::randn({64}), torch::randn({40})};
    for (const auto form : {ProductForm::Automatic, ProductForm::Widening})
        for (const std::size_t count : {1, 3}) {
            const ProductFormScope scope(form);
            const Tensors some(weights.begin(), weights.begin() + static_cast<long>(count)),
                with(biases.begin(), biases.begin() + static_cast<long>(count == 1 ? 1 : 2));
            const auto exact = linearResults(x.to(torch::kDouble), doubles(some), doubles(with),
                                             plainLayers),
                       theirs = linearResults(x, some, with, autocastLayers),
                       ours = linearResults(x, some, with, roundedLayers);
            ASSERT_EQ(ours.size(), exact.size());
            for (std::size_t i = 0; i < ours.size(); ++i) {
                EXPECT_EQ(ours[i].scalar_type(), theirs[i].scalar_type()) << i;
                EXPECT_LE(errorOf(ours[i], exact[i]),
                          1.05 * errorOf(theirs[i], exact[i]) + 1e-6 * largest(exact[i]))
                    << "tensor " << i << " of " << count;
            }
        }
}

TEST(BFloat16, WideningEqualsTheProcessorsProductsWithinARounding) {
    if (!hasBFloat16Products()) GTEST_SKIP() << "no avx512_bf16 or amx_bf16";
    torch::manual_seed(4);
    const auto x = torch::randn({77, 130});
    const Tensors weights = {torch::randn({60, 130})}, biases = {torch::randn({60})};
    const auto ofForm = [&](ProductForm form) {
        const ProductFormScope scope(form);
        return linearResults(x, weights, biases, roundedLayers);
    };
    const auto native = ofForm(ProductForm::Native), wide = ofForm(ProductForm::Widening);
    for (std::size_t i = 0; i < native.size(); ++i) {
        const auto a = native[i].to(torch::kDouble), b = wide[i].to(torch::kDouble);
        // Sums in another order may fall on the other side of a rounding.
        const auto bound = torch::maximum(a.abs(), b.abs()) * 2 * kHalfUnit + 1e-4;
        EXPECT_TRUE((a - b).abs().le(bound).all().item<bool>()) << "tensor " << i;
    }
}

TEST(BFloat16, GradientsAreTheSameWhetherRoundedWeightsAreKept) {
    torch::manual_seed(6);
    // Large enough that the gradient of the weight is made in slices.
    Linear layer(2100, 1000);
    const auto input = torch::randn({12, 2100});
    const auto gradients = [&](bool keeps) {
        const RoundedWeightsScope step(keeps);
        const auto x = input.clone().set_requires_grad(true);
        layer->zero_grad();
        torch::Tensor y;
        {
            const AutocastScope autocast(true, torch::kCPU);
            y = layer(x);
        }
        y.to(torch::kFloat).square().sum().backward();
        return std::vector{x.grad().clone(), layer->weight.grad().clone(),
                           layer->bias.grad().clone()};
    };
    const auto kept = gradients(true), again = gradients(false);
    for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(torch::equal(kept[i], again[i])) << i;
    const auto y = input.matmul(layer->weight.t()) + layer->bias;
    const auto exact = (2 * y).t().matmul(input);
    EXPECT_LT((kept[1] - exact).norm().item<double>(), 0.01 * exact.norm().item<double>());
}

TEST(BFloat16, AStepOfOneBatchKeepsNoRoundedWeights) {
    const AutocastScope autocast(true, torch::kCPU);
    const torch::NoGradGuard noGrad;
    Linear layer(8, 3, false);
    layer->weight.fill_(1.0);
    const RoundedWeightsScope step(false);
    EXPECT_EQ(layer(torch::ones({4, 8}))[0][0].item<float>(), 8.0f);
    layer->weight.fill_(2.0);
    EXPECT_EQ(layer(torch::ones({4, 8}))[0][0].item<float>(), 16.0f);
}

TEST(BFloat16, AWeightIsRoundedOnceAStep) {
    const AutocastScope autocast(true, torch::kCPU);
    const torch::NoGradGuard noGrad;
    const auto x = torch::ones({4, 8});
    Linear layer(8, 3, false);
    layer->weight.fill_(1.0);
    {
        const RoundedWeightsScope step;
        EXPECT_EQ(layer(x)[0][0].item<float>(), 8.0f);
        layer->weight.fill_(2.0);  // as the optimizer does at the end of a step
        EXPECT_EQ(layer(x)[0][0].item<float>(), 8.0f);
    }
    EXPECT_EQ(layer(x)[0][0].item<float>(), 16.0f);
    EXPECT_EQ(layer(x).scalar_type(), torch::kBFloat16);
}

TEST(BFloat16, GradientsOfSeveralBatchesAreSummedInFloat32) {
    torch::manual_seed(5);
    Linear layer(40, 30);
    const auto first = torch::randn({20, 40}), second = torch::randn({20, 40});
    const auto pass = [&](const torch::Tensor& x) {
        torch::Tensor y;
        {
            const AutocastScope autocast(true, torch::kCPU);
            y = layer(x);
        }
        y.to(torch::kFloat).square().sum().backward();
        return layer->weight.grad().clone();
    };
    const auto one = pass(first);
    layer->weight.mutable_grad().zero_();
    const auto other = pass(second);
    layer->weight.mutable_grad().zero_();
    pass(first);
    const auto both = pass(second);
    EXPECT_EQ(both.scalar_type(), torch::kFloat);
    EXPECT_TRUE(torch::equal(both, one + other));
}

TEST(BFloat16, ActivationsAndNormsRoundTheirResultsAlone) {
    torch::manual_seed(6);
    const auto results = [](const Tensors& given, const std::function<Tensors(const Tensors&)>& f) {
        Tensors leaves;
        for (const auto& x : given) leaves.push_back(x.detach().clone().requires_grad_(true));
        auto all = f(leaves);
        auto loss = torch::zeros({});
        for (const auto& y : all)
            loss = loss +
                   (y.to(torch::kFloat) * torch::arange(y.numel(), torch::kFloat).sin().view_as(y))
                       .sum();
        const auto gradients = torch::autograd::grad({loss}, leaves, {}, {}, false, true);
        all.insert(all.end(), gradients.begin(), gradients.end());
        return all;
    };
    const auto expectRounded = [](const Tensors& rounded, const Tensors& plain) {
        ASSERT_EQ(rounded.size(), plain.size());
        for (std::size_t i = 0; i < plain.size(); ++i) {
            // The gradients of weights are sums of rounded numbers of either sign.
            const double size = i < 4 ? largest(plain[i]) : 12.0;
            EXPECT_LE(errorOf(rounded[i], plain[i]), 2 * kHalfUnit * size + 1e-6) << "tensor " << i;
        }
    };
    const Tensors halves = {torch::randn({70, 256}).to(torch::kBFloat16),
                            torch::randn({70, 256}).to(torch::kBFloat16)};
    const Tensors floats = {halves[0].to(torch::kFloat), halves[1].to(torch::kFloat)};
    const auto activations = [](const Tensors& x) {
        return Tensors{fusedGelu(x[0]), fusedSwiglu(x[0], x[1])};
    };
    ASSERT_TRUE(hasFusedActivation(halves[0]));
    EXPECT_EQ(activations(halves)[0].scalar_type(), torch::kBFloat16);
    // The sum of the two gradients of the first is rounded once more.
    expectRounded(results(halves, activations), results(floats, activations));

    for (const double p : {0.0, 0.3}) {
        const auto normed = [p](torch::ScalarType type) {
            return [p, type](const Tensors& x) {
                torch::manual_seed(8);
                const auto both = fusedNormedSum(x[0], x[1], p, {x[2], x[3]}, type);
                return Tensors{both.sum, both.normed};
            };
        };
        const auto weight = torch::randn({256}), bias = torch::randn({256});
        const auto rounded =
                       results({floats[0], halves[1], weight, bias}, normed(torch::kBFloat16)),
                   plain = results({floats[0], floats[1], weight, bias}, normed(torch::kFloat));
        EXPECT_EQ(rounded[1].scalar_type(), torch::kBFloat16);
        EXPECT_TRUE(torch::equal(rounded[0], plain[0])) << "the sum is float32, with equal masks";
        expectRounded(rounded, plain);
    }
}

TEST(BFloat16, DropsTheSameCells) {
    const auto x = torch::rand({40, 33}) + 1.0;
    const auto kept = [&](const torch::Tensor& input) {
        torch::manual_seed(2);
        return dropout(input, 0.4).ne(0);
    };
    EXPECT_TRUE(torch::equal(kept(x), kept(x.to(torch::kBFloat16))));
    const auto branch = torch::rand({512, 64}) + 1.0, zero = torch::zeros({512, 64});
    const auto keptSum = [&](const torch::Tensor& input) {
        torch::manual_seed(2);
        return fusedSum(zero, input, 0.4).ne(0);
    };
    EXPECT_TRUE(torch::equal(keptSum(branch), keptSum(branch.to(torch::kBFloat16))));
}

TEST(BFloat16, OnlyTheNormForProductsIsRounded) {
    Norm norm(128, "layernorm");
    const auto x = torch::randn({200, 128});
    EXPECT_EQ(norm->ofSum(x, {}, 0.0, true).normed.scalar_type(), torch::kFloat);
    const AutocastScope autocast(true, torch::kCPU);
    EXPECT_EQ(norm->ofSum(x, {}, 0.0, true).normed.scalar_type(), torch::kBFloat16);
    EXPECT_EQ(norm->ofSum(x).normed.scalar_type(), torch::kFloat);
    EXPECT_EQ(norm(x.to(torch::kBFloat16)).scalar_type(), torch::kFloat);
    EXPECT_EQ(softmaxOf(x.to(torch::kBFloat16)).scalar_type(), torch::kFloat);
}

// By how much the error of a form may exceed that of the explicit form under autocast: the factored
// forms round sums of keys where it rounds relations, and LibTorch's own kernel rounds weights.
double shareOf(AttentionForm form) {
    return form == AttentionForm::Tiled ? 1.1 : form == AttentionForm::Fused ? 2.0 : 1.25;
}

TEST(BFloat16, EveryFormOfAttentionIsAsExactAsAutocast) {
    torch::manual_seed(9);
    auto o = smallHeads();
    o.d_model = 48, o.head_dim = 12, o.n_heads = 4, o.n_relations = 8;
    for (const bool causal : {false, true}) {
        o.causal = causal;
        for (const auto& kind : {kSymbolKinds[0], kSymbolKinds[2]}) {
            constexpr std::int64_t n = 150;  // more than one block of rows
            RelationalAttentionImpl module(o);
            const Tensors inputs = {torch::randn({2, n, o.d_model}),
                                    randomSymbols(kind, 2, n, o.d_model)};
            const auto plain = [&](const Tensors& in) {
                return module.forward(in[0], symbolsOf(kind, in[1]));
            };
            const auto rounded = [&](const Tensors& in) {
                const AutocastScope autocast(true, torch::kCPU);
                return plain(in).to(torch::kFloat);
            };
            const auto exact = explicitResultsOf(module, inputs, plain);
            module.form = AttentionForm::Explicit;
            const auto autocast = resultsOf(module, inputs, rounded);
            for (const auto form : {AttentionForm::Tiled, AttentionForm::Factored,
                                    AttentionForm::Chunked, AttentionForm::Fused}) {
                module.form = form;
                const auto found = resultsOf(module, inputs, rounded);
                for (std::size_t i = 0; i < exact.size(); ++i) {
                    if (!exact[i].defined()) continue;
                    EXPECT_LE(meanErrorOf(found[i], exact[i]),
                              shareOf(form) * meanErrorOf(autocast[i], exact[i]) + 1e-6)
                        << attentionFormName(form) << (causal ? " causal " : " ") << kind.name
                        << ", tensor " << i;
                }
            }
        }
    }
}

struct SensoryCase {
    bool causal = true;
    std::int64_t keyHeads = 0;
    double dropout = 0.0;
    bool documents = false;
};

TEST(BFloat16, SensoryHeadsAreAsExactAsAutocast) {
    for (const auto& c :
         {SensoryCase{}, SensoryCase{false}, SensoryCase{true, 2}, SensoryCase{true, 0, 0.2},
          SensoryCase{false, 1, 0.2}, SensoryCase{true, 0, 0.0, true}}) {
        torch::manual_seed(10);
        HeadOptions o;
        o.d_model = 48, o.head_dim = 12, o.n_heads = 4, o.rope = true;
        o.causal = c.causal, o.n_kv_heads = c.keyHeads, o.dropout = c.dropout;
        o.output_dropout = 0.0;
        Attention attention(o);
        const std::int64_t n = 151;  // blocks of rows, and an odd rest
        const Tensors inputs = {torch::randn({2, n, o.d_model})};
        DocumentOptions documents;
        documents.document_start = 1;
        auto tokens = torch::zeros({2, n}, torch::kLong);
        tokens[0][40] = 1, tokens[0][90] = 1, tokens[1][0] = 1;
        const auto plain = [&](const Tensors& in) {
            const DocumentScope scope(c.documents ? documentsOf(tokens, documents) : Documents());
            return attention(in[0], in[0], in[0]);
        };
        const auto rounded = [&](const Tensors& in) {
            const AutocastScope autocast(true, torch::kCPU);
            return plain(in).to(torch::kFloat);
        };
        const auto exact = explicitResultsOf(*attention, inputs, plain);
        attention->form = AttentionForm::Explicit;
        const auto autocast = resultsOf(*attention, inputs, rounded);
        for (const auto form :
             {AttentionForm::Tiled, AttentionForm::Chunked, AttentionForm::Fused}) {
            attention->form = form;
            // On processors with AMX tiles are those of bfloat16, unless products are widened.
            for (const auto products : {ProductForm::Automatic, ProductForm::Widening}) {
                const ProductFormScope scope(products);
                const auto found = resultsOf(*attention, inputs, rounded);
                for (std::size_t i = 0; i < exact.size(); ++i)
                    EXPECT_LE(meanErrorOf(found[i], exact[i]),
                              shareOf(form) * meanErrorOf(autocast[i], exact[i]) + 1e-6)
                        << attentionFormName(form) << ", causal " << c.causal << ", key heads "
                        << c.keyHeads << ", dropout " << c.dropout << ", documents " << c.documents
                        << ", tensor " << i;
            }
        }
    }
}

TEST(BFloat16, BlocksRepeatTheirBits) {
    const AutocastScope autocast(true, torch::kCPU);
    torch::manual_seed(12);
    const auto q = torch::randn({2, 4, 200, 16}).to(torch::kBFloat16),
               k = torch::randn({2, 2, 200, 16}).to(torch::kBFloat16);
    if (!servesBlockAttention(q, k, k, true)) GTEST_SKIP() << "no AMX tiles";
    EXPECT_FALSE(servesBlockAttention(q, k.slice(2, 0, 64), k, false)) << "few keys";
    const auto results = [&] {
        Tensors leaves;
        for (const auto& x : {q, k, k}) leaves.push_back(x.detach().clone().requires_grad_(true));
        const auto y = blockAttention(leaves[0], leaves[1], leaves[2], {0.25, true});
        auto all = torch::autograd::grad({y.to(torch::kFloat).square().sum()}, leaves);
        all.push_back(y);
        return all;
    };
    const auto once = results(), again = results();
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_TRUE(torch::equal(once[i], again[i]));
}

TEST(BFloat16, TheLossOfManyScoresIsComputedInFloat32) {
    torch::manual_seed(11);
    for (const std::int64_t classes : {8192, 8191}) {
        const auto narrow = (torch::randn({150, classes}) * 3).to(torch::kBFloat16);
        const auto targets = torch::randint(classes, {150});
        const auto scores = narrow.detach().clone().requires_grad_(true);
        const auto wide = narrow.to(torch::kDouble).requires_grad_(true);
        const auto loss = crossEntropy(scores, targets),
                   exact = torch::cross_entropy_loss(wide, targets);
        EXPECT_EQ(loss.scalar_type(), torch::kFloat);
        EXPECT_NEAR(loss.item<double>(), exact.item<double>(), 2e-6 * exact.item<double>());
        const auto gradient = torch::autograd::grad({loss}, {scores})[0],
                   expected = torch::autograd::grad({exact}, {wide})[0];
        EXPECT_EQ(gradient.scalar_type(), torch::kBFloat16);
        const auto difference = (gradient.to(torch::kDouble) - expected).abs();
        EXPECT_TRUE(difference.le(expected.abs() * 1.1 * kHalfUnit + 1e-9).all().item<bool>());
    }
    auto broken = torch::randn({3, 100});
    broken[1][99] = std::nan("");
    broken[2][5] = std::numeric_limits<float>::infinity();
    const auto normalizers = scoreNormalizers(broken);
    EXPECT_TRUE(std::isfinite(normalizers[0].item<float>()));
    EXPECT_FALSE(std::isfinite(normalizers[1].item<float>()));
    EXPECT_FALSE(std::isfinite(normalizers[2].item<float>()));
}

TEST(BFloat16, FlagsCanBeHidden) {
    const bool here = hasBFloat16Products();
    {
        const HiddenBFloat16Scope hidden;
        EXPECT_FALSE(hasBFloat16Products());
    }
    EXPECT_EQ(hasBFloat16Products(), here);
}

}  // namespace
}  // namespace relascope::core
