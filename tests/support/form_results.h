// SPDX-License-Identifier: GPL-3.0-or-later
// Output and gradients of a module, to compare the forms that compute the same.
#pragma once

#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/module.h>

#include <vector>

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

}  // namespace relascope::core
