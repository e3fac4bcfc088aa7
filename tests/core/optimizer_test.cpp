// SPDX-License-Identifier: GPL-3.0-or-later
// The learning rate's schedule and the optimizers.
#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <torch/types.h>
#include <torch/utils.h>
#include <map>
#include <set>

#include "support/rooms.h"
#include "support/tiny_run.h"
#include "train/muon.h"

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

// Against torch.optim.Muon of PyTorch 2.15 with adjust_lr_fn "match_rms_adamw", its products in
// float32 in place of bfloat16.
TEST(Muon, FollowsPyTorch) {
    const auto wave = [](double k, const std::vector<std::int64_t>& shape) {
        return (torch::arange(shape[0] * shape[1], torch::kFloat) * k).sin().view(shape);
    };
    const std::vector<std::pair<std::vector<std::int64_t>, std::vector<double>>> cases = {
        {{2, 3}, {0.019057, 0.560329, 0.928774, 0.853106, 0.328524, -0.341582}},
        {{4, 2},
         {0.022893, 0.542202, 0.966122, 0.849748, 0.302556, -0.333056, -0.91385, -0.98338}}};
    for (const auto& [shape, expected] : cases) {
        auto w = wave(0.7, shape), mean = torch::zeros(shape);
        for (const double k : {1.3, 2.1, 0.4}) {
            mean = mean.lerp(wave(k, shape), 0.1);
            w = w * (1 - 0.1 * 0.1) + 0.1 * muonUpdate(wave(k, shape), mean, 0.9);
        }
        EXPECT_LT((w.flatten() - torch::tensor(expected)).abs().max().item<double>(), 2e-6);
    }
}

// Singular values near 1 whatever those of the matrix are.
TEST(Muon, Orthogonalizes) {
    torch::manual_seed(1);
    for (const auto& [rows, columns] : {std::pair{24, 24}, {48, 16}, {8, 40}}) {
        const auto found = orthogonalized(torch::randn({rows, columns}) * 1e-3);
        const auto gram = rows < columns ? found.mm(found.t()) : found.t().mm(found);
        const auto values = std::get<0>(torch::linalg_eigh(gram)).sqrt();
        EXPECT_GT(values.min().item<double>(), 0.3);
        EXPECT_LT(values.max().item<double>(), 1.3);
    }
    EXPECT_EQ(orthogonalized(torch::zeros({3, 4})).abs().sum().item<double>(), 0.0);
}

TEST(Optimizer, GivesMuonTheMatricesOfTheBlocks) {
    torch::manual_seed(1);
    auto model = makeModel(tinyOptions().model);
    TrainOptions o;
    o.optimizer = "muon", o.weight_decay = 0.1;
    Optimizer optimizer(*model, o);
    std::map<std::string, torch::Tensor> before;
    for (const auto& entry : stateOf(*model)) before[entry.name] = entry.tensor.detach().clone();
    for (auto& p : trainableParameters(*model)) p.mutable_grad() = torch::randn_like(p);
    optimizer.step(1e-2);
    int matrices = 0, others = 0;
    std::set<std::string> names;
    for (const auto& [name, tensor] : optimizer.state()) names.insert(name);
    for (const auto& entry : stateOf(*model)) {
        if (!entry.aliasOf.empty() || !entry.tensor.requires_grad()) continue;
        const bool byMuon = names.contains("momentum/" + entry.name);
        EXPECT_NE(byMuon, names.contains("exp_avg/" + entry.name)) << entry.name;
        (byMuon ? matrices : others) += 1;
        if (!byMuon) continue;
        EXPECT_EQ(entry.tensor.dim(), 2) << entry.name;
        const auto gradient = entry.tensor.grad();
        const auto expected = before[entry.name] * (1 - 1e-2 * 0.1) +
                              1e-2 * muonUpdate(gradient, gradient * (1 - o.momentum), o.momentum);
        EXPECT_LT((entry.tensor - expected).abs().max().item<double>(), 1e-6) << entry.name;
    }
    EXPECT_GT(matrices, 5);
    EXPECT_GT(others, 5);
    o.sharded_moments = true;
    EXPECT_EQ(o.problems().at(0).field, "sharded_moments");
}

TEST(Optimizer, KeepsAnAverageOfTheWeights) {
    torch::manual_seed(1);
    auto model = makeModel(tinyOptions().model);
    TrainOptions o;
    o.ema_decay = 0.4;
    Optimizer optimizer(*model, o);
    const auto parameter = trainableParameters(*model)[2];
    auto average = parameter.detach().clone(), trained = average.clone();
    for (int n = 1; n <= 5; ++n) {
        {
            const Optimizer::TrainedWeights scope(optimizer);
            EXPECT_TRUE(torch::equal(parameter, trained));
            for (auto& p : trainableParameters(*model)) p.mutable_grad() = torch::randn_like(p);
            optimizer.step(1e-2);
            EXPECT_FALSE(torch::equal(parameter, trained));
            trained = parameter.detach().clone();
        }
        average = average + (trained - average) * (1 - std::min(0.4, (1.0 + n) / (10.0 + n)));
        EXPECT_LT((parameter - average).abs().max().item<double>(), 1e-6) << n;
    }
}

}  // namespace
}  // namespace relascope
