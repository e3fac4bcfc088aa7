// SPDX-License-Identifier: GPL-3.0-or-later
// What a training measures of its layers: the numbers against the maps of a probe, what counts as a
// jump, and that measuring changes nothing.
#include "train/layer_health.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "checkpoint/kept_weights.h"
#include "model/hooks/hooks.h"
#include "probe/probe.h"
#include "run/run_lines.h"
#include "support/tiny_run.h"
#include "support/zoo.h"
#include "train/checkpoints.h"
#include "train/train.h"
#include "types/metric.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;
using testing_support::tinyData;
using testing_support::tinyOptions;

/// The largest |score| before the softmax that passes a hook point, over its open cells.
class LargestScore : public Hooks {
public:
    bool takes(std::string_view) const override { return true; }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        const bool ofSymbols =
            std::find(point.axes.begin(), point.axes.end(), Axis::Symbol) != point.axes.end();
        if (!point.name.ends_with("hook_attn_scores") || ofSymbols) return value;
        auto open = value.abs();
        if (point.closed.defined()) open = open.masked_fill(point.closed, 0.0);
        found = std::max(found, open.max().item<double>());
        return value;
    }
    double found = 0.0;
};

// Of the maps that the inspector shows, cell by cell.
HealthValues fromMaps(const ProbeResult& result) {
    double relation = 0.0, entropy = INFINITY;
    std::map<int, std::pair<double, int>> entropies;
    for (const auto& map : result.maps) {
        if (map.kind == MapKind::Symbols) continue;
        const auto values = map.values.empty() ? map.all() : map.values;
        for (int i = 0; i < map.rows; ++i) {
            double sum = 0.0, rowEntropy = 0.0;
            for (int j = 0; j < map.columns; ++j) {
                const double value = values[static_cast<std::size_t>(i * map.columns + j)];
                if (map.causal && j > i) continue;
                if (map.kind == MapKind::Relation) relation = std::max(relation, std::abs(value));
                if (value > 0.0) rowEntropy -= value * std::log(value);
                sum += value;
            }
            if (map.kind == MapKind::Relation || std::abs(sum - 1.0) > 1e-4) continue;
            entropies[map.layer].first += rowEntropy;
            ++entropies[map.layer].second;
        }
    }
    for (const auto& [layer, of] : entropies) entropy = std::min(entropy, of.first / of.second);
    return {{"largest_relation", relation}, {"attention_entropy", entropy}};
}

TEST(LayerHealth, HasTheNumbersOfTheMaps) {
    int relations = 0, scores = 0, entropies = 0;
    for (const auto& [name, options] : smallModels()) {
        SCOPED_TRACE(name);
        torch::manual_seed(3);
        const auto model = makeModel(options);
        model->eval();
        const auto sample = randomSample(options, 5);
        const auto input = inputOf(sample, options);
        std::map<std::string, double> found;
        for (const auto& [key, value] : healthOf(*model, options, input)) found[key] = value;
        for (const auto& [key, value] : fromMaps(probeModel(*model, options, sample, 0, {}))) {
            if (!found.contains(key)) continue;
            EXPECT_NEAR(found[key], value, 1e-5 + 1e-5 * value) << key;
            ++(key == "largest_relation" ? relations : entropies);
        }
        const auto layersWith = [&](const std::string& metric) {
            return std::count_if(found.begin(), found.end(), [&](const auto& one) {
                return one.first.starts_with(metric + "/");
            });
        };
        // Layers with a window record whole maps, whose scores are not known.
        if (layersWith("largest_score") < layersWith("attention_entropy")) continue;
        if (!found.contains("largest_score")) continue;
        LargestScore hooks;
        {
            const torch::NoGradGuard noGrad;
            const HookScope scope(&hooks);
            model->forward(input);
        }
        if (hooks.found == 0.0) continue;
        EXPECT_NEAR(found["largest_score"], hooks.found, 1e-5 + 1e-5 * hooks.found);
        ++scores;
    }
    // Of most models.
    EXPECT_GT(relations, 20);
    EXPECT_GT(scores, 20);
    EXPECT_GT(entropies, 20);
}

HealthValues one(double relation, double entropy = 2.0) {
    return {{"largest_relation/layer 1", relation},
            {"largest_relation", relation},
            {"attention_entropy/layer 1", entropy}};
}

TEST(LayerHealth, TellsJumpsFromSlowAndNoisyChanges) {
    JumpFinder rises;
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(rises.add(one(1.0 + 0.2 * (i % 3))).empty());
    const auto found = rises.add(one(15.0));
    ASSERT_EQ(found.size(), 1u) << "once, of the layer";
    EXPECT_EQ(found[0], "largest |r| of layer 1 rose from 1.4 to 15");
    EXPECT_TRUE(rises.add(one(30.0)).empty()) << "the same jump";

    JumpFinder falls;
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(falls.add(one(1.0)).empty());
    ASSERT_EQ(falls.add(one(1.0, 0.15)).size(), 1u);
    EXPECT_TRUE(falls.add(one(0.01)).empty()) << "a relation that becomes small";

    JumpFinder slow;
    double value = 1.0;
    for (int i = 0; i < 60; ++i, value *= 1.1) EXPECT_TRUE(slow.add(one(value)).empty()) << i;
    JumpFinder young;
    for (int i = 0; i < 7; ++i) EXPECT_TRUE(young.add(one(i == 6 ? 100.0 : 1.0)).empty());
    JumpFinder zero;
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(zero.add(one(i < 19 ? 0.0 : 1.0)).empty());
}

RunFolder trained(
    const std::string& path, const RunOptions& options, core::Control& control,
    const core::EventSink& sink = [](const TrainEvent&) {}) {
    auto folder = RunFolder::create(path, options);
    train(folder, tinyData(), control, sink, {});
    return folder;
}

TEST(LayerHealth, IsMeasuredAlongTrainingAndChangesNothing) {
    const TemporaryFolder home("health");
    auto options = tinyOptions();
    options.model.set("dropout_rate", 0.1);
    options.train.clip_norm = 0.05;
    options.train.health_every = 5;
    core::Control control;
    const auto with = trained(home / "with", options, control);
    options.train.health_every = 0;
    const auto without = trained(home / "without", options, control);
    const auto points = readMetrics(with.path()), plain = readMetrics(without.path());
    ASSERT_EQ(points.size(), plain.size());
    int measured = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_EQ(points[i].value("loss"), plain[i].value("loss")) << "step " << points[i].step;
        const bool due = points[i].split == Split::Train && points[i].step % 5 == 0;
        for (const char* key :
             {"largest_relation/layer 1", "largest_score/layer 1", "attention_entropy/layer 1",
              "grad_norm/layer 1", "largest_relation"})
            EXPECT_EQ(std::isnan(points[i].value(key)), !due) << key << ", " << points[i].step;
        if (!due) continue;
        ++measured;
        EXPECT_GT(points[i].value("grad_norm/layer 1"), 0.0);
        EXPECT_LT(points[i].value("grad_norm/layer 1"), points[i].value("grad_norm"))
            << "a part of all gradients, before clipping";
        EXPECT_GT(points[i].value("grad_norm/layer 1"), 0.1 * points[i].value("grad_norm"));
    }
    EXPECT_GT(measured, 3);
}

TEST(LayerHealth, KeepsTheStepOfAJump) {
    const TemporaryFolder home("health");
    auto options = tinyOptions();
    options.train.health_every = 1;
    options.train.epochs = 8;
    options.train.learning_rate = 1e-5;
    core::Control control;
    std::vector<Note> notes;
    const auto folder = trained(home / "run", options, control, [&](const TrainEvent& event) {
        if (const auto* point = std::get_if<MetricPoint>(&event);
            point && point->split == Split::Train && point->step == 20)
            control.changeOption("train.learning_rate", 3.0);
        if (const auto* note = std::get_if<Note>(&event)) notes.push_back(*note);
    });
    std::vector<Note> jumps;
    for (const auto& note : readEvents(folder.path()))
        if (note.level == Note::Level::Jump) jumps.push_back(note);
    ASSERT_FALSE(jumps.empty());
    EXPECT_LE(jumps.size(), 5u);
    EXPECT_GT(jumps[0].step, 20);
    EXPECT_NE(jumps[0].text.find(" of layer 1 rose from "), std::string::npos) << jumps[0].text;
    EXPECT_TRUE(hasKeptCheckpoint(folder.path(), jumps[0].step)) << "a branch can start there";
    const KeptWeights weights(folder.path());
    EXPECT_TRUE(std::any_of(weights.steps().begin(), weights.steps().end(),
                            [&](const auto& kept) { return kept.step == jumps[0].step; }));
}

}  // namespace
}  // namespace relascope
