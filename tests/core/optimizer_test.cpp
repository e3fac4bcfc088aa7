// SPDX-License-Identifier: GPL-3.0-or-later
// The learning rate's schedule and the optimizers.
#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <torch/types.h>
#include <torch/utils.h>

#include "support/rooms.h"
#include "support/tiny_run.h"

namespace relascope {
namespace {

using namespace testing_support;

TEST(Schedule, WarmsUpAndFallsAlongACosine) {
    TrainOptions o;
    o.schedule = "cosine", o.warmup_steps = 10, o.min_learning_rate = 0.1;
    EXPECT_NEAR(scheduledRate(o, 1.0, 0, 110), 0.1, 1e-12);
    EXPECT_NEAR(scheduledRate(o, 1.0, 9, 110), 1.0, 1e-12);
    EXPECT_NEAR(scheduledRate(o, 1.0, 60, 110), 0.55, 1e-12);
    EXPECT_NEAR(scheduledRate(o, 1.0, 110, 110), 0.1, 1e-12);
    o.schedule = "constant";
    EXPECT_EQ(scheduledRate(o, 0.3, 60, 110), 0.3);
}

// Adam and AdamW as their papers write them.
TEST(Optimizer, FollowsItsFormula) {
    for (const bool decoupled : {false, true}) {
        ModelOptions m = tinyOptions().model;
        torch::manual_seed(1);
        auto model = makeModel(m);
        TrainOptions o;
        o.optimizer = decoupled ? "adamw" : "adam", o.weight_decay = 0.1, o.beta1 = 0.8,
        o.beta2 = 0.9, o.clip_norm = 0.5;
        Optimizer optimizer(*model, o);
        auto parameter = trainableParameters(*model)[2];
        auto w = parameter.detach().clone().to(torch::kDouble);
        auto mean = torch::zeros_like(w), square = torch::zeros_like(w);
        for (int step = 1; step <= 3; ++step) {
            for (auto& p : trainableParameters(*model)) p.mutable_grad() = torch::randn_like(p);
            double norm = 0;
            for (auto& p : trainableParameters(*model))
                norm += p.grad().to(torch::kDouble).square().sum().item<double>();
            const auto before = parameter.grad().to(torch::kDouble).clone();
            EXPECT_NEAR(optimizer.clipGradNorm(), std::sqrt(norm), 1e-3);
            auto g = before * (0.5 / std::sqrt(norm));
            if (decoupled)
                w = w * (1 - 1e-2 * 0.1);
            else
                g = g + 0.1 * w;
            mean = 0.8 * mean + 0.2 * g;
            square = 0.9 * square + 0.1 * g * g;
            w = w - 1e-2 * (mean / (1 - std::pow(0.8, step))) /
                        ((square / (1 - std::pow(0.9, step))).sqrt() + 1e-8);
            optimizer.step(1e-2);
        }
        EXPECT_LT((parameter.to(torch::kDouble) - w).abs().max().item<double>(), 1e-5);
    }
}

}  // namespace
}  // namespace relascope
