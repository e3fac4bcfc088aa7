// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/cross_entropy.h"

#include <torch/csrc/autograd/custom_function.h>

namespace relascope::core {
namespace {

// Below (4 MB), the two copies that are saved do not matter.
constexpr std::int64_t kLarge = std::int64_t{1} << 20;

// LibTorch's loss holds three tensors of the size of the scores beside them when the backward pass
// begins, with all activations still there: their logarithmic softmax and two gradients. This one
// holds a number for each row and one gradient.
struct LargeCrossEntropy : torch::autograd::Function<LargeCrossEntropy> {
    // Of scores [rows, classes], targets [rows] and the weight of each row [rows]: the weighted
    // sum.
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const torch::Tensor& scores, const torch::Tensor& targets,
                                 const torch::Tensor& weights) {
        const auto normalizer = scores.logsumexp(1);
        context->save_for_backward({scores, targets, weights, normalizer});
        return weights.dot(normalizer - scores.gather(1, targets.unsqueeze(1)).squeeze(1));
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const auto &scores = saved[0], &targets = saved[1], &normalizer = saved[3];
        const auto weights = (saved[2] * gradients[0]).unsqueeze(1);
        auto gradient = (scores - normalizer.unsqueeze(1)).exp_().mul_(weights);
        gradient.scatter_add_(1, targets.unsqueeze(1), -weights);
        return {gradient, torch::Tensor(), torch::Tensor()};
    }
};

}  // namespace

torch::Tensor crossEntropy(const torch::Tensor& scores, const torch::Tensor& targets,
                           std::int64_t ignore) {
    const auto rows = scores.flatten(0, -2);
    const auto wanted = targets.flatten();
    const bool large =
        rows.device().is_cpu() && rows.scalar_type() == torch::kFloat && rows.numel() >= kLarge;
    if (!large) return torch::cross_entropy_loss(rows, wanted, {}, at::Reduction::Mean, ignore);
    const auto counted = wanted.ne(ignore);
    const auto each = counted.to(torch::kFloat);
    return LargeCrossEntropy::apply(rows, wanted.where(counted, torch::zeros_like(wanted)),
                                    each / each.sum());
}

}  // namespace relascope::core
