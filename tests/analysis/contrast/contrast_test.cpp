// SPDX-License-Identifier: GPL-3.0-or-later
// Contrast: shares add up to 1 and are those of a plain computation over all pairs, facts add up to
// the pairs of parts, and what cannot be compared is refused with the reason.
#include "analysis/contrast/contrast.h"
#include "analysis/analysis.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/contrast/terms.h"
#include "analysis/dictionary/dictionary.h"
#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/origins/origins.h"
#include "analysis/pairs/pair_objects.h"
#include "analysis/run_analysis.h"
#include "interventions/editor.h"
#include "options/run_settings.h"
#include "support/rooms.h"
#include "tests/datasets/step_run.h"

namespace relascope {
namespace {

using namespace testing_support;

struct ContrastOfRun : StepSubject {
    explicit ContrastOfRun(const RunOptions& options = smallDual(2, 200), std::int64_t seed = 3)
        : StepSubject(options, seed) {}
    Answer measure(core::OptionValues values, const core::AnalysisWatch& watch = {}) {
        values.try_emplace("attribute", std::string("same object"));
        values.try_emplace("untrained", std::int64_t{0});
        return core::runnerOf(core::analysisNamed("contrast")).run(subject, values, watch);
    }
};

double sumOf(const Table& table) {
    double sum = 0.0;
    for (const double share : table.numbers("share")) sum += share;
    return sum;
}

TEST(Contrast, SharesAddUpToOneAndTheDifferenceIsThatOfThePairs) {
    ContrastOfRun measured;
    const auto answer = measured.measure({{"layer", std::int64_t{2}}});
    ASSERT_EQ(answer.number("split"), 1.0) << "one of these maps tells them apart untrained";
    EXPECT_NEAR(sumOf(answer.table("parts")), 1.0, 1e-6);
    // The difference, place by place, of the scores that a pass records.
    auto objects = core::pairObjects(measured.model.options(), *measured.subject.data, 1000, "");
    const auto attributes =
        core::attributesOf(objects, measured.model.options(), *measured.subject.data, "");
    const auto same = std::find_if(attributes.all.begin(), attributes.all.end(),
                                   [](const auto& a) { return a.name.starts_with("same object"); });
    ASSERT_NE(same, attributes.all.end());
    const std::vector<std::int64_t> all(objects.examples.begin(), objects.examples.end());
    const auto batch = core::makeBatch(*measured.subject.data, all.data(), std::ssize(all));
    core::PointReader reader({"blocks.1.rel.hook_rel_scores"});
    measured.model.edited({})->answers(batch, measured.subject.data, all, &reader);
    const auto scores = reader.tensors().begin()->second.select(3, 0).to(torch::kDouble);
    const auto n = objects.shape.objects;
    double whole = 0.0, weight = 0.0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            double sums[2] = {0.0, 0.0}, counts[2] = {0.0, 0.0};
            for (std::size_t e = 0; e < all.size() && i != j; ++e) {
                const auto truth = same->truth[(e * n + i) * n + j];
                if (truth == core::kPairUndefined) continue;
                const bool yes = truth == core::kPairYes;
                counts[yes] += 1.0;
                sums[yes] +=
                    scores[static_cast<std::int64_t>(e)][objects.positions[i]][objects.positions[j]]
                        .item<double>();
            }
            if (counts[0] == 0.0 || counts[1] == 0.0) continue;
            const double w = counts[0] * counts[1];
            whole += w * (sums[1] / counts[1] - sums[0] / counts[0]), weight += w;
        }
    EXPECT_NEAR(answer.number("difference"), whole / weight,
                1e-5 * std::abs(whole / weight) + 1e-7);
    EXPECT_LE(answer.number("low"), answer.number("difference"));
    EXPECT_GE(answer.number("high"), answer.number("difference"));
    // Facts add up to what pairs of parts are together.
    const auto& parts = answer.table("parts");
    double both = 0.0;
    for (std::size_t row = 0; row < parts.rows(); ++row)
        if (parts.texts("side")[row] == "both") both += parts.numbers("share")[row];
    EXPECT_NEAR(sumOf(answer.table("facts")), both, 1e-6);
    EXPECT_EQ(answer.table("facts").rows(), 9U) << "shape, colour and the rest";
    EXPECT_EQ(core::analysisNamed("contrast").csv(answer).rfind("side,i,j,share,low,high,", 0), 0u);
    const auto text = core::analysisNamed("contrast").terminal(answer);
    EXPECT_NE(text.find("The strongest pair of parts is"), std::string::npos) << text;
}

TEST(Contrast, UntrainedModelsThroughAndUse) {
    ContrastOfRun measured;
    const auto answer = measured.measure({{"layer", std::int64_t{2}},
                                          {"untrained", std::int64_t{2}},
                                          {"through", std::string("layer 1 sensory head 1")},
                                          {"by", std::string("facts")},
                                          {"use", true}});
    EXPECT_EQ(answer.number("untrained"), 2.0);
    EXPECT_LE(answer.number("untrained_low"), answer.number("untrained_high"));
    EXPECT_EQ(answer.tables.at(1).key, "facts");
    for (const auto* key : {"parts", "facts"}) {
        const auto& table = answer.table(key);
        for (std::size_t row = 0; row < table.rows(); ++row)
            EXPECT_LE(table.numbers("untrained_low")[row], table.numbers("untrained_high")[row]);
    }
    // The nine ways add up to the part on both sides.
    const auto& parts = answer.table("parts");
    for (std::size_t row = 0; row < parts.rows(); ++row)
        if (parts.texts("side")[row] == "both" &&
            parts.texts("i")[row] == "layer 1 sensory head 1" &&
            parts.texts("j")[row] == "layer 1 sensory head 1") {
            EXPECT_NEAR(sumOf(answer.table("through")), parts.numbers("share")[row], 0.05);
        }
    EXPECT_EQ(answer.text("metric"), "accuracy");
    EXPECT_LE(answer.number("change_low"), answer.number("change_high"));
}

TEST(Contrast, OfTheFirstLayerIsTheEmbedding) {
    ContrastOfRun measured;
    const auto answer = measured.measure({{"layer", std::int64_t{1}}});
    const auto& parts = answer.table("parts");
    EXPECT_EQ(parts.texts("i")[0], "embedding");
    EXPECT_EQ(parts.texts("j")[0], "embedding");
    EXPECT_NEAR(parts.numbers("share")[0], 1.0, 0.15);
    EXPECT_GT(answer.number("auc"), 0.8);
}

TEST(Contrast, IsRefusedWithTheReason) {
    ContrastOfRun measured;
    const auto says = [&](core::OptionValues values, const std::string& field,
                          const std::string& text) {
        try {
            measured.measure(std::move(values));
            ADD_FAILURE() << "accepted: " << text;
        } catch (const OptionError& error) {
            EXPECT_EQ(error.field(), field) << error.what();
            EXPECT_NE(error.message().find(text), std::string::npos) << error.what();
        }
    };
    says({{"attribute", std::string("same colur")}}, "attribute", "same colour");
    says({{"attribute", std::string()}}, "attribute", "choose one of ");
    says({{"layer", std::int64_t{7}}}, "layer", "7 is out of range");
    says({{"index", std::int64_t{7}}}, "index", "7 is out of range");
    says({{"examples", std::int64_t{3}}}, "attribute", "are too few");
    says({{"through", std::string("layer 9 sensory head 1")}, {"layer", std::int64_t{2}}},
         "through", "");
}

// What training did, which an AUC near 1 at birth hides: colour has more of the difference than in
// any untrained model, and the answers need it.
TEST(Contrast, OfTrainedModelsIsMoreOfColourAndOfFreshOnesIsNot) {
    auto options = presetOptions("quick", "dat");
    options.data.train_size = 2000, options.data.validation_size = 600, options.data.test_size = 2;
    options.train.device = "cpu", options.train.batch_size = 64, options.train.keep_mib = 0;
    const auto colourOf = [](ContrastOfRun& measured) {
        const auto answer = measured.measure({{"layer", std::int64_t{1}},
                                              {"by", std::string("facts")},
                                              {"use_of", std::string("colour x colour")},
                                              {"untrained", std::int64_t{4}}});
        struct Colour {
            double share = 0.0, low = 0.0, untrained = 0.0, lost = 0.0;
            std::string sentence;
        } colour;
        const auto& facts = answer.table("facts");
        for (std::size_t row = 0; row < facts.rows(); ++row)
            if (facts.texts("i")[row] == "colour" && facts.texts("j")[row] == "colour") {
                colour.share = facts.numbers("share")[row], colour.low = facts.numbers("low")[row];
                colour.untrained = facts.numbers("untrained_high")[row];
            }
        colour.lost = -answer.number("change");
        for (const auto& sentence : answer.table("sentences").texts("sentence"))
            colour.sentence += sentence;
        return colour;
    };
    for (const std::int64_t seed : {0, 1}) {
        SCOPED_TRACE(seed);
        auto own = options;
        own.train.seeds = {seed};
        own.train.steps = 250;
        ContrastOfRun trained(own, seed);
        const auto colour = colourOf(trained);
        EXPECT_GT(colour.share, colour.untrained + 0.1);
        EXPECT_GT(colour.low, colour.untrained);
        EXPECT_NE(colour.sentence.find("Of what separates"), std::string::npos) << colour.sentence;
        EXPECT_GT(colour.lost, 0.05);
        own.train.steps = 1;
        ContrastOfRun fresh(own, seed);
        const auto before = colourOf(fresh);
        EXPECT_LT(before.share, before.untrained + 0.1);
        EXPECT_LT(before.lost, 0.05);
        EXPECT_EQ(before.sentence.rfind("The model answers no better than untrained ones: ", 0), 0U)
            << before.sentence;
    }
}

// Sentences, one number after another moved beyond its rule.
Contrast toldContrast() {
    Contrast c;
    c.map = "layer 2 relation 1", c.attribute = "same object", c.noun = "images";
    c.layer = 2, c.things = "patches", c.examples = c.different = 1000;
    c.cancellation = 1.4, c.auc = 0.82, c.alone = 0.87, c.without = 0.55;
    c.untrained = c.untrainedSplit = 8;
    const auto share = [](const char* side, const char* i, const char* j, double value, double low,
                          double high) {
        ContrastShare s{side, i, j};
        s.share = value, s.low = value - 0.02, s.high = value + 0.02;
        s.untrainedLow = low, s.untrainedHigh = high;
        return s;
    };
    c.facts = {share("both", "shape", "shape", 0.34, 0.53, 0.58),
               share("both", "colour", "colour", 0.42, 0.11, 0.13),
               share("both", "rest", "rest", 0.17, 0.29, 0.31)};
    const auto* part = "layer 1 relational head 1 relation 1";
    c.parts = {share("both", part, part, 0.94, 0.0, 0.01)};
    c.strongestI = c.strongestJ = part;
    c.sides = {share("receiver", "", "", 0.01, 0.0, 0.02), share("sender", "", "", 0.01, 0.0, 0.02),
               share("both", "", "", 0.98, 0.97, 1.0)};
    return c;
}

TEST(ContrastSentences, SayOnlyWhatIsEarned) {
    using core::sentencesOf;
    auto c = toldContrast();
    const auto said = sentencesOf(c);
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(said[0],
              "Of what separates *same object* from the rest 42 % [40, 44] is colour (untrained "
              "models: 11 to 13 %), 34 % [32, 36] shape (less than in untrained models: 53 to 58 "
              "%), 17 % [15, 19] both together or neither, the rest 7 %.");
    EXPECT_EQ(said[1],
              "It compares what relation 1 of layer 1 gave each patch through head 1: 94 % [92, "
              "96] (untrained models: 0 to 1 %); without it the AUC of its scores is 0.55 for "
              "0.82.");
    c.auc = 0.18, c.without = 0.45;
    EXPECT_NE(sentencesOf(c)[1].find("is 0.55 for 0.82."), std::string::npos)
        << "of an attribute that does not hold";
    c.auc = 0.82, c.without = 0.55;
    c.throughOf = c.strongestI;
    ContrastShare other{"both", "the other", "the other"};
    other.share = 0.6;
    c.through = {other};
    c.metric = "accuracy", c.base = 0.9, c.change = -0.42, c.changeLow = -0.45, c.changeHigh = -0.4;
    c.usedI = c.usedJ = c.strongestI;
    EXPECT_EQ(sentencesOf(c)[1],
              "It compares what relation 1 of layer 1 gave each patch through head 1 from the "
              "other (a relation of a relation): 94 % [92, 96] (untrained models: 0 to 1 %); "
              "without it the AUC of its scores is 0.55 for 0.82; taking that term out costs 42.0 "
              "points [40.0, 45.0].");
    c.through[0].share = 0.4, c.without = 0.8;
    EXPECT_NE(sentencesOf(c)[1].find("through head 1: 94 %"), std::string::npos);
    EXPECT_NE(sentencesOf(c)[1].find("the rest tells them apart as well"), std::string::npos);

    const auto silent = [&](const char* what, const auto& change, std::size_t left) {
        auto moved = toldContrast();
        change(moved);
        EXPECT_EQ(sentencesOf(moved).size(), left) << what;
    };
    silent(
        "the difference is not told from 0", [](Contrast& m) { m.split = false; }, 0);
    silent(
        "few different examples", [](Contrast& m) { m.different = 49; }, 0);
    silent(
        "few untrained models", [](Contrast& m) { m.untrained = 3; }, 0);
    silent(
        "parts of layer 1", [](Contrast& m) { m.layer = 1; }, 1);
    silent(
        "cancelling, of a single relation", [](Contrast& m) { m.cancellation = 2.1; }, 0);
    silent(
        "cancelling, of a whole head",
        [](Contrast& m) {
            m.cancellation = 2.1;
            m.strongestI = m.strongestJ = m.parts[0].i = m.parts[0].j = "layer 1 relational head 1";
        },
        1);
    silent(
        "much cancelling", [](Contrast& m) { m.cancellation = 3.1; }, 0);
    silent(
        "one side", [](Contrast& m) { m.sides[2].share = 0.6; }, 1);
    silent(
        "the sender alone",
        [](Contrast& m) { m.sides[2].share = 0.45, m.sides[1].share = 0.5, m.sides[1].low = 0.48; },
        2);
    auto guarded = toldContrast();
    guarded.guard = "The model answers no better than untrained ones.";
    EXPECT_EQ(sentencesOf(guarded), std::vector<std::string>{guarded.guard});
    // What has become less is said so, and is not what was learned.
    auto less = toldContrast();
    less.facts[1].untrainedHigh = 0.33;
    EXPECT_EQ(sentencesOf(less)[0],
              "Of what separates *same object* from the rest 34 % [32, 36] is shape, less than in "
              "untrained models (53 to 58 %): training turned it elsewhere.");
    less = toldContrast();
    less.parts[0].share = 0.62, less.parts[0].low = 0.52, less.parts[0].high = 0.72;
    less.parts[0].untrainedLow = 0.98, less.parts[0].untrainedHigh = 1.03;
    EXPECT_EQ(sentencesOf(less)[1],
              "62 % [52, 72] of the difference comes from comparing what relation 1 of layer 1 "
              "gave each patch through head 1, less than in untrained models (98 to 103 %): "
              "training turned it elsewhere; without it the AUC of its scores is 0.55 for 0.82.");
    // Nothing is said whose interval reaches more than 15 points to a side: neither alone, nor in a
    // list, whose rest it is part of then.
    const auto wide = [](ContrastShare& share) {
        share.low = share.share - 0.155, share.high = share.share + 0.155;
    };
    auto unsure = toldContrast();
    wide(unsure.facts[0]), wide(unsure.facts[2]);
    EXPECT_EQ(sentencesOf(unsure)[0],
              "Of what separates *same object* from the rest 42 % [40, 44] is colour (untrained "
              "models: 11 to 13 %), the rest 58 %.");
    silent(
        "an unsure fact", [&](Contrast& m) { wide(m.facts[1]), m.facts[0].untrainedLow = 0.3; }, 1);
    silent(
        "an unsure part", [&](Contrast& m) { wide(m.parts[0]); }, 1);
    silent(
        "an unsure comparison", [&](Contrast& m) { wide(m.sides[2]); }, 1);
    silent(
        "an unsure side",
        [&](Contrast& m) {
            m.layer = 1, m.sides[2].share = 0.45, m.sides[1].share = 0.6, wide(m.sides[1]);
        },
        0);
    auto first = toldContrast();
    first.untrainedSplit = 0;
    EXPECT_EQ(sentencesOf(first)[0],
              "Of what separates *same object* from the rest 42 % [40, 44] is colour, 34 % [32, "
              "36] shape, 17 % [15, 19] both together or neither, the rest 7 %; no untrained "
              "model tells them apart.");
    silent(
        "facts as untrained, shape too",
        [](Contrast& m) { m.facts[1].untrainedHigh = 0.33, m.facts[0].untrainedLow = 0.3; }, 1);
    silent(
        "a small part", [](Contrast& m) { m.parts[0].low = 0.2; }, 1);
    silent(
        "a part as untrained that tells nothing",
        [](Contrast& m) { m.parts[0].untrainedHigh = 0.95, m.without = 0.8; }, 1);
    auto receiver = toldContrast();
    receiver.layer = 1, receiver.sides[2].share = 0.45, receiver.sides[0].share = 0.5;
    receiver.sides[0].low = 0.48, receiver.sides[0].high = 0.52;
    ASSERT_EQ(sentencesOf(receiver).size(), 1U);
    EXPECT_EQ(sentencesOf(receiver)[0],
              "50 % [48, 52] of the difference comes from the receiver alone, which is no "
              "comparison (untrained models: 0 to 2 %).");
    receiver.softmax = true;
    EXPECT_TRUE(sentencesOf(receiver).empty()) << "a softmax does not see it";
    // What untrained models have, too, is said with them where the rest is worse.
    auto same = toldContrast();
    same.parts[0].untrainedHigh = 0.95;
    EXPECT_NE(
        sentencesOf(same)[1].find("(untrained models: 0 to 95 %, so not shown to be learned)"),
        std::string::npos)
        << sentencesOf(same)[1];
    same.untrainedSplit = 2, same.facts[1].untrainedHigh = 0.12;
    EXPECT_EQ(sentencesOf(same).size(), 1U) << "two untrained models are no spread";
}

bool holds(const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// The columns and words of a table of one's own are the names of what is compared, for untrained
// models, too, whose shares are given beside each.
TEST(Contrast, OfATableHasTheNamesOfItsColumns) {
    TemporaryFolder folder{"own-table"};
    std::filesystem::create_directories(folder.path());
    auto options = presetOptions("set", "abstractor");
    options.data = {};
    options.data.kind = "object-sets", options.data.path = folder / "own.csv";
    options.data.train_size = options.data.validation_size = options.data.test_size = 0;
    {
        std::ofstream table(options.data.path);
        table << "set,label,colour,size\n";
        for (int set = 0; set < 400; ++set)
            for (int object = 0; object < (set == 0 ? 2 : 3); ++object)
                table << set << (set % 2 ? ",yes," : ",no,")
                      << ((set / (1 << object)) % 2 ? "red," : "blue,") << set % 7 << ".5\n";
    }
    fitToData(options);
    options.train.device = "cpu", options.train.seeds = {3}, options.train.steps = 1;
    options.train.early_stopping = {};
    ContrastOfRun measured(options);
    EXPECT_EQ(measured.subject.data->featureNames(),
              (std::vector<std::string>{"colour = blue", "colour = red", "size", "is there"}));
    const auto answer = measured.measure(
        {{"attribute", std::string("same colour")}, {"untrained", std::int64_t{1}}});
    ASSERT_EQ(answer.number("split"), 1.0);
    // Many sets of the table are copies of others; the answer says how many differ.
    EXPECT_LT(answer.number("different"), answer.number("examples"));
    EXPECT_NE(answer.text("summary").find(" different): the score"), std::string::npos);
    const auto& parts = answer.table("parts");
    ASSERT_TRUE(holds(parts.texts("i"), "colour = red"));
    for (std::size_t row = 0; row < parts.rows(); ++row) {
        EXPECT_EQ(parts.texts("i")[row].find("feature"), std::string::npos);
        EXPECT_EQ(std::isfinite(parts.numbers("untrained_low")[row]),
                  answer.number("untrained_split") > 0.0);
    }
    const auto form = core::runnerOf(core::analysisNamed("qk-components"))
                          .run(measured.subject, {}, {})
                          .table("form");
    EXPECT_EQ(form.texts("feature"), measured.subject.data->featureNames());
    // A cell of one input has no data beside it, but the run has.
    measured.subject.sample = measured.subject.data->sample(0);
    measured.subject.interventions.data = core::editDataOf(measured.run.splits(), options.model);
    measured.subject.data = nullptr;
    const auto origins =
        core::runnerOf(core::analysisNamed("qk-attribution"))
            .run(measured.subject, {{"source", std::int64_t{0}}, {"to", std::int64_t{1}}}, {});
    EXPECT_TRUE(holds(origins.table("parts_i").texts("part"), "colour = blue"));
    EXPECT_TRUE(holds(origins.table("pairs").texts("j"), "is there"));
}

/// Pairs of drawn objects with parts and facts, some of them not known.
core::ContrastPairs drawnPairs(std::int64_t examples, std::int64_t objects, bool byOffset,
                               bool symmetric) {
    torch::manual_seed(11);
    core::ContrastPairs pairs;
    const auto open = torch::eye(objects, torch::kBool).logical_not();
    pairs.byOffset = byOffset, pairs.scale = 0.7;
    pairs.facts = torch::stack({torch::randint(3, {examples, objects}, torch::kLong),
                                torch::randint(2, {examples, objects}, torch::kLong)},
                               2);
    // Yes follows the first fact, not always; and so do the vectors, with noise of each example, so
    // that means and effects differ by draws.
    const auto first = pairs.facts.select(2, 0).clone();
    const auto defined = torch::rand({examples, objects, objects}).gt(0.3).logical_and(open);
    const auto yes = first.unsqueeze(2)
                         .eq(first.unsqueeze(1))
                         .logical_xor(torch::rand({examples, objects, objects}).gt(0.9));
    pairs.yes = yes.logical_and(defined).to(torch::kDouble);
    pairs.no = yes.logical_not().logical_and(defined).to(torch::kDouble);
    pairs.facts.index_put_({torch::rand({examples, objects}).gt(0.9)}, -1);
    const auto codes = torch::tensor(
        {{2.0, 0.0, 0.0, 0.0}, {0.0, 2.0, 0.0, 0.0}, {0.0, 0.0, 2.0, 0.0}}, torch::kDouble);
    const auto base = codes.index_select(0, first.flatten()).view({examples, objects, 1, 4}) +
                      0.5 * torch::randn({examples, 1, 1, 4}, torch::kDouble);
    const auto side = [&](std::int64_t parts) {
        return core::selectPaired(
            pairs, base + 0.5 * torch::randn({examples, objects, parts, 4}, torch::kDouble) + 1.0);
    };
    pairs.u = side(2), pairs.v = symmetric ? pairs.u : side(3);
    return pairs;
}

/// The pairs of some examples, each as often as it is named.
core::ContrastPairs someExamples(const core::ContrastPairs& pairs, const torch::Tensor& examples) {
    auto some = pairs;
    const auto with = core::takesPart(pairs);
    const auto of = [&](const torch::Tensor& vectors) {
        auto dense = torch::zeros({with.size(0), with.size(1), vectors.size(1), vectors.size(2)},
                                  torch::kDouble);
        dense.index_put_({with}, vectors);
        return dense.index_select(0, examples).index({with.index_select(0, examples)});
    };
    some.u = of(pairs.u), some.v = pairs.v.is_same(pairs.u) ? some.u : of(pairs.v);
    for (auto* cells : {&some.yes, &some.no, &some.facts})
        *cells = cells->index_select(0, examples);
    return some;
}

// Each way of counting examples is what these examples say by themselves: weights, means and the
// effects of facts anew. Held means are those of all.
TEST(ContrastTerms, WaysAreThoseOfTheirExamplesAlone) {
    for (const bool byOffset : {false, true})
        for (const bool symmetric : {false, true}) {
            SCOPED_TRACE(std::string(byOffset ? "by offset" : "") + (symmetric ? "symmetric" : ""));
            const auto pairs = drawnPairs(60, 4, byOffset, symmetric);
            const auto counts =
                torch::cat({core::withoutBlocks(torch::arange(60), 12),
                            torch::zeros({3, 60}, torch::kDouble)
                                .scatter_add_(1, torch::randint(60, {3, 60}, torch::kLong),
                                              torch::ones({3, 60}, torch::kDouble))});
            const auto ways = core::contrastTerms(pairs, counts);
            const auto few = core::contrastTerms(pairs, counts, 2),
                       held = core::contrastTerms(pairs, counts, 4096, true);
            ASSERT_EQ(ways.difference.size(0), 16);
            for (std::int64_t w = 0; w < 16; ++w) {
                const auto often =
                    w == 0 ? torch::ones({60}, torch::kLong) : counts[w - 1].to(torch::kLong);
                const auto alone = core::contrastTerms(
                    someExamples(pairs, torch::arange(60).repeat_interleave(often)));
                const auto near = [&](const char* what, const torch::Tensor& ours,
                                      const torch::Tensor& theirs) {
                    EXPECT_LT((ours[w] - theirs[0]).abs().max().item<double>(), 1e-5)
                        << what << ", way " << w;
                };
                near("difference", ways.difference, alone.difference);
                near("receiver", ways.receiver, alone.receiver);
                near("sender", ways.sender, alone.sender);
                near("both", ways.both, alone.both);
                near("sides", ways.sides, alone.sides);
                near("facts", ways.facts, alone.facts);
                EXPECT_NEAR(ways.sides[w].sum().item<double>(), 1.0, 1e-9);
                EXPECT_NEAR(ways.facts[w].sum().item<double>(), ways.sides[w][2].item<double>(),
                            1e-9);
                // Of many pairs of parts the strongest have all ways.
                const auto known = few.both[w].isfinite();
                EXPECT_EQ(known.sum().item<std::int64_t>(), w == 0 ? known.numel() : 2);
                near("strongest", torch::where(known, few.both, ways.both), alone.both);
            }
            EXPECT_GT((held.both - ways.both).abs().max().item<double>(), 1e-3);
            EXPECT_LT((held.difference - ways.difference).abs().max().item<double>(), 1e-9);
        }
}

// Shares of a few examples, with their bias off, lie around those of many as far as their intervals
// say. Means that are held would make the intervals of one object too narrow, and a rest without
// its degrees of freedom is too small.
TEST(ContrastTerms, JackknifeCoversWhatManyExamplesSay) {
    const auto many = core::contrastTerms(drawnPairs(4000, 4, false, false));
    constexpr std::int64_t kEach = 50, kSets = 80;
    const auto all = drawnPairs(kEach * kSets, 4, false, false);
    std::int64_t covered[4] = {};
    double rest = 0.0, plainRest = 0.0;
    for (std::int64_t s = 0; s < kSets; ++s) {
        const auto pairs = someExamples(all, torch::arange(s * kEach, (s + 1) * kEach));
        const auto counts = core::withoutBlocks(torch::arange(kEach), 25);
        const auto terms = core::contrastTerms(pairs, counts);
        const auto holds = [&](const torch::Tensor& ways, const torch::Tensor& truth) {
            const auto found = core::jackknifed(ways, counts);
            return found.low.lt(truth[0]).logical_and(found.high.gt(truth[0]));
        };
        covered[0] += holds(terms.difference, many.difference).item<bool>();
        covered[1] += holds(terms.receiver, many.receiver)[0].item<bool>();
        covered[2] += holds(terms.both, many.both)[0][0].item<bool>();
        covered[3] += holds(terms.facts, many.facts)[2][2].item<bool>();
        rest += core::jackknifed(terms.facts, counts).value[2][2].item<double>() / kSets;
        plainRest += terms.facts[0][2][2].item<double>() / kSets;
    }
    for (const auto count : covered) EXPECT_GE(count, kSets * 88 / 100);
    RecordProperty("covered", std::to_string(covered[0]) + " " + std::to_string(covered[1]) + " " +
                                  std::to_string(covered[2]) + " " + std::to_string(covered[3]));
    const double truth = many.facts[0][2][2].item<double>();
    EXPECT_LT(std::abs(rest - truth), 0.5 * std::abs(plainRest - truth))
        << rest << " and " << plainRest << " for " << truth;
}

// Of a symmetric mean the jackknife is Student's t, and a variance loses its bias.
TEST(ContrastTerms, JackknifeOfAMeanIsItsStandardError) {
    torch::manual_seed(3);
    const auto half = torch::randn({15}, torch::kDouble).abs() + 0.1;
    const auto x = torch::cat({half, -half}) + 1.0;
    const auto counts = core::withoutBlocks(torch::arange(30), 30);
    ASSERT_EQ(counts.size(0), 30);
    const auto ways = torch::cat({torch::ones({1, 30}, torch::kDouble), counts});
    const auto means = torch::matmul(ways, x) / ways.sum(1);
    const auto mean = core::jackknifed(means, counts);
    const double reach = 2.045 * (x.std() / std::sqrt(30.0)).item<double>();
    EXPECT_NEAR(mean.value.item<double>(), 1.0, 1e-12);
    EXPECT_NEAR(mean.low.item<double>(), 1.0 - reach, 1e-6);
    EXPECT_NEAR(mean.high.item<double>(), 1.0 + reach, 1e-6);
    const auto variances = torch::matmul(ways, x.square()) / ways.sum(1) - means.square();
    EXPECT_NEAR(core::jackknifed(variances, counts).value.item<double>(), x.var().item<double>(),
                1e-12);
    // Copies of an example stay together, and blocks of unequal size count as much as they hold.
    const auto groups = torch::arange(30).remainder(7);
    const auto blocks = core::withoutBlocks(groups, 50);
    EXPECT_EQ(blocks.size(0), 7);
    for (std::int64_t b = 0; b < 7; ++b)
        EXPECT_EQ(std::get<0>(at::_unique(groups.index({blocks[b].eq(0)}))).size(0), 1);
    const auto unequal = torch::cat({torch::ones({1, 30}, torch::kDouble), blocks});
    const auto again = core::jackknifed(torch::matmul(unequal, x) / unequal.sum(1), blocks);
    EXPECT_NEAR(again.value.item<double>(), x.mean().item<double>(), 1e-12);
    EXPECT_TRUE(
        std::isnan(core::jackknifed(torch::ones({2}), torch::zeros({1, 30})).high.item<double>()));
}

// Constant scores tell nothing apart, and are no error.
TEST(Contrast, OfAConstantMapIsNotSplit) {
    core::ContrastPairs pairs;
    torch::manual_seed(5);
    const auto yes = torch::rand({40, 3, 3}).gt(0.5);
    const auto open = torch::eye(3, torch::kBool).logical_not();
    pairs.yes = yes.logical_and(open).to(torch::kDouble);
    pairs.no = yes.logical_not().logical_and(open).to(torch::kDouble);
    const auto objects = core::takesPart(pairs).sum().item<std::int64_t>();
    pairs.u = torch::ones({objects, 2, 4}, torch::kDouble);
    pairs.v = torch::ones({objects, 2, 4}, torch::kDouble);
    const auto counts = core::withoutBlocks(torch::arange(40), 20);
    const auto terms = core::contrastTerms(pairs, counts);
    EXPECT_LT(terms.difference.abs().max().item<double>(), 1e-12);
    EXPECT_NEAR(core::jackknifed(terms.difference, counts).high.item<double>(), 0.0, 1e-10);
}

}  // namespace
}  // namespace relascope
