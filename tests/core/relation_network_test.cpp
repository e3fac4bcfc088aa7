// SPDX-License-Identifier: GPL-3.0-or-later
// The Relation Network against its formula, pair by pair.
#include <gtest/gtest.h>

#include "model/model.h"

#include <torch/utils.h>

#include "probe/map_collector.h"
#include "support/model_fields.h"
#include "support/rooms.h"

namespace relascope {
namespace {

torch::Tensor through(ModelImpl& model, const std::string& name, torch::Tensor x, int layers) {
    const auto parameters = model.named_parameters();
    for (int i = 0; i < layers; ++i) {
        const std::string at = name + "." + std::to_string(2 * i);
        x = torch::matmul(parameters[at + ".weight"], x) + parameters[at + ".bias"];
        if (i + 1 < layers) x = torch::relu(x);
    }
    return x;
}

TEST(RelationNetwork, SumsItsRelationsOverAllPairs) {
    torch::manual_seed(4);
    ModelOptions options("RelationNetwork");
    options.set("image_shape", std::vector<std::int64_t>{1, 12, 4});
    options.set("patch_size", std::vector<std::int64_t>{4, 4});
    options.set("d_model", 5), options.set("num_classes", 3);
    options.set("relation_layers", std::vector<std::int64_t>{7, 6});
    options.set("hidden_layers", std::vector<std::int64_t>{4});
    const auto model = makeModel(options);
    model->eval();
    const torch::NoGradGuard noGrad;
    const auto images = torch::rand({2, 1, 4, 12});
    Collector seen;
    torch::Tensor answer;
    {
        const RecordingScope scope(seen);
        answer = model->forward(images);
    }
    const auto r = seen.take().at("relations/relation");  // [b, i, j, relations]
    ASSERT_EQ(r.sizes(), (std::vector<std::int64_t>{2, 3, 3, 6}));
    const auto x = model->named_children()["patch_embedder"];
    ASSERT_TRUE(x);
    for (std::int64_t b = 0; b < 2; ++b) {
        auto sum = torch::zeros({6});
        for (std::int64_t i = 0; i < 3; ++i)
            for (std::int64_t j = 0; j < 3; ++j) sum = sum + torch::relu(r[b][i][j]);
        EXPECT_TRUE(torch::allclose(through(*model, "f", sum, 2), answer[b], 1e-4, 1e-6));
    }
    // A relation is that of two objects alone: others in the picture do not change it.
    auto other = images.clone();
    other.slice(3, 8, 12).uniform_();
    Collector again;
    {
        const RecordingScope scope(again);
        model->forward(other);
    }
    const auto s = again.take().at("relations/relation");
    EXPECT_TRUE(torch::equal(r.slice(1, 0, 2).slice(2, 0, 2), s.slice(1, 0, 2).slice(2, 0, 2)));
    EXPECT_FALSE(torch::equal(r.select(1, 2), s.select(1, 2)));
}

}  // namespace
}  // namespace relascope
