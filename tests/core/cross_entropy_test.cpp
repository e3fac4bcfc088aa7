// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of large scores, which holds less memory, against LibTorch's in double precision.
#include "evaluate/scoring.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/utils.h>

#include <cmath>

namespace relascope::core {
namespace {

// Large enough for the form of its own: 2 x 80 rows of 8,192 classes.
torch::Tensor largeScores() {
    torch::manual_seed(1);
    auto scores = torch::randn({2, 80, 8192}) * 3;
    scores[0][0][5] = 80, scores[1][2][7] = -200;  // beyond what exp() holds
    return scores;
}

torch::Tensor labels() {
    torch::manual_seed(2);
    auto targets = torch::randint(8192, {2, 80});
    targets[0][1] = 0, targets[1][2] = 7;
    return targets;
}

void expectLibTorchs(const torch::Tensor& targets, std::int64_t ignore) {
    const auto scores = largeScores().requires_grad_(true);
    const auto wide = largeScores().to(torch::kDouble).requires_grad_(true);
    // As in a step of several batches: the loss is weighted before the backward pass.
    const auto loss = crossEntropy(scores, targets, ignore) * 0.7;
    const auto expected = torch::cross_entropy_loss(wide.flatten(0, 1), targets.flatten(), {},
                                                    at::Reduction::Mean, ignore) *
                          0.7;
    EXPECT_NE(loss.grad_fn()->next_edge(0).function->name(), "NllLossBackward0");
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-6 * expected.item<double>());
    const auto gradient = torch::autograd::grad({loss}, {scores})[0],
               exact = torch::autograd::grad({expected}, {wide})[0];
    EXPECT_LT((gradient - exact).abs().max().item<double>(),
              1e-5 * exact.abs().max().item<double>());
    EXPECT_TRUE(torch::isfinite(gradient).all().item<bool>());
}

TEST(CrossEntropy, OfLargeScoresIsLibTorchs) {
    expectLibTorchs(labels(), -100);
}

TEST(CrossEntropy, LeavesOutWhatIsToBeIgnored) {
    expectLibTorchs(labels(), 0);
    auto padded = labels();
    padded[0].fill_(-1);
    expectLibTorchs(padded, -1);
    const auto nothing = crossEntropy(largeScores(), torch::zeros({2, 80}, torch::kLong), 0);
    EXPECT_TRUE(std::isnan(nothing.item<double>())) << "as LibTorch's mean of no rows";
}

TEST(CrossEntropy, NeedsNoGradient) {
    const torch::NoGradGuard guard;
    const auto scores = largeScores();
    const auto expected =
        torch::cross_entropy_loss(scores.flatten(0, 1).to(torch::kDouble), labels().flatten());
    EXPECT_NEAR(crossEntropy(scores, labels()).item<double>(), expected.item<double>(),
                1e-6 * expected.item<double>());
}

}  // namespace
}  // namespace relascope::core
