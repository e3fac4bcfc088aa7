// SPDX-License-Identifier: GPL-3.0-or-later
// The Emergent Symbol Binding Network: what its controller can see, and what it retrieves.
#include <gtest/gtest.h>

#include <cmath>

#include "model/model.h"

#include <torch/utils.h>

#include "probe/map_collector.h"
#include "support/model_fields.h"
#include "support/rooms.h"

namespace relascope {
namespace {

ModelOptions smallEsbn() {
    ModelOptions options("ESBN");
    options.set("image_shape", std::vector<std::int64_t>{1, 16, 4});
    options.set("patch_size", std::vector<std::int64_t>{4, 4});
    options.set("d_model", 6), options.set("num_classes", 3);
    options.set("controller", 8), options.set("key_dim", 5);
    return options;
}

std::map<std::string, torch::Tensor> recorded(ModelImpl& model, const torch::Tensor& images) {
    Collector seen;
    const RecordingScope scope(seen);
    model.forward(images);
    return seen.take();
}

TEST(Esbn, RetrievesByLikenessFromWhatCameBefore) {
    torch::manual_seed(5);
    const auto model = makeModel(smallEsbn());
    model->eval();
    const torch::NoGradGuard noGrad;
    const auto maps = recorded(*model, torch::rand({2, 1, 4, 16}));
    const auto likeness = maps.at("relations/binding"), weights = maps.at("scores/binding");
    ASSERT_EQ(weights.sizes(), (std::vector<std::int64_t>{2, 1, 4, 4}));
    for (std::int64_t t = 0; t < 4; ++t) {
        EXPECT_EQ(weights[0][0][t].slice(0, t).abs().sum().item<float>(), 0.0F) << "not the future";
        if (t == 0) continue;
        const auto expected = torch::softmax(likeness[0][t].slice(0, 0, t).squeeze(-1), 0);
        EXPECT_TRUE(torch::allclose(weights[0][0][t].slice(0, 0, t), expected, 1e-5, 1e-7));
    }
}

TEST(Esbn, AnswersByLikenessAlone) {
    // Context normalisation and inner products do not change when the features of all objects are
    // rotated, and the controller sees nothing else: swap two features of the objects.
    torch::manual_seed(6);
    auto options = smallEsbn();
    options.set("context_norm", false);
    const auto model = makeModel(options);
    model->eval();
    const torch::NoGradGuard noGrad;
    const auto images = torch::rand({3, 1, 4, 16});
    const auto before = model->forward(images);
    for (auto& item : model->named_parameters())
        if (item.key().starts_with("patch_embedder.3")) item.value().copy_(item.value().flip(0));
    for (auto& item : model->named_parameters())
        if (item.key().starts_with("patch_embedder.2")) item.value().copy_(item.value().flip(0));
    EXPECT_TRUE(torch::allclose(model->forward(images), before, 1e-4, 1e-6));
}

TEST(Esbn, NormalisesOverTheObjectsOfAProblem) {
    torch::manual_seed(7);
    const auto model = makeModel(smallEsbn());
    model->eval();
    const torch::NoGradGuard noGrad;
    // Objects that are all alike are all zero then: likeness says nothing.
    const auto alike = torch::rand({1, 1, 4, 4}).repeat({1, 1, 1, 4});
    const auto likeness = recorded(*model, alike).at("relations/binding");
    EXPECT_LT(likeness.abs().max().item<float>(), 1e-3F);
}

}  // namespace
}  // namespace relascope
