// SPDX-License-Identifier: GPL-3.0-or-later
// One input at every kept step: equal to single probes there, with edits and without.
#include "analysis/along/along_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "analysis/open_model.h"
#include "checkpoint/kept_weights.h"
#include "interventions/edit_words.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "support/trained.h"

namespace relascope {
namespace {

using namespace testing_support;

class Along : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        home = std::make_unique<TemporaryFolder>("along");
        auto options = tinyOptions();
        auto folder = RunFolder::create(*home / "run", options);
        Control control;
        trainIn(folder, control);
        options.train.keep_mib = 0;
        auto other = RunFolder::create(*home / "none", options);
        trainIn(other, control);
    }
    static void TearDownTestSuite() { home.reset(); }
    static std::string run() { return *home / "run"; }

    ProbeSample sample = tinyData().validation->sample(1);
    std::vector<std::string> classes = tinyData().validation->info().classNames;
    static inline std::unique_ptr<TemporaryFolder> home;
};

AlongOptions cellOf(MapKind kind, int index, int i, int j) {
    AlongOptions options;
    options.cell = {kind, 0, index, 0, i, j};
    return options;
}

EditList editOf(OpenedModel& model, const ProbeSample& sample, const std::string& words) {
    EditList list;
    list.edits.push_back(editFromWords(words, model.points(sample)));
    return list;
}

TEST_F(Along, EqualsSingleProbesAtTheKeptSteps) {
    std::vector<double> fractions;
    std::size_t parts = 0;
    const auto along = alongTraining(
        run(), "cpu", sample, classes, cellOf(MapKind::Relation, 0, 2, 3), {},
        [&](double f) {
            fractions.push_back(f);
            return true;
        },
        [&](const AlongTraining& some) {
            EXPECT_EQ(some.steps.size(), ++parts);
            EXPECT_EQ(some.steps.back().step, 24) << "the last one gives the answer";
        });
    const KeptWeights kept(run());
    ASSERT_EQ(along.steps.size(), kept.steps().size());
    EXPECT_EQ(parts, along.steps.size());
    EXPECT_EQ(along.wanted, static_cast<std::int64_t>(parts));
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_EQ(along.block, 1);
    EXPECT_EQ(along.layerName, "layer 1");
    EXPECT_FALSE(along.edited);
    for (std::size_t k = 0; k < along.steps.size(); ++k) {
        const auto& at = along.steps[k];
        ASSERT_EQ(at.step, kept.steps()[k].step);
        const auto single =
            OpenedModel(run(), std::to_string(at.step), "cpu").probe(sample, classes);
        const auto* map = single.find(MapKind::Relation, 0, 0);
        ASSERT_TRUE(map);
        EXPECT_EQ(at.now.value, static_cast<double>(map->at(2, 3)));
        EXPECT_EQ(at.now.map, map->all());
        EXPECT_EQ(at.now.probability,
                  static_cast<double>(single.probabilities[std::size_t(along.answer)]));
        EXPECT_TRUE(at.before.map.empty());
        if (k + 1 < along.steps.size()) continue;
        const auto best =
            std::max_element(single.probabilities.begin(), single.probabilities.end());
        EXPECT_EQ(along.answer, best - single.probabilities.begin());
        EXPECT_EQ(along.answerName, classes[std::size_t(along.answer)]);
    }
    auto other = along;
    EXPECT_TRUE(other.chooseCell({MapKind::Relation, 0, 0, 0, 0, 1}));
    EXPECT_EQ(other.steps[3].now.value, static_cast<double>(along.steps[3].now.map[1]));
    EXPECT_FALSE(other.chooseCell({MapKind::RelationalAttention, 0, 0, 0, 0, 1}));
    EXPECT_FALSE(other.chooseCell({MapKind::Relation, 0, 0, 0, 0, 1000}));
}

TEST_F(Along, GivesBothWithEditsAndTheStepsAndAnswerThatAreAskedFor) {
    auto options = cellOf(MapKind::AttentionTimesRelation, 0, 1, 0);
    OpenedModel first(run(), "0", "cpu");
    options.edits = editOf(first, sample, "layer 1 relation 1 scale 2");
    options.steps = {24, 0, 24};
    options.answer = 1;
    const auto along = alongTraining(run(), "cpu", sample, classes, options);
    ASSERT_EQ(along.steps.size(), 2u);
    EXPECT_TRUE(along.edited);
    EXPECT_EQ(along.answer, 1);
    for (const auto& at : along.steps) {
        OpenedModel model(run(), std::to_string(at.step), "cpu");
        const auto before = model.probe(sample, classes);
        const auto after = model.probe(sample, classes, {options.edits, {}});
        const auto value = [&](const ProbeResult& r) {
            return static_cast<double>(r.find(MapKind::Relation, 0, 0)->at(1, 0) *
                                       r.find(MapKind::RelationalAttention, 0, 0)->at(1, 0));
        };
        EXPECT_EQ(at.before.value, value(before));
        EXPECT_EQ(at.now.value, value(after));
        EXPECT_NE(at.now.value, at.before.value);
        EXPECT_EQ(at.before.probability, static_cast<double>(before.probabilities[1]));
        EXPECT_EQ(at.now.probability, static_cast<double>(after.probabilities[1]));
        EXPECT_EQ(at.before.map.size(), at.now.map.size());
    }
    // Edits that are off are none.
    options.edits.edits[0].enabled = false;
    EXPECT_FALSE(alongTraining(run(), "cpu", sample, classes, options).edited);
}

TEST_F(Along, StepsOfOtherWeightsAreComputedAgain) {
    auto options = cellOf(MapKind::Relation, 0, 2, 3);
    const auto whole = alongTraining(run(), "cpu", sample, classes, options);
    ASSERT_GT(whole.steps.size(), 2u);
    options.known = whole;
    for (auto& step : options.known->steps) step.now.probability = 7.0;
    options.known->steps[1].weights ^= 1;
    const auto again = alongTraining(run(), "cpu", sample, classes, options);
    ASSERT_EQ(again.steps.size(), whole.steps.size());
    for (std::size_t k = 0; k < whole.steps.size(); ++k)
        EXPECT_EQ(again.steps[k].now.probability, k == 1 ? whole.steps[k].now.probability : 7.0);
}

TEST_F(Along, RefusesWhatIsNotThereAndStops) {
    const auto refused = [&](const AlongOptions& options, const std::string& words,
                             const std::string& of = run()) {
        try {
            alongTraining(of, "cpu", sample, classes, options);
            ADD_FAILURE() << words;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    refused(cellOf(MapKind::Relation, 99, 0, 0),
            "index: 100 is out of range: the last of the relation maps of layer 1 is 1");
    refused(cellOf(MapKind::Relation, 0, 0, 500), "j: 500 is out of range");
    auto options = cellOf(MapKind::Relation, 0, 0, 0);
    options.cell.layer = 7;
    refused(options, "layer: 8 is beyond the model's 1");
    options = cellOf(MapKind::Relation, 0, 0, 0);
    options.answer = 77;
    refused(options, "answer: 77 is out of range");
    refused(cellOf(MapKind::Relation, 0, 0, 0), "kept no weights", *home / "none");
    std::stop_source stop;
    EXPECT_THROW(
        alongTraining(run(), "cpu", sample, classes, cellOf(MapKind::Relation, 0, 0, 0),
                      stop.get_token(), {}, [&](const AlongTraining&) { stop.request_stop(); }),
        Cancelled);
}

}  // namespace
}  // namespace relascope
