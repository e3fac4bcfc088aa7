// SPDX-License-Identifier: GPL-3.0-or-later
// What one head can compute, and which relations are inner products.
#include "model/one_head/one_head.h"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <map>
#include <numbers>

#include "model/model.h"
#include "options/estimates.h"
#include "options/presets.h"
#include "probe/map_collector.h"
#include "support/rooms.h"
#include "train/optimizer.h"

namespace relascope {
namespace {

const std::vector<std::string> kHeads = {"relational", "sensory", "rca"};

TEST(OneHead, EqualsItsLoopAndShowsItsParts) {
    for (const auto& name : kHeads) {
        torch::manual_seed(2);
        const auto options = presetOptions("select-relate", name).model;
        const auto model = std::dynamic_pointer_cast<OneHeadModelImpl>(makeModel(options));
        ASSERT_NE(model, nullptr);
        auto& head = *model->head;
        const auto objects = torch::randn({3, 9, 4});
        Collector seen;
        torch::Tensor answer;
        {
            const RecordingScope scope(seen);
            answer = model->forward(objects);
        }
        ASSERT_EQ(answer.sizes(), (std::vector<std::int64_t>{3, 2}));
        EXPECT_TRUE(torch::equal(answer, model->forward(objects)));
        const auto alpha = seen.tensors().at("scores/head");
        ASSERT_EQ(alpha.sizes(), (std::vector<std::int64_t>{3, 1, 1, 9}));
        EXPECT_EQ(seen.tensors().count("relations/head"), name == "relational" ? 1u : 0u);
        for (std::int64_t b = 0; b < 3; ++b) {
            const auto x = objects[b][0];
            std::vector<torch::Tensor> scores, sent;
            for (std::int64_t i = 1; i < 9; ++i) {
                const auto y = objects[b][i];
                scores.push_back(torch::dot(head.query(x), head.key(y)) / 4.0);  // sqrt(16)
                if (name == "sensory") {
                    sent.push_back(head.value(y));
                    continue;
                }
                auto message = head.wv(head.symbols[i - 1]);
                if (name == "relational") {
                    const auto q = head.rel_query(x).view({2, 16}),
                               k = head.rel_key(y).view({2, 16});
                    const auto related = torch::mv(head.wr, (q * k).sum(1));
                    message = message + related;
                    EXPECT_TRUE(torch::allclose(seen.tensors().at("relations/head")[b][0][i],
                                                message, 1e-4, 1e-5));
                }
                sent.push_back(message);
            }
            const auto weights = torch::softmax(torch::stack(scores), 0);
            EXPECT_TRUE(torch::allclose(alpha[b][0][0].slice(0, 1), weights, 1e-4, 1e-6));
            EXPECT_EQ(alpha[b][0][0][0].item<float>(), 0.0F);
            EXPECT_TRUE(
                torch::allclose(answer[b], torch::mv(torch::stack(sent, 1), weights), 1e-4, 1e-5))
                << name;
        }
    }
}

TEST(OneHead, AllThreeHaveAboutAsManyParameters) {
    for (const std::int64_t width : {8, 64, 100})
        for (const std::int64_t products : {1, 16, 64}) {
            std::map<std::string, std::int64_t> counts;
            for (const auto& name : kHeads) {
                auto options = presetOptions("select-relate", name).model;
                options.set("d_model", width), options.set("rel_proj_dim", products);
                counts[name] = parameterCount(options);
                const auto model = std::dynamic_pointer_cast<OneHeadModelImpl>(makeModel(options));
                EXPECT_EQ(model->head->query->parameters()[0].size(0),
                          featureWidth(options.get<OneHeadOptions>()));
            }
            for (const char* name : {"sensory", "rca"}) {
                // One more or less in width is 3 w + ... parameters a map: half of that is near.
                const double fraction = width == 8 ? 0.04 : 0.01;
                EXPECT_NEAR(static_cast<double>(counts[name]),
                            static_cast<double>(counts["relational"]),
                            fraction * static_cast<double>(counts["relational"]))
                    << name << " " << width << " " << products;
            }
        }
    EXPECT_EQ(
        featureWidth(presetOptions("select-relate", "relational").model.get<OneHeadOptions>()), 64);
}

TEST(OneHead, CannotBeBuiltOfNothing) {
    auto options = presetOptions("select-relate").model;
    options.set("n_objects", 1);
    EXPECT_EQ(options.problems().at(0).field, "n_objects");
    options.set("n_objects", 9), options.set("rel_proj_dim", 0);
    EXPECT_EQ(options.problems().at(0).field, "rel_proj_dim");
    options = presetOptions("inner-product-relations").model;
    options.set("n_objects", 3);
    EXPECT_EQ(options.problems().at(0).field, "n_objects");
    options = presetOptions("symbol-recovery").model;
    options.set("out_dim", 3);
    EXPECT_EQ(options.problems().at(0).field, "out_dim");
}

// Points uniform in the unit ball of R^dim: [b, n, dim].
torch::Tensor points(std::int64_t b, std::int64_t n, std::int64_t dim) {
    const auto direction = torch::randn({b, n, dim});
    return direction / direction.norm(2, -1, true) *
           torch::rand({b, n, 1}).pow(1.0 / static_cast<double>(dim));
}

using Draw = std::function<std::pair<torch::Tensor, torch::Tensor>(std::int64_t)>;

// Mean error on fresh examples after that many steps, all of fresh examples as well.
double errorAfter(const RunOptions& options, const Draw& draw, std::int64_t steps) {
    torch::manual_seed(4);
    auto model = makeModel(options.model);
    Optimizer optimizer(*model, options.train);
    for (std::int64_t step = 0; step < steps; ++step) {
        const auto [inputs, targets] = draw(128);
        optimizer.zeroGradients();
        torch::mse_loss(model->forward(inputs), targets).backward();
        optimizer.step(scheduledRate(options.train, 4e-3, step, steps));
    }
    const torch::NoGradGuard noGrad;
    const auto [inputs, targets] = draw(2000);
    return (model->forward(inputs) - targets).abs().mean().item<double>();
}

TEST(OneHead, OnlyTheRelationalOneSelectsAndRelates) {
    torch::manual_seed(9);
    const auto left = torch::randn({4, 4}), right = torch::randn({4, 4});
    const auto a = torch::randn({4}), b = torch::randn({4});
    const Draw draw = [&](std::int64_t count) {
        const auto objects = points(count, 9, 4);
        const auto x = objects.slice(1, 0, 1), y = objects.slice(1, 1);
        const auto best =
            torch::matmul(torch::matmul(x, left.t()), torch::matmul(y, right.t()).transpose(1, 2))
                .argmax(2);  // [b, 1]
        const auto chosen =
            y.gather(1, best.unsqueeze(2).expand({count, 1, 4})).squeeze(1);  // [b, 4]
        const auto self = x.squeeze(1);
        const auto kernel = (-(self - chosen).square().sum(1)).exp();
        const auto wave =
            (std::numbers::pi * (torch::mv(self, a / a.norm()) - torch::mv(chosen, b / b.norm())))
                .sin();
        return std::pair{objects, torch::stack({kernel, wave}, 1)};
    };
    std::map<std::string, double> error;
    for (const auto& name : kHeads)
        error[name] = errorAfter(presetOptions("select-relate", name), draw, 700);
    EXPECT_LT(error["relational"], 0.5 * error["sensory"]);
    EXPECT_LT(error["relational"], 0.5 * error["rca"]);
    RecordProperty("relational", std::to_string(error["relational"]));
    RecordProperty("sensory", std::to_string(error["sensory"]));
    RecordProperty("rca", std::to_string(error["rca"]));
}

TEST(InnerProductRelation, SymmetricOrNotFitsAKernelAndOnlyTheOtherAnOrder) {
    const Draw kernel = [](std::int64_t count) {
        const auto both = points(count, 2, 2);
        const auto distance = (both.select(1, 0) - both.select(1, 1)).square().sum(1, true);
        return std::pair{both, (-2.0 * distance).exp()};
    };
    const Draw order = [](std::int64_t count) {
        const auto both = points(count, 2, 2);
        const auto first = both.select(1, 0).slice(1, 0, 1),
                   second = both.select(1, 1).slice(1, 0, 1);
        return std::pair{both, torch::where(first.lt(second), 1.0F, -1.0F)};
    };
    std::map<std::string, double> error;
    for (const char* name : {"symmetric", "asymmetric"}) {
        const auto options = presetOptions("inner-product-relations", name);
        error[std::string("kernel ") + name] = errorAfter(options, kernel, 500);
        error[std::string("order ") + name] = errorAfter(options, order, 500);
    }
    EXPECT_LT(error["kernel symmetric"], 0.05);
    EXPECT_LT(error["kernel asymmetric"], 0.05);
    EXPECT_LT(error["order asymmetric"], 0.3);
    EXPECT_GT(error["order symmetric"], 0.95);  // nothing is better than 0, which is off by 1
    for (const auto& [name, value] : error)
        RecordProperty(name.substr(0, 5) + name.substr(6), std::to_string(value));
}

TEST(InnerProductRelation, IsTheProductOfItsMapsAndShowsBothWays) {
    for (const bool symmetric : {true, false}) {
        torch::manual_seed(3);
        auto options = presetOptions("inner-product-relations").model;
        options.set("symmetric_rels", symmetric);
        const auto model = std::dynamic_pointer_cast<InnerProductRelationImpl>(makeModel(options));
        const auto objects = torch::randn({2, 2, 2});
        Collector seen;
        const RecordingScope scope(seen);
        const auto answer = model->forward(objects);
        const auto product =
            (model->left(objects.select(1, 0)) * model->right(objects.select(1, 1))).sum(1, true);
        EXPECT_TRUE(torch::allclose(answer, product, 1e-4, 1e-5));
        const auto r = seen.tensors().at("relations/relation");  // [2, 2, 2, 1]
        EXPECT_TRUE(torch::equal(r.select(1, 0).select(1, 1), answer));
        EXPECT_EQ(torch::allclose(r.select(1, 0).select(1, 1), r.select(1, 1).select(1, 0)),
                  symmetric);
    }
}

}  // namespace
}  // namespace relascope
