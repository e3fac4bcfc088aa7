// SPDX-License-Identifier: GPL-3.0-or-later
// Relations learned on pairs and taken over, frozen, by an Abstractor.
#include "model/abstractor/fixed_relations.h"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <random>

#include "checkpoint/tensor_io.h"
#include "files/safetensors.h"
#include "model/model.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "probe/probe.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "train/checkpoints.h"
#include "train/optimizer.h"
#include "train/train.h"

namespace relascope {
namespace {

using namespace testing_support;

ModelOptions fixedOptions() {
    ModelOptions m;
    m.setArchitecture("FixedRelationAbstractor");
    m.set("n_objects", 3), m.set("object_dim", 6), m.set("out_dim", 1), m.set("n_relations", 2),
        m.set("rel_proj_dim", 8);
    m.set("symbol_dim", 5), m.set("hidden_layers", std::vector<std::int64_t>{32, 16});
    return m;
}
ModelOptions pairOptions() {
    auto m = fixedOptions();
    m.setArchitecture("PairRelations");
    m.set("n_objects", 2), m.set("out_dim", 2);
    return m;
}

double product(const PairwiseRelations& relation, const torch::Tensor& x, const torch::Tensor& y,
               std::int64_t r, std::int64_t width) {
    const auto q = torch::matmul(relation->wq->weight, x) + relation->wq->bias,
               k = torch::matmul(relation->wk->weight, y) + relation->wk->bias;
    double sum = 0;
    for (std::int64_t d = r * width; d < (r + 1) * width; ++d)
        sum += q[d].item<double>() * k[d].item<double>();
    return sum;
}

TEST(PairRelations, ScoreTheFirstObjectAgainstTheSecond) {
    torch::manual_seed(1);
    const auto model = std::dynamic_pointer_cast<PairRelationsImpl>(makeModel(pairOptions()));
    ASSERT_TRUE(model);
    const torch::NoGradGuard noGrad;
    const auto x = torch::randn({4, 2, 6});
    const auto scores = model->forward(x);
    ASSERT_EQ(scores.sizes(), (std::vector<std::int64_t>{4, 2}));
    for (std::int64_t b = 0; b < 4; ++b)
        for (std::int64_t r = 0; r < 2; ++r)
            EXPECT_NEAR(scores[b][r].item<double>(),
                        product(model->relation, x[b][0], x[b][1], r, 8), 1e-4);
    auto wrong = pairOptions();
    wrong.set("n_relations", 3);
    EXPECT_THROW(makeModel(wrong), OptionError);
    wrong = pairOptions();
    wrong.set("n_objects", 3);
    EXPECT_THROW(makeModel(wrong), OptionError);
}

TEST(FixedRelationAbstractor, SendsItsSymbolsAlongSharpRelations) {
    torch::manual_seed(2);
    const auto options = fixedOptions();
    const auto model = std::dynamic_pointer_cast<FixedRelationAbstractorImpl>(makeModel(options));
    ASSERT_TRUE(model);
    const torch::NoGradGuard noGrad;
    const auto x = torch::randn({1, 3, 6}) * 0.3;
    auto e = torch::zeros({3 * 2 * 5});
    for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t r = 0; r < 2; ++r)
            for (std::int64_t j = 0; j < 3; ++j) {
                const double inner = product(model->relation, x[0][i], x[0][j], r, 8);
                const double weight = 1.0 / (1.0 + std::exp(-50.0 * inner / 8.0));
                for (std::int64_t d = 0; d < 5; ++d)
                    e[i * 10 + r * 5 + d] += weight * model->symbols[j][d];
            }
    EXPECT_NEAR(model->forward(x).item<double>(),
                model->layers->forward(e.unsqueeze(0)).item<double>(), 1e-4);

    ProbeSample sample = randomSample(options, 3);
    const auto seen = probeModel(*model, options, sample, 0, {});
    ASSERT_EQ(seen.layers.size(), 1u);
    EXPECT_EQ(seen.count(MapKind::Relation, 0), 2);
    for (const auto& map : seen.maps)
        for (const float value : map.values) {
            EXPECT_GE(value, 0.0F);
            EXPECT_LE(value, 1.0F);
        }
}

TEST(FixedRelationAbstractor, TrainsItsLayersAlone) {
    torch::manual_seed(3);
    const auto model = makeModel(fixedOptions());
    std::vector<torch::Tensor> before;
    for (const auto& entry : stateOf(*model)) before.push_back(entry.tensor.detach().clone());
    EXPECT_EQ(trainableParameters(*model).size(), 6u);
    Optimizer optimizer(*model, TrainOptions());
    for (int step = 0; step < 3; ++step) {
        optimizer.zeroGradients();
        model->forward(torch::randn({16, 3, 6})).square().mean().backward();
        optimizer.step(0.01);
    }
    const auto state = stateOf(*model);
    for (std::size_t i = 0; i < state.size(); ++i) {
        const bool frozen = state[i].name.rfind("layers.", 0) != 0;
        EXPECT_EQ(torch::equal(state[i].tensor, before[i]), frozen) << state[i].name;
        EXPECT_EQ(state[i].tensor.requires_grad(), !frozen) << state[i].name;
    }
}

/// Cards of four attributes with three values, one-hot, the last two the same on every card; two of
/// them: which attributes are the same? Three: is each the same on all or different on all?
class SmallGame : public ObjectDataset {
public:
    SmallGame(std::int64_t cards, std::int64_t size, std::uint64_t seed)
        : m_cards(cards), m_seed(seed) {
        m_info.name = "small game";
        m_info.size = size;
        m_info.targets = cards == 2 ? TargetKind::MultiLabel : TargetKind::Class;
        if (cards == 3) m_info.classNames = {"no", "yes"};
    }
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override { return {m_cards, 12, m_cards == 2 ? 4 : 1}; }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        std::mt19937_64 random(m_seed * 1000003 + static_cast<std::uint64_t>(index));
        std::vector<std::uint64_t> values(static_cast<std::size_t>(2 * m_cards));
        const auto wrong = [&](std::size_t a) {
            return (values[a] + values[2 + a] + values[4 + a]) % 3 != 0;
        };
        do
            for (auto& value : values) value = random() % 3;
        while (m_cards == 3 && index % 2 == 1 && (wrong(0) || wrong(1)));
        std::fill(objects.begin(), objects.end(), -0.5F);
        std::fill(targets.begin(), targets.end(), 1.0F);
        for (std::size_t i = 0; i < static_cast<std::size_t>(m_cards); ++i)
            for (std::size_t a = 0; a < 4; ++a)
                objects[12 * i + 3 * a + (a < 2 ? values[2 * i + a] : 0)] = 0.5F;
        if (m_cards == 3)
            targets[0] = wrong(0) || wrong(1) ? 0.0F : 1.0F;
        else
            for (std::size_t a = 0; a < 2; ++a) targets[a] = values[a] == values[2 + a];
    }
    ProbeSample sample(std::int64_t index) const override {
        ProbeSample s;
        s.source.width = 12;
        s.source.vectors.resize(static_cast<std::size_t>(12 * m_cards));
        std::vector<float> targets(static_cast<std::size_t>(shape().targets));
        read(index, s.source.vectors, targets);
        return s;
    }

private:
    DatasetInfo m_info;
    std::int64_t m_cards;
    std::uint64_t m_seed;
};

DataSplits smallGame(std::int64_t cards) {
    DataSplits splits;
    splits.train = std::make_shared<SmallGame>(cards, 400, 1);
    splits.validation = std::make_shared<SmallGame>(cards, 100, 2);
    splits.tests.emplace_back("test", std::make_shared<SmallGame>(cards, 200, 3));
    return splits;
}

TEST(FixedRelationAbstractor, KeepsTheRelationsOfTheStageBefore) {
    TemporaryFolder home("fixed-relations");
    auto options = presetOptions("set", "abstractor-pretrained");
    const auto stage = options.pretraining();
    ASSERT_TRUE(stage);
    EXPECT_TRUE(stage->problems().empty());
    EXPECT_EQ(stage->model.architecture(), "PairRelations");
    EXPECT_EQ(stage->model.number("n_objects"), 2);
    EXPECT_EQ(stage->model.number("out_dim"), 4);
    EXPECT_EQ(stage->model.number("object_dim"), 32);
    EXPECT_EQ(stage->data.task, "attributes");
    EXPECT_EQ(options.model.number("object_dim"), 32);

    options.data.embedding = 12;
    options.model.set("hidden_layers", std::vector<std::int64_t>{32, 16});
    fitToData(options);
    options.train.pretrain =
        "model.architecture=PairRelations data.task=attributes train.epochs=40 "
        "train.early_stopping.restore_best=false";
    options.train.batch_size = 16, options.train.epochs = 40, options.train.device = "cpu";
    options.train.learning_rate = 0.005;
    options.train.early_stopping.metric = "none";
    auto data = smallGame(3);
    data.pretraining = std::make_shared<const DataSplits>(smallGame(2));
    const std::string run = home / "run";
    auto folder = RunFolder::create(run, options);
    Control control;
    std::string failure;
    const auto result = train(folder, data, control,
                              [&](const TrainEvent& event) {
                                  if (const auto* failed = std::get_if<Failed>(&event))
                                      failure = failed->message;
                              },
                              {});
    ASSERT_EQ(result.info.state, RunState::Done) << failure;
    EXPECT_GT(readRunInfo(run + "/before").results.at(0).value("accuracy"), 0.99);
    EXPECT_GT(result.info.results.at(0).value("accuracy"), 0.95);
    const SafetensorsFile before(checkpointWeights(run + "/before", "last")),
        after(checkpointWeights(run, "last"));
    for (const char* name : {"relation.wq.weight", "relation.wk.weight", "relation.wq.bias"}) {
        ASSERT_TRUE(before.find(name) && after.find(name)) << name;
        EXPECT_TRUE(torch::equal(readTensor(before, *before.find(name)),
                                 readTensor(after, *after.find(name))))
            << name;
    }
}

}  // namespace
}  // namespace relascope
