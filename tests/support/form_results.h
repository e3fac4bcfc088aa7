// SPDX-License-Identifier: GPL-3.0-or-later
// Output and gradients of a module, to compare the forms that compute the same.
#pragma once

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/module.h>
#include <torch/utils.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/attention/attention.h"

namespace relascope::core {

using Tensors = std::vector<torch::Tensor>;

/// The gradients of a weighted sum of `forward(inputs)` by the module's parameters and by the
/// inputs (undefined where there is none), then the output itself. The random numbers are the same
/// in every call.
template <class Forward>
Tensors resultsOf(torch::nn::Module& module, Tensors inputs, Forward forward) {
    for (auto& input : inputs) input = input.detach().clone().requires_grad_(true);
    torch::manual_seed(7);
    const auto out = forward(inputs);
    auto leaves = module.parameters();
    leaves.insert(leaves.end(), inputs.begin(), inputs.end());
    auto all = torch::autograd::grad({(out * out.detach().cos()).sum()}, leaves, {}, std::nullopt,
                                     false, /*allow_unused=*/true);
    all.push_back(out.detach());
    return all;
}

/// The results of the explicit form of attention in double precision; the module is left in
/// float32.
template <class Module, class Forward>
Tensors explicitResultsOf(Module& module, const Tensors& inputs, Forward forward) {
    Tensors wide;
    for (const auto& input : inputs) wide.push_back(input.to(torch::kDouble));
    module.to(torch::kDouble);
    module.form = AttentionForm::Explicit;
    auto all = resultsOf(module, wide, forward);
    module.to(torch::kFloat);
    return all;
}

/// Equal up to `bound` of the largest number of a tensor.
inline void expectNear(const Tensors& expected, const Tensors& found, double bound,
                       const std::string& what) {
    ASSERT_EQ(expected.size(), found.size()) << what;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(expected[i].defined(), found[i].defined()) << what << ", tensor " << i;
        if (!expected[i].defined()) continue;
        const double size = std::max(1.0, expected[i].abs().max().item<double>());
        EXPECT_LT((expected[i] - found[i]).abs().max().item<double>(), bound * size)
            << what << ", tensor " << i;
    }
}

}  // namespace relascope::core
