// SPDX-License-Identifier: GPL-3.0-or-later
// fit-relation as an analysis: its tables, the file that it saves, what it refuses, its words.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "analysis/fitted/fitted.h"
#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "interventions/edit_words.h"
#include "interventions/relation_file.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "tests/datasets/step_run.h"

namespace relascope {
namespace {

using namespace testing_support;

struct Fitting : StepSubject {
    Fitting() : StepSubject(smallDual(4, 200)) {}
    Answer fit(core::OptionValues values, const core::Watch<Answer>& watch = {}) {
        values.try_emplace("fact", std::string("same shape"));
        values.try_emplace("examples", std::int64_t{120});
        values.try_emplace("untrained", std::int64_t{1});
        return core::runnerOf(core::analysisNamed("fit-relation")).run(subject, values, watch);
    }
    void refused(const core::OptionValues& values, const std::string& field,
                 const std::string& words) {
        try {
            fit(values);
            ADD_FAILURE() << "was fitted; expected: " << words;
        } catch (const OptionError& error) {
            EXPECT_EQ(error.field(), field);
            EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
        }
    }
};

TEST(FitRelation, GivesTablesAndAFile) {
    Fitting of;
    const TemporaryFolder folder("fitted");
    std::filesystem::create_directories(folder.path());
    const auto path = folder / "same-shape.safetensors";
    std::vector<std::size_t> shown;  // layers, while others are fitted
    core::Watch<Answer> watch;
    watch.partial = [&](const Answer& soFar) { shown.push_back(soFar.table("layers").rows()); };
    const auto answer = of.fit({{"save", path}, {"remove", true}}, watch);
    const auto layers = of.model.options().number("n_layers");
    EXPECT_EQ(answer.table("layers").rows(), static_cast<std::size_t>(layers + 1));
    ASSERT_EQ(shown.size(), static_cast<std::size_t>(layers + 2));
    EXPECT_EQ(shown.front(), 1U);
    EXPECT_EQ(shown.back(), static_cast<std::size_t>(layers + 1)) << "with an untrained model";
    EXPECT_EQ(answer.text("saved"), path);
    EXPECT_GE(answer.number("auc"), answer.number("low"));
    EXPECT_LE(answer.number("auc"), answer.number("high"));
    EXPECT_GT(answer.table("chance").rows(), 1u);
    EXPECT_GE(answer.table("sentences").rows(), 1u);
    EXPECT_GE(answer.table("removed").rows(), 1u);
    const auto relation = core::readRelation(path);
    EXPECT_EQ(relation.fact, "same shape");
    EXPECT_EQ(relation.point, answer.text("point"));
    EXPECT_NE(relation.metadata.at("command").find("--fact 'same shape' --layer all"),
              std::string::npos)
        << relation.metadata.at("command");
    EXPECT_EQ(static_cast<double>(relation.rank), answer.number("rank"));
    const auto points = of.model.points(of.subject.data->sample(0));
    const auto edit = core::editFromWords("fitted " + path + " out", points);
    EXPECT_EQ(edit.point, relation.point);
    EXPECT_NO_THROW(of.model.probe(of.subject.data->sample(0), {}, {{{}, {}, {}, {edit}}, {}}));
}

TEST(FitRelation, WhatARelationComparesIsSaidOfPatches) {
    Fitting of;
    const TemporaryFolder folder("compared");
    std::filesystem::create_directories(folder.path());
    const auto path = folder / "same-shape.safetensors";
    of.fit({{"save", path}, {"layer", std::string("1")}});
    const auto answer = core::runnerOf(core::analysisNamed("qk-components"))
                            .run(of.subject,
                                 {{"relation", path},
                                  {"components", std::int64_t{2}},
                                  {"attribute", std::string("same shape")}},
                                 {});
    EXPECT_EQ(answer.text("map"), "fitted relation same-shape");
    EXPECT_NEAR(answer.number("symmetric"), 1.0, 1e-9) << "both sides of the form are the same";
    EXPECT_EQ(answer.number("direct"), 1.0) << "layer 1 has added to the stream";
    EXPECT_NEAR(answer.number("pairs") + answer.number("receivers") + answer.number("senders"), 1.0,
                1e-6);
    EXPECT_TRUE(std::isfinite(answer.number("attribute_difference")));
    const auto& components = answer.table("components");
    EXPECT_GE(components.rows(), 1U);
    for (const auto& link : answer.tables[1].links)
        EXPECT_LT(link.layer, 0) << "a fitted map has no number among those of its layer";
}

TEST(FitRelation, KeepsWhatWasMeasuredIfTheFileCannotBeWritten) {
    Fitting of;
    const TemporaryFolder folder("fitted");
    const auto path = folder / "later/same-shape.safetensors";
    bool began = false;
    core::Watch<Answer> watch;
    watch.progress = [&](double) { return began = true; };
    EXPECT_THROW(of.fit({{"save", path}}, watch), FileError);
    EXPECT_FALSE(began) << "it is refused before anything is measured";
    std::filesystem::create_directories(folder / "later");
    watch.progress = [&](double) {
        std::filesystem::remove_all(folder / "later");
        return true;
    };
    const auto answer = of.fit({{"save", path}}, watch);
    EXPECT_GT(answer.number("auc"), 0.0);
    EXPECT_EQ(answer.text("saved"), "");
    EXPECT_NE(answer.table("sentences").texts("text").back().find("was not saved: " + path),
              std::string::npos);
}

// One fit may take seconds: it is left where it is.
TEST(FitRelation, IsCancelledWithinAFit) {
    Fitting of;
    core::Watch<Answer> watch;
    int looks = 0, afterRead = 0;
    double last = 0.0;
    watch.progress = [&](double done) {
        EXPECT_GE(done, last);
        last = done;
        ++looks;
        afterRead += looks > 3 ? 1 : 0;
        return afterRead < 10;
    };
    EXPECT_THROW(of.fit({{"layer", std::string("1")}}, watch), Cancelled);
    EXPECT_LT(last, 0.5);
}

TEST(FitRelation, RefusesWhatCannotBeFitted) {
    Fitting of;
    of.refused({{"fact", std::string("same shepe")}}, "fact", "same shape");
    of.refused({{"layer", std::string("9")}}, "layer", "neither all nor a number");
    of.refused({{"layer", std::string("one")}}, "layer", "neither all nor a number");
    of.refused({{"form", std::string("square")}}, "form", "symmetric");
}

FittedFacts clearFacts() {
    FittedFacts facts;
    facts.fact = "same kind", facts.form = "symmetric", facts.noun = "images";
    facts.layer = "after layer 3", facts.layers = 5;
    facts.examples = 100, facts.yes = 900, facts.no = 5000;
    facts.auc = 0.984, facts.low = 0.957, facts.high = 0.994;
    facts.beyondPlaceLow = 0.3, facts.beyondSideLow = 0.3;
    facts.place = 0.53, facts.oneSide = 0.54, facts.pixels = 0.84;
    facts.untrained = {0.85, 0.86, 0.866, 0.846}, facts.exchanged = {0.4, 0.6, 0.66};
    facts.keptRank = 12;
    return facts;
}

TEST(FittedWords, FollowTheirRules) {
    auto facts = clearFacts();
    EXPECT_TRUE(core::fittedWords(facts).learned);
    EXPECT_NE(core::fittedSentences(facts).front().find("untrained models 0.846 to 0.866"),
              std::string::npos)
        << core::fittedSentences(facts).front();
    facts.untrained = {0.98, 0.97, 0.985, 0.98};
    EXPECT_TRUE(core::fittedWords(facts).read);
    EXPECT_FALSE(core::fittedWords(facts).learned);
    EXPECT_NE(core::fittedSentences(facts).front().find("nothing is shown to have been learned"),
              std::string::npos);
    facts = clearFacts(), facts.exchanged.push_back(0.96);
    EXPECT_FALSE(core::fittedWords(facts).read);
    facts = clearFacts(), facts.beyondSideLow = -0.01;
    EXPECT_FALSE(core::fittedWords(facts).read);
    facts = clearFacts(), facts.low = 0.59;
    EXPECT_FALSE(core::fittedWords(facts).read);
    facts = clearFacts(), facts.untrained.pop_back();
    EXPECT_FALSE(core::fittedWords(facts).learned) << "of three models nothing is said";
    facts = clearFacts(), facts.examples = 49;
    EXPECT_FALSE(core::fittedWords(facts).enough);
    facts.leftOut = 88;
    const auto few = core::fittedSentences(facts);
    ASSERT_EQ(few.size(), 2u);
    EXPECT_NE(few[0].find("50 images and 50 pairs of each are needed"), std::string::npos);
    EXPECT_NE(few[1].find("88 images were left out"), std::string::npos);
    facts = clearFacts(), facts.yes = 49;
    EXPECT_FALSE(core::fittedWords(facts).enough);
}

// Measured on a ViT that tells whether a shape occurs twice, five splits each: colour is in the
// pixels, kind is not.
TEST(FittedWords, WhatUntrainedModelsReadAsWellIsInborn) {
    struct Case {
        double auc, low, freshLow, freshHigh;
    };
    const auto learned = [](const Case& one) {
        auto facts = clearFacts();
        facts.auc = one.auc, facts.low = one.low;
        const double third = (one.freshHigh - one.freshLow) / 3.0;
        facts.untrained = {one.freshLow, one.freshLow + third, one.freshHigh - third,
                           one.freshHigh};
        EXPECT_TRUE(core::fittedWords(facts).read) << one.auc << " [" << one.low;
        return core::fittedWords(facts).learned;
    };
    for (const Case& colour : {Case{1.000, 0.944, 0.995, 0.997}, Case{1.000, 0.997, 0.996, 0.997},
                               Case{1.000, 0.944, 0.994, 0.997}, Case{1.000, 0.999, 0.998, 0.999},
                               Case{1.000, 0.944, 0.994, 0.996}})
        EXPECT_FALSE(learned(colour)) << colour.freshLow << " to " << colour.freshHigh;
    for (const Case& kind : {Case{0.960, 0.924, 0.802, 0.835}, Case{0.971, 0.945, 0.854, 0.880},
                             Case{0.983, 0.962, 0.833, 0.852}, Case{0.974, 0.922, 0.868, 0.882},
                             Case{0.940, 0.890, 0.794, 0.850}})
        EXPECT_TRUE(learned(kind)) << kind.auc << " beside " << kind.freshHigh;
    EXPECT_FALSE(learned({0.999, 0.998, 0.988, 0.990})) << "0.009 more";
    EXPECT_TRUE(learned({0.9995, 0.998, 0.987, 0.989})) << "0.0105 more, half of what is missed";
    EXPECT_FALSE(learned({0.96, 0.83, 0.80, 0.835})) << "the interval holds an untrained model";
}

TEST(FittedWords, CarriesNeedsMoreThanRandomSubspaces) {
    auto facts = clearFacts();
    facts.metric = "accuracy", facts.base = 0.98, facts.untrainedMetric = {0.5, 0.49, 0.51, 0.5};
    FittedFacts::Removal one;
    one.rank = 2, one.dimensions = 2, one.variance = 0.12;
    one.change = {"accuracy", 0.98, 0.55, -0.43, -0.5, -0.36};
    one.randomMean = -0.13, one.randomLow = -0.2, one.randomHigh = -0.04;
    one.cheaper = 20, one.random = 20;
    one.beyond = {"accuracy", 0.85, 0.55, -0.3, -0.34, -0.26};
    facts.removals = {one};
    EXPECT_EQ(core::fittedWords(facts).carries, 0);
    EXPECT_NE(core::fittedSentences(facts).back().find("20 random subspaces as strong"),
              std::string::npos)
        << core::fittedSentences(facts).back();
    facts.removals[0].cheaper = 18;
    EXPECT_EQ(core::fittedWords(facts).carries, -1);
    facts.removals[0] = one, facts.removals[0].beyond.high = 0.01;
    EXPECT_EQ(core::fittedWords(facts).carries, -1);
    facts.removals[0] = one, facts.removals[0].rank = 13;
    EXPECT_EQ(core::fittedWords(facts).carries, -1) << "beyond the rank that is kept";
    facts.removals[0] = one, facts.base = 0.5;
    EXPECT_EQ(core::fittedWords(facts).carries, -1) << "a model that answers by chance";
}

}  // namespace
}  // namespace relascope
