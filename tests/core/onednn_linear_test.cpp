// SPDX-License-Identifier: GPL-3.0-or-later
// Linear layers through oneDNN against the plain form: outputs, gradients and repeatability.
#include <gtest/gtest.h>

#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/functional.h>
#include <torch/utils.h>

#include "model/blocks/onednn_linear.h"
#include "model/blocks/parameters.h"

namespace relascope::core {
namespace {

using Tensors = std::vector<torch::Tensor>;

Tensors linearResults(const torch::Tensor& input, const std::vector<Linear>& layers,
                      LinearForm form) {
    const LinearFormScope scope(form);
    const auto x = input.detach().requires_grad_(true);
    const auto outputs = applyLinears(x, layers);
    Tensors leaves = {x}, all;
    torch::Tensor loss = torch::zeros({}, x.options());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        loss = loss + (outputs[i] * outputs[i].detach().cos()).sum();
        leaves.push_back(layers[i]->weight);
        if (layers[i]->bias.defined()) leaves.push_back(layers[i]->bias);
    }
    all = torch::autograd::grad({loss}, leaves);
    all.insert(all.end(), outputs.begin(), outputs.end());
    return all;
}

void expectFormsAgree(const torch::Tensor& x, const std::vector<Linear>& layers) {
    const auto plain = linearResults(x, layers, LinearForm::Plain),
               fast = linearResults(x, layers, LinearForm::OneDnn),
               again = linearResults(x, layers, LinearForm::OneDnn);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        ASSERT_EQ(plain[i].sizes(), fast[i].sizes());
        const double size = std::max(1.0, plain[i].abs().max().item<double>());
        EXPECT_LT((plain[i] - fast[i]).abs().max().item<double>(), 1e-5 * size) << "tensor " << i;
        EXPECT_TRUE(torch::equal(fast[i], again[i])) << "tensor " << i;
    }
}

TEST(OnednnLinear, AgreesForOneAndSeveralLayers) {
    torch::manual_seed(1);
    for (const bool bias : {false, true})
        for (const auto& shape : std::vector<std::vector<std::int64_t>>{
                 {1, 7}, {33, 40}, {5, 11, 48}, {300, 17}, {2, 3, 4, 64}}) {
            const auto x = torch::randn(shape);
            const std::int64_t in = shape.back();
            expectFormsAgree(x, {Linear(in, 24, bias)});
            expectFormsAgree(x, {Linear(in, 24, bias), Linear(in, 9, !bias), Linear(in, 64, bias)});
        }
}

TEST(OnednnLinear, TakesInputsThatAreNotContiguous) {
    torch::manual_seed(1);
    expectFormsAgree(torch::randn({40, 6, 50}).transpose(0, 1), {Linear(50, 30), Linear(50, 20)});
    expectFormsAgree(torch::randn({32, 20}).t(), {Linear(32, 30)});
    expectFormsAgree(torch::randn({1, 20}).expand({16, 20}), {Linear(20, 30)});
}

TEST(OnednnLinear, LeavesLayersWithoutAGradientOut) {
    torch::manual_seed(1);
    const LinearFormScope scope(LinearForm::OneDnn);
    const auto x = torch::randn({30, 20}, torch::requires_grad());
    const Linear used(20, 16), unused(20, 16), frozen(20, 16);
    frozen->weight.requires_grad_(false);
    const auto y = applyLinears(x, {used, unused, frozen});
    (y[0] + y[2]).sum().backward();
    EXPECT_TRUE(used->weight.grad().defined() && used->bias.grad().defined());
    EXPECT_FALSE(unused->weight.grad().defined() || frozen->weight.grad().defined());
    const auto expected = (used->weight + frozen->weight).sum(0).expand_as(x);
    EXPECT_LT((x.grad() - expected).abs().max().item<double>(), 1e-5);
}

TEST(OnednnLinear, ServesDenseFloatsOnTheCpu) {
    const LinearFormScope scope(LinearForm::OneDnn);
    const auto x = torch::randn({30, 20}), weight = torch::randn({8, 20});
    EXPECT_TRUE(hasOnednnLinear(x, weight)) << "the LibTorch of the tests has oneDNN";
    EXPECT_FALSE(hasOnednnLinear(x.to(torch::kDouble), weight.to(torch::kDouble)));
    EXPECT_FALSE(hasOnednnLinear(x, weight.to(torch::kBFloat16)));
    EXPECT_FALSE(hasOnednnLinear(x.to(torch::kMeta), weight.to(torch::kMeta)));
    EXPECT_FALSE(hasOnednnLinear(torch::randn({0, 20}), weight));
}

}  // namespace
}  // namespace relascope::core
