// SPDX-License-Identifier: GPL-3.0-or-later
// The atlas of relations: attributes that are planted, permuted or of no relation, untrained
// models, what a short training learns, cancelled and continued atlases, and what cannot be
// described.
#include "analysis/atlas/atlas.h"
#include "analysis/analysis.h"
#include "analysis/atlas/answer.h"
#include "answers/answer_text.h"

#include "analysis/atlas/labels.h"
#include "analysis/pairs/conjunctions.h"
#include "analysis/pairs/plain_reading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/open_model.h"
#include "analysis/pairs/auc_draws.h"
#include "analysis/pairs/pair_objects.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/pairs/relation_matching.h"
#include "analysis/run_analysis.h"
#include "datasets/generators/cards.h"
#include "datasets/generators/pairs.h"
#include "datasets/generators/set.h"
#include "datasets/generators/sorting.h"
#include "options/presets.h"
#include "probe/head_places.h"
#include "support/explained_by_others.h"
#include "support/temporary_folder.h"
#include "support/trained.h"
#include "tests/datasets/step_run.h"
#include "types/error.h"

namespace relascope {
namespace {

using namespace testing_support;

RunOptions occursOptions(std::int64_t seed) {
    auto o = presetOptions("relational-games-occurs");
    o.model.set("n_relations", std::int64_t{1});
    o.model.set("d_model", std::int64_t{16}), o.model.set("dff", std::int64_t{16});
    o.model.set("rel_proj_dim", std::int64_t{16});
    o.data.train_size = 64, o.data.validation_size = 400, o.data.test_size = 2;
    o.train.device = "cpu", o.train.batch_size = 32;
    o.train.seeds = {seed}, o.train.steps = 1, o.train.keep_mib = 16;
    return o;
}

struct Asked {
    OpenedModel model;
    AnalysisSubject subject;
    explicit Asked(const StepRun& run, const std::string& checkpoint = "")
        : model(run.path(), checkpoint, "cpu") {
        subject.model = &model;
        subject.run = run.path();
        subject.device = "cpu";
        subject.data = run.splits().validation;
        subject.interventions.data = editDataOf(run.splits(), model.options());
    }
    RelationAtlas atlas(OptionValues values = {}, const AnalysisWatch& watch = {}) {
        values.try_emplace("use_examples", std::int64_t{0});
        values.try_emplace("untrained", std::int64_t{0});
        return relationAtlasOf(runnerOf(analysisNamed("atlas")).run(subject, values, watch));
    }
};

const RelationAtlas::Relation& named(const RelationAtlas& atlas, const std::string& name) {
    for (const auto& relation : atlas.relations)
        if (relation.name == name) return relation;
    throw std::runtime_error("no " + name);
}

const RelationAtlas::Fit& fitOf(const RelationAtlas& atlas, const std::string& relation,
                                const std::string& attribute) {
    for (std::size_t a = 0; a < atlas.attributes.size(); ++a)
        if (atlas.attributes[a].name == attribute) return named(atlas, relation).fits[a];
    throw std::runtime_error("no " + attribute);
}

const StepRun& shortRun() {
    static const StepRun run(occursOptions(0));
    return run;
}

// The values that an atlas describes, and whether each pair is above the median of its place.
std::string plantedFile(const StepRun& run, bool shuffled) {
    OpenedModel model(run.path(), "", "cpu");
    const auto& data = run.splits().validation;
    const auto objects = pairObjects(model.options(), *data, 300, "");
    PairReading reading;
    reading.maps = pairMaps(model.points(data->sample(0)), objects.whole, true, false);
    reading.shape = objects.shape, reading.examples = objects.examples;
    reading.positions = objects.positions;
    const auto values = model.readPairs(data, {}, reading).values.front();
    const std::size_t n = objects.shape.objects, cells = n * n;
    std::vector<std::size_t> from(objects.examples.size());
    for (std::size_t e = 0; e < from.size(); ++e) from[e] = e;
    if (shuffled) std::shuffle(from.begin(), from.end(), std::mt19937(5));
    const auto path = run.file(shuffled ? "shuffled.csv" : "planted.csv");
    std::ofstream file(path);
    file << "example,i,j,planted\n";
    for (std::size_t e = 0; e < from.size(); ++e)
        for (std::size_t cell = 0; cell < cells; ++cell) {
            std::vector<float> place;
            for (std::size_t k = 0; k < from.size(); ++k) place.push_back(values[k * cells + cell]);
            std::nth_element(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(150),
                             place.end());
            file << objects.examples[e] << ',' << cell / n << ',' << cell % n << ','
                 << (values[from[e] * cells + cell] > place[150]) << '\n';
        }
    return path;
}

std::string whyNot(Asked& asked, const OptionValues& values) {
    try {
        asked.atlas(values);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST(Atlas, APlantedAttributeIsFoundAndAPermutedOneIsNot) {
    const auto& run = shortRun();
    Asked asked(run);
    const auto found = asked.atlas({{"attributes", plantedFile(run, false)}});
    const auto& fit = fitOf(found, "layer 1 relation 1", "planted");
    EXPECT_GT(fit.auc, 0.95) << "of empty places many are equal";
    EXPECT_LT(fit.p, 0.01);
    EXPECT_LE(fit.low, fit.auc);
    EXPECT_GE(fit.high, fit.auc);
    EXPECT_EQ(named(found, "layer 1 relation 1").label.substr(0, 7), "planted");
    EXPECT_EQ(found.examples, 300) << "those of the file";
    const auto shuffled = asked.atlas({{"attributes", plantedFile(run, true)}});
    for (const auto& relation : shuffled.relations) {
        EXPECT_LT(std::abs(fitOf(shuffled, relation.name, "planted").auc - 0.5), 0.05);
        EXPECT_EQ(relation.label.find("planted"), std::string::npos);
    }
}

TEST(Atlas, UntrainedModelsHaveLearnedNothing) {
    int learned = 0, maps = 0;
    for (std::int64_t seed = 1; seed <= 4; ++seed) {
        auto options = occursOptions(seed);
        options.train.keep_mib = 0;  // no step 0: only other models can say
        const StepRun run(options, seed);
        Asked asked(run);
        const auto atlas =
            asked.atlas({{"untrained", std::int64_t{8}}, {"examples", std::int64_t{400}}});
        EXPECT_EQ(atlas.untrainedModels, 8);
        EXPECT_FALSE(atlas.initial);
        for (const auto& relation : atlas.relations) {
            ++maps;
            learned += relation.origin == "learned";
        }
        const auto& fit = fitOf(atlas, "layer 1 relation 1", "same object");
        EXPECT_GT(fit.auc, 0.6) << "a symmetric inner product is a kernel: alike means large";
        EXPECT_LE(fit.untrainedLow, fit.untrained);
        EXPECT_GE(fit.untrainedHigh, fit.untrained);
    }
    EXPECT_EQ(maps, 4 * 6);
    EXPECT_EQ(learned, 0);
}

TEST(Atlas, WhatIsKnownOfAStepIsTakenFromTheRun) {
    const auto& run = shortRun();
    Asked asked(run);
    const auto atlas = asked.atlas({{"along", true}, {"examples", std::int64_t{100}}});
    EXPECT_TRUE(atlas.initial);
    const auto& fit = fitOf(atlas, "layer 1 relation 1", "same object");
    EXPECT_NEAR(fit.initial, fit.auc, 0.05) << "one step changes little";
    EXPECT_NE(named(atlas, "layer 1 relation 1").origin, "learned");
    ASSERT_EQ(atlas.steps.size(), 2u);
    EXPECT_EQ(atlas.steps.front().step, 0);
    EXPECT_EQ(atlas.steps.back().step, 1);
    EXPECT_GE(atlas.steps.back().accuracy, 0.0);
    const auto& relation = named(atlas, "layer 1 relation 1");
    EXPECT_TRUE(std::isinf(relation.symmetry)) << "wq = wk";
    double sum = 0.0;
    for (const double share : relation.shares) sum += share;
    EXPECT_NEAR(sum, 1.0, 1e-9);
    EXPECT_EQ(relation.highest.size(), 24u);
    EXPECT_GE(relation.highest.front().value, relation.highest.back().value);
    EXPECT_FALSE(relation.highest.front().picture.empty());
    for (const auto& one : atlas.relations) {
        EXPECT_EQ(one.evidence.empty(), one.labelled < 0) << one.name;
        for (const auto& pair : one.evidence) {
            const auto& fit = one.fits[static_cast<std::size_t>(one.labelled)];
            EXPECT_EQ(pair.holds, fit.auc >= 0.5 ? 1 : 0) << one.name;
            EXPECT_LE(pair.value, one.highest.front().value);
        }
        for (const auto& pair : one.highest) EXPECT_TRUE(one.labelled >= 0 || pair.holds == -1);
    }
    EXPECT_FALSE(relation.sent.bins.empty());
    for (const auto* text : {&relation.highest.front().text, &relation.lowest.front().text})
        EXPECT_EQ(text->find("patch ("), 0u) << *text;
    const auto json = analysisNamed("atlas").json(answerOf(atlas));
    EXPECT_EQ(json.at("relations").size(), atlas.relations.size());
    EXPECT_EQ(json.at("steps").size(), 2u);
    EXPECT_NE(csvOf(answerOf(atlas).table("fits")).find("layer 1 relation 1,same object,"),
              std::string::npos);
    EXPECT_NE(analysisNamed("atlas").latex(answerOf(atlas)).find("\\begin{tabular}"),
              std::string::npos);
    EXPECT_NE(analysisNamed("atlas").terminal(answerOf(atlas)).find("layer 1 relation 1: "),
              std::string::npos);
}

TEST(Atlas, ACancelledOneContinuesToTheSameNumbers) {
    const auto& run = shortRun();
    Asked asked(run);
    const OptionValues values = {{"examples", std::int64_t{200}},
                                 {"untrained", std::int64_t{4}},
                                 {"use_examples", std::int64_t{50}},
                                 {"along", true}};
    const auto whole = asked.atlas(values);
    const auto text = analysisNamed("atlas").json(answerOf(whole)).dump();
    ASSERT_FALSE(whole.metric.empty());
    for (const int reports : {1, 3, 5}) {
        std::optional<Answer> known;
        int left = reports;
        AnalysisWatch watch;
        watch.partial = [&](const Answer& part) { known = part, --left; };
        watch.progress = [&](double) { return left > 0; };
        EXPECT_THROW(asked.atlas(values, watch), Cancelled) << reports;
        ASSERT_TRUE(known);
        AnalysisWatch again;
        again.known = known;
        EXPECT_EQ(analysisNamed("atlas").json(answerOf(asked.atlas(values, again))).dump(), text)
            << reports;
    }
}

TEST(Atlas, OneOfOtherWeightsOrExamplesStartsAnew) {
    Asked asked(shortRun());
    const OptionValues values = {{"examples", std::int64_t{60}}, {"untrained", std::int64_t{2}}};
    const auto whole = asked.atlas(values);
    auto other = whole;
    other.untrainedScores = {0.0, 0.0};
    AnalysisWatch watch;
    watch.known = answerOf(other);
    EXPECT_EQ(asked.atlas(values, watch).untrainedScores, other.untrainedScores);
    other.basis += "1";
    watch.known = answerOf(other);
    EXPECT_EQ(asked.atlas(values, watch).untrainedScores, whole.untrainedScores);
}

TEST(Atlas, ProgressRisesToOne) {
    Asked asked(shortRun());
    double last = 0.0;
    AnalysisWatch watch;
    watch.progress = [&](double done) {
        EXPECT_GE(done, last - 1e-9);
        EXPECT_LE(done, 1.0 + 1e-9);
        last = done;
        return true;
    };
    asked.atlas({{"examples", std::int64_t{60}}, {"untrained", std::int64_t{2}}}, watch);
    EXPECT_NEAR(last, 1.0, 1e-6);
}

TEST(Atlas, WhatCannotBeDescribedIsNamedInOneSentence) {
    const auto& run = shortRun();
    Asked asked(run);
    const auto file = run.file("attributes.csv");
    const auto refused = [&](const std::string& text) {
        std::ofstream(file) << text;
        const auto why = whyNot(asked, {{"attributes", file}});
        EXPECT_EQ(why.find(file + ": "), 0u) << why;
        return why.substr(std::min(why.size(), file.size() + 2));
    };
    EXPECT_EQ(refused("picture,i,j,alike\n1,0,1,1\n"),
              "begins with the columns 'picture,i,j,alike'; example, i, j and a column for each "
              "attribute are expected");
    EXPECT_EQ(refused("example,i,j,alike\n1,0,1\n"), "line 2 has 3 columns, the first line 4");
    EXPECT_EQ(refused("example,i,j,alike\n1,0,1,much\n"),
              "line 2, column alike: 'much' is not a number");
    EXPECT_EQ(refused("example,i,j,alike\n1,0,9,1\n2,0,1,1\n"),
              "example 1 has no object 9: its objects are 0 to 8");
    EXPECT_EQ(refused("example,i,j,alike\n1,0,1,1\n2,0,1,1\n99999,0,1,1\n"),
              "there is no example 99999: the split has 400");
    EXPECT_EQ(refused("example,i,j,alike\n"), "names no pairs");
    std::ofstream(file) << "example,i,j,alike\n1,0,1,1\n";
    EXPECT_EQ(whyNot(asked, {{"attributes", file}}),
              "examples: a relation is described over two examples or more, and 1 is there");
    EXPECT_NE(whyNot(asked, {{"attributes", run.file("none.csv")}}).find("none.csv"),
              std::string::npos);
    EXPECT_EQ(whyNot(asked, {{"examples", std::int64_t{1}}}).find("examples: "), 0u);
}

TEST(Atlas, DataWithoutFactsHaveThoseOfTheirPatches) {
    auto options = tinyOptions();
    options.train.epochs = 1;
    TemporaryFolder folder("atlas-patches");
    auto run = RunFolder::create(folder / "run", options);
    Control control;
    trainIn(run, control);
    OpenedModel model(folder / "run", "", "cpu");
    AnalysisSubject subject;
    subject.model = &model, subject.run = folder / "run", subject.device = "cpu";
    subject.data = tinyData().validation;
    const auto atlas = relationAtlasOf(runnerOf(analysisNamed("atlas"))
                                           .run(subject,
                                                {{"use_examples", std::int64_t{0}},
                                                 {"untrained", std::int64_t{0}},
                                                 {"examples", std::int64_t{30}}},
                                                {}));
    std::vector<std::string> names;
    for (const auto& attribute : atlas.attributes) names.push_back(attribute.name);
    EXPECT_EQ(names, (std::vector<std::string>{"colour distance", "distance", "same side",
                                               "large colour distance"}));
    for (const auto& relation : atlas.relations) EXPECT_EQ(relation.label, "no label");
}

// Two heads and one relation, about 10 s: all that a run of the first experiment has.
TEST(Atlas, AShortTrainingLearnsTheSameObjectAndUsesIt) {
    auto options = occursOptions(0);
    options.model.set("d_model", std::int64_t{64}), options.model.set("dff", std::int64_t{128});
    options.model.set("rel_proj_dim", std::int64_t{64});
    options.data.train_size = 2500, options.data.validation_size = 600;
    options.train.batch_size = 128, options.train.steps = 280, options.train.learning_rate = 2e-3;
    const StepRun run(options);
    const OptionValues values = {{"examples", std::int64_t{600}},
                                 {"untrained", std::int64_t{8}},
                                 {"use_examples", std::int64_t{400}},
                                 {"what", std::vector<std::string>{"relations"}},
                                 {"along", true}};
    Asked trained(run);
    const auto atlas = trained.atlas(values);
    ASSERT_GT(atlas.base, 0.8) << "it learned to answer";
    const auto& relation = named(atlas, "layer 2 relation 1");
    EXPECT_TRUE(relation.label.starts_with("same object")) << relation.label;
    EXPECT_TRUE(relation.label.ends_with(", learned, needed")) << relation.label;
    const auto& fit = fitOf(atlas, relation.name, "same object");
    EXPECT_GT(fit.auc, 0.96);
    EXPECT_GT(fit.auc, fit.untrainedHigh);
    EXPECT_GT(fit.auc, fit.plainAuc) << "place hides it";
    EXPECT_LT(std::min(relation.uses[0].change, relation.uses[1].change), -0.1);
    EXPECT_EQ(relation.appearedBy, -1) << "inner products tell it from the start";
    EXPECT_TRUE(relation.development.starts_with("rose from 0.")) << relation.development;
    EXPECT_GT(atlas.steps.back().accuracy, atlas.steps.front().accuracy + 0.2);
    Asked untrained(run, "0");
    for (const auto& before : untrained.atlas(values).relations) {
        EXPECT_NE(before.origin, "learned");
        EXPECT_NE(before.use, "needed");
    }
}

TEST(RelationMatching, FindsAPermutationAndSaysWhatChanceFinds) {
    const PairShape shape{40, 4, false, false};
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> ours(4, std::vector<float>(shape.values())), theirs(5);
    for (auto& one : ours)
        for (auto& value : one) value = normal(random);
    const std::size_t from[] = {2, 0, 3, 1};
    for (std::size_t k = 0; k < 5; ++k) {
        theirs[k] = k < 4 ? ours[from[k]] : ours[0];
        for (auto& value : theirs[k]) value = -value + 0.3F * normal(random);
    }
    std::vector<PairValues> both(ours.begin(), ours.end());
    both.insert(both.end(), theirs.begin(), theirs.end());
    const auto correlation = correlationWithoutPlace(shape, both);
    std::vector<double> between;
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < 5; ++b) between.push_back(correlation[a * 9 + 4 + b]);
    const auto found = matchRelations(between, 4, 5);
    // The fifth is like the first of ours, and so is the second.
    EXPECT_TRUE(found.partner[0] == 1 || found.partner[0] == 4);
    EXPECT_EQ(found.partner[1], 3u);
    EXPECT_EQ(found.partner[2], 0u);
    EXPECT_EQ(found.partner[3], 2u);
    EXPECT_GT(found.matched, 0.9);
    EXPECT_LT(found.meanOfAllPairs, 0.5);
    const auto alone = matchRelations(std::vector<double>{0.9, 0.2}, 2, 1);
    EXPECT_EQ(alone.partner[0], 0u);
    EXPECT_EQ(alone.partner[1], RelationMatching::kNone);
    EXPECT_DOUBLE_EQ(alone.matched, 0.9);
    const std::span<const PairValues> all(both);
    EXPECT_GT(testing_support::explainedByOthers(shape, all.first(4), all.subspan(4)), 0.8);
    EXPECT_LT(testing_support::explainedByOthers(shape, all.first(1), all.subspan(1, 3)), 0.1);
}

TEST(ObjectFacts, OfCardsAndOfOrderedObjectsAreWhatTheyShow) {
    auto table = std::make_shared<core::CardTable>();
    table->width = 2, table->vectors.resize(2 * kCards);
    const SetTriples sets(table, 3, {"train", 0, 20});
    ASSERT_TRUE(sets.objectFacts());
    EXPECT_EQ(sets.objectFacts()->objects, 3);
    std::vector<std::int32_t> facts(12);
    sets.readFacts(7, facts);
    const auto cards = sets.cards(7);
    for (std::size_t k = 0; k < 3; ++k)
        for (int a = 0; a < kCardAttributes; ++a)
            EXPECT_EQ(facts[4 * k + static_cast<std::size_t>(a)], cardValue(cards[k], a));
    EXPECT_FALSE(SetTriples(nullptr, 3, {"train", 0, 20}).objectFacts())
        << "its objects are pairs of cards";
    SortingOptions sorting;
    sorting.size = 10;
    const Sorting sequences(sorting);
    facts.resize(30);
    sequences.readFacts(4, facts);
    const auto order = sequences.sequence(4);
    for (std::size_t k = 0; k < 10; ++k) {
        EXPECT_EQ(facts[3 * k + 2], sequences.objects(4).place(order[k]));
        EXPECT_EQ(facts[3 * k] * SortingObjects::kValuesOfB + facts[3 * k + 1], facts[3 * k + 2]);
    }
    const Pairs pairs(std::make_shared<OrderedObjects>(sortingObjects(0)), 0, 0, 10, "train");
    facts.resize(6);
    pairs.readFacts(2, facts);
    EXPECT_EQ(facts[0], pairs.pair(2).first);
    EXPECT_EQ(facts[3], pairs.pair(2).second);
    EXPECT_EQ(pairs.objectFacts()->facts.size(), 3u);
}

// Draws
// -------------------------------------------------------------------------------------------------

struct Noise {
    PairShape shape{60, 4, false, false};
    std::vector<float> values;
    std::vector<std::uint8_t> truth;
    AucSubject subject;

    explicit Noise(bool follows) : values(shape.values()), truth(shape.values()) {
        std::mt19937 random(7);
        std::normal_distribution<float> normal;
        for (std::size_t k = 0; k < values.size(); ++k) {
            values[k] = normal(random);
            truth[k] = (follows ? values[k] > 0.3F : normal(random) > 0.3F) ? kPairYes : kPairNo;
        }
        subject.shape = shape, subject.places = pairPlaces(shape);
        subject.relations.emplace_back(shape, subject.places, values);
        subject.attributes.emplace_back(truth);
    }
};

TEST(AucDraws, BootstrapsLieAroundTheValueAndPermutationsAroundAHalf) {
    const Noise planted(true);
    const std::vector<std::int32_t> together(planted.shape.examples, 0);
    const auto drawn = bootstrappedAucs(planted.subject, 100, 1);
    for (const double auc : drawn.of(0, 0)) EXPECT_GT(auc, 0.99);
    double sum = 0.0;
    const auto permuted = permutedAucs(planted.subject, together, 100, 1);
    for (const double auc : permuted.of(0, 0)) {
        EXPECT_LT(std::abs(auc - 0.5), 0.2);
        sum += auc;
    }
    EXPECT_NEAR(sum / 100, 0.5, 0.02);
    const Noise noise(false);
    sum = 0.0;
    const double fixed = placeFixedAuc(noise.subject.relations.front(), noise.truth);
    const auto around = bootstrappedAucs(noise.subject, 200, 1);
    for (const double auc : around.of(0, 0)) sum += auc;
    EXPECT_NEAR(sum / 200, fixed, 0.02);
    EXPECT_EQ(permutedAucs(noise.subject, together, 20, 4).auc,
              permutedAucs(noise.subject, together, 20, 4).auc);
}

TEST(AucDraws, ExamplesThatAreAloneKeepTheirAttributes) {
    const Noise noise(true);
    std::vector<std::int32_t> alone(noise.shape.examples);
    for (std::size_t e = 0; e < alone.size(); ++e) alone[e] = static_cast<std::int32_t>(e);
    const double fixed = placeFixedAuc(noise.subject.relations.front(), noise.truth);
    const auto kept = permutedAucs(noise.subject, alone, 5, 1);
    for (const double auc : kept.of(0, 0)) EXPECT_NEAR(auc, fixed, 1e-6);
    EXPECT_TRUE(followsOccupied(noise.shape, noise.truth, alone));
    EXPECT_FALSE(
        followsOccupied(noise.shape, noise.truth, std::vector<std::int32_t>(alone.size(), 0)));
    EXPECT_THROW(bootstrappedAucs(noise.subject, 50, 1, [](double) { return false; }), Cancelled);
}

// Labels
// -------------------------------------------------------------------------------------------------

RelationAtlas oneFit(double fixed, double p) {
    RelationAtlas atlas;
    atlas.attributes = {{"same object", false}, {"neighbours", false}};
    RelationAtlas::Relation relation;
    relation.name = "layer 1 relation 1", relation.layer = "layer 1";
    RelationAtlas::Fit fit, none;
    fit.auc = fixed, fit.p = p, fit.low = fixed - 0.01, fit.high = fixed + 0.01;
    fit.untrained = fit.initial = NAN;
    none.auc = 0.5, none.p = 1.0;
    relation.fits = {fit, none};
    atlas.relations = {relation};
    return atlas;
}

std::string labelOf(RelationAtlas atlas, double conditional = 0.9) {
    core::labelRelations(atlas, [&](auto, auto, auto) { return conditional; });
    return atlas.relations.front().label;
}

TEST(AtlasLabels, NeedStrengthChanceAndNoRival) {
    EXPECT_EQ(labelOf(oneFit(0.95, 0.005)), "same object");
    EXPECT_EQ(labelOf(oneFit(0.05, 0.005), 0.1), "not same object");
    EXPECT_EQ(labelOf(oneFit(0.58, 0.005)), "no label");
    EXPECT_EQ(labelOf(oneFit(0.95, 0.02)), "no label");
    EXPECT_EQ(labelOf(oneFit(0.95, 0.005), 0.55), "no label") << "the rival explains it";
    EXPECT_EQ(labelOf(oneFit(0.95, 0.005), NAN), "same object") << "no rival can";
}

TEST(AtlasLabels, AreLearnedWhereUntrainedWeightsAreBeaten) {
    auto atlas = oneFit(0.95, 0.005);
    auto& fit = atlas.relations[0].fits[0];
    fit.untrained = 0.8, fit.exceedsUntrained = true, atlas.untrainedModels = 4;
    EXPECT_EQ(labelOf(atlas), "same object, learned");
    atlas.untrainedModels = 3;
    EXPECT_EQ(labelOf(atlas), "same object") << "three models have no spread";
    atlas.untrainedModels = 4;
    fit.exceedsUntrained = false;
    EXPECT_EQ(labelOf(atlas), "same object") << "some other map of theirs has as much";
    fit.exceedsUntrained = true, fit.untrainedHigh = 0.94;
    EXPECT_EQ(labelOf(atlas), "same object, inborn") << "one of their maps does";
    fit.untrainedHigh = 0.85;
    atlas.fresh = true;
    EXPECT_EQ(labelOf(atlas), "same object") << "nothing is learned at step 0";
    atlas.fresh = false;
    EXPECT_EQ(labelOf(atlas), "same object, learned");
    fit.untrained = 0.92;
    EXPECT_EQ(labelOf(atlas), "same object, inborn") << "0.03 more, and no half of what is missed";
    fit.untrained = 0.8, fit.initial = 0.948;
    EXPECT_EQ(labelOf(atlas), "same object, inborn") << "it was there before the first step";
    fit.initial = 0.7;
    EXPECT_EQ(labelOf(atlas), "same object, learned");
}

TEST(AtlasLabels, EndWithTheUseOfThePart) {
    auto atlas = oneFit(0.95, 0.005);
    atlas.relations[0].use = "needed";
    EXPECT_EQ(labelOf(atlas), "same object, needed");
    atlas.relations[0].reading = "reads i alone, not the pair (0.95 of its variance)";
    EXPECT_EQ(labelOf(atlas), "reads i alone, not the pair (0.95 of its variance), needed")
        << "it asks for no attribute";
}

TEST(AtlasLabels, NameAllThatDoAsWell) {
    RelationAtlas atlas = oneFit(0.861, 0.005);
    atlas.attributes = {{"same shape", false}, {"same number", false}, {"same row", false}};
    auto& relation = atlas.relations[0];
    relation.fits.assign(3, relation.fits[0]);
    relation.fits[1].auc = 0.826, relation.fits[2].auc = 0.7;
    // Given the first one, the second keeps this much and the third little.
    double second = 0.55;
    const auto label = [&] {
        auto copy = atlas;
        core::labelRelations(copy, [&](std::size_t, std::size_t a, std::size_t rival) {
            if (a == 1 && rival == 0) return second;
            return a == 2 ? 0.52 : 0.8;
        });
        return copy.relations.front().label;
    };
    EXPECT_EQ(label(), "same shape");
    second = 0.6;
    EXPECT_EQ(label(), "same shape or same number") << "it holds its own";
    second = 0.55, relation.asGood = {0, 1};
    EXPECT_EQ(label(), "same shape or same number") << "it is as good by its interval";
    relation.asGood.clear(), second = NAN;
    EXPECT_EQ(label(), "same shape") << "the same question on fewer pairs";
    // Two that explain each other.
    auto twins = oneFit(0.9, 0.005);
    twins.relations[0].fits[1] = twins.relations[0].fits[0];
    twins.relations[0].asGood = {0, 1};
    EXPECT_EQ(labelOf(twins, 0.55), "same object or neighbours");
}

// N4: what untrained models tell as well is named, too, and said to be so.
TEST(AtlasLabels, NameAttributesOfAnotherOrigin) {
    auto atlas = oneFit(0.996, 0.005);
    atlas.attributes = {{"same object", false}, {"same shape", false}, {"same colour", false}};
    atlas.untrainedModels = 8;
    auto& relation = atlas.relations[0];
    relation.fits.assign(3, relation.fits[0]);
    for (auto& fit : relation.fits)
        fit.untrained = 0.7, fit.untrainedLow = 0.6, fit.untrainedHigh = 0.75,
        fit.exceedsUntrained = true;
    relation.fits[1].auc = 0.943, relation.fits[1].untrainedHigh = 0.95;
    relation.fits[2].auc = 0.883;
    core::labelRelations(atlas, [](auto, auto, auto) { return 0.8; });
    EXPECT_EQ(relation.label,
              "same object, same shape (untrained as much) or same colour, learned");
    EXPECT_EQ(core::meaningOf(atlas, relation),
              "answers *same object*, *same shape* or *same colour*");
    EXPECT_EQ(core::meaningOf(atlas, relation, false, 1), "answers *same object* (and 2 more)");
    EXPECT_NE(core::proofOf(atlas, relation).find("*same shape*: 0.943"), std::string::npos);
    EXPECT_NE(core::proofOf(atlas, relation).find("0.95 (as much)"), std::string::npos);
}

// N5: numbers turn with the word.
TEST(AtlasLabels, NumbersAreThoseOfTheWords) {
    auto atlas = oneFit(0.064, 0.005);
    atlas.attributes = {{"large colour distance", false}, {"neighbours", false}};
    atlas.untrainedModels = 8;
    auto& relation = atlas.relations[0];
    auto& fit = relation.fits[0];
    fit.low = 0.05, fit.high = 0.08, fit.initial = 0.4;
    fit.untrained = 0.35, fit.untrainedLow = 0.3, fit.untrainedHigh = 0.4;
    fit.exceedsUntrained = true;
    core::labelRelations(atlas, [](auto, auto, auto) { return 0.1; });
    EXPECT_EQ(relation.label, "small colour distance, learned");
    EXPECT_EQ(core::proofOf(atlas, relation),
              "*small colour distance*: AUC 0.936 [0.920, 0.950] within places, untrained 0.60 to "
              "0.70, at step 0: 0.60");
    atlas.attributes[0].name = "same object";
    relation.head = true;
    EXPECT_EQ(core::meaningOf(atlas, relation), "attends where *same object* does not hold");
    EXPECT_TRUE(core::proofOf(atlas, relation).starts_with("*not same object*: AUC 0.936"));
    const auto answer = core::answerOf(atlas);
    EXPECT_NEAR(answer.table("relations").numbers("auc")[0], 0.936, 1e-12);
    EXPECT_EQ(answer.table("relations").texts("attribute")[0], "not same object");
    EXPECT_NEAR(core::relationAtlasOf(answer).relations[0].fits[0].auc, 0.064, 1e-12);
}

TEST(AtlasLabels, AnAucNearOneIsNotOne) {
    EXPECT_EQ(core::aucText(0.999957), "> 0.999");
    EXPECT_EQ(core::aucText(1.0), "1.000");
    EXPECT_EQ(core::aucText(0.9994), "0.999");
}

// N2: a map is compared with the furthest single maps of each untrained model, of all attributes.
TEST(AtlasLabels, AreBeyondTheFurthestMapOfEachUntrainedModel) {
    auto atlas = oneFit(0.95, 0.005);
    atlas.relations.push_back(atlas.relations.front());
    // Two maps of eight models: what differs within a model counts, not the mean of its maps.
    const auto untrained = [&](double furthest, int models) {
        atlas.untrainedFits.clear(), atlas.untrainedModels = models;
        for (int model = 0; model < models; ++model)
            for (const double fixed : {0.6, 0.5, furthest - 0.002 * model, 0.5})
                atlas.untrainedFits.push_back(fixed);
        core::compareWithUntrained(atlas);
        return atlas.relations[0].fits[0];
    };
    const auto fit = untrained(0.9, 8);
    EXPECT_NEAR(fit.untrained, 0.5 * (0.6 + 0.893), 1e-9);
    EXPECT_NEAR(fit.untrainedLow, 0.6, 1e-9);
    EXPECT_NEAR(fit.untrainedHigh, 0.9, 1e-9);
    EXPECT_TRUE(fit.exceedsUntrained);
    EXPECT_NEAR(atlas.relations[0].untrainedFarthest, 0.4, 1e-9);
    EXPECT_FALSE(untrained(0.96, 8).exceedsUntrained) << "an untrained map has as much";
    EXPECT_FALSE(untrained(0.9, 7).exceedsUntrained) << "seven models";
    // As far from 0.5 on the other side, or by another attribute.
    EXPECT_TRUE(untrained(0.9, 8).exceedsUntrained);
    for (std::size_t k = 0; k < atlas.untrainedFits.size(); k += 4) atlas.untrainedFits[k] = 0.04;
    core::compareWithUntrained(atlas);
    EXPECT_FALSE(atlas.relations[0].fits[0].exceedsUntrained);
    untrained(0.9, 8);
    for (std::size_t k = 1; k < atlas.untrainedFits.size(); k += 4) atlas.untrainedFits[k] = 0.96;
    core::compareWithUntrained(atlas);
    EXPECT_FALSE(atlas.relations[0].fits[0].exceedsUntrained) << "neighbours";
    // Furthest maps that spread from model to model.
    untrained(0.9, 8);
    for (std::size_t k = 2; k < atlas.untrainedFits.size(); k += 4)
        atlas.untrainedFits[k] = k % 8 == 2 ? 0.9 : 0.6;
    core::compareWithUntrained(atlas);
    EXPECT_FALSE(atlas.relations[0].fits[0].exceedsUntrained) << "one more might be there";
}

TEST(AtlasLabels, AppearOnlyWhereTheyWereNot) {
    auto atlas = oneFit(0.99, 0.005);
    auto& relation = atlas.relations[0];
    relation.labelled = 0, relation.origin = "learned";
    const auto along = [&](std::vector<double> fits) {
        atlas.steps.clear();
        for (std::size_t k = 0; k < fits.size(); ++k)
            atlas.steps.push_back({static_cast<std::int64_t>(10 * k), 0.9, {fits[k]}});
        core::findAppearances(atlas);
        return relation.development;
    };
    EXPECT_EQ(along({0.5, 0.55, 0.95, 0.99}), "appeared between steps 10 and 20");
    EXPECT_EQ(along({0.96, 0.97, 0.99, 0.99}), "rose from 0.960 at step 0 to 0.990 at step 30");
    EXPECT_EQ(relation.appearedBy, -1);
    EXPECT_EQ(along({0.985, 0.99}), "") << "it was there";
    EXPECT_EQ(along({0.5, 0.66, 0.83, 0.99}), "rose from 0.500 at step 0 to 0.990 at step 30")
        << "no half of its way at once";
    relation.fits[0].untrained = 0.9;
    EXPECT_EQ(along({0.5, 0.55, 0.95, 0.99}), "rose from 0.500 at step 0 to 0.990 at step 30")
        << "untrained models have it";
}

// A planted conjunction is found, and beats its members; a single attribute is no conjunction.
TEST(Conjunctions, ArePromisingWhereNoMemberIsAsGood) {
    const PairShape shape{60, 5, false, false};
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    std::vector<PairAttribute> attributes = {{"same colour", false, {}, {}},
                                             {"same shape", false, {}, {}},
                                             {"same size", false, {}, {}}};
    for (auto& attribute : attributes) attribute.truth.resize(shape.values());
    std::vector<std::vector<float>> values(3, std::vector<float>(shape.values()));
    for (std::size_t k = 0; k < shape.values(); ++k) {
        bool is[3];
        for (std::size_t a = 0; a < 3; ++a)
            is[a] = random() % 2 == 0, attributes[a].truth[k] = is[a] ? kPairYes : kPairNo;
        values[0][k] = normal(random) + (is[0] && is[1] ? 4.0F : 0.0F);
        values[1][k] = normal(random) + (is[0] ? 4.0F : 0.0F);
        values[2][k] = normal(random) + (is[0] && is[1] && !is[2] ? 4.0F : 0.0F);
    }
    const auto found = core::promisingConjunctions(shape, values, attributes, {0, 1, 2}, 8);
    EXPECT_EQ(found.asked, 3u * 3u + 4u);
    ASSERT_FALSE(found.promising.empty());
    std::vector<std::string> names;
    for (const auto& one : found.promising) names.push_back(core::conjunctionName(attributes, one));
    const auto has = [&](const char* name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    EXPECT_TRUE(has("same colour and same shape")) << names.front();
    EXPECT_TRUE(has("same colour and same shape and not same size"));
    const std::vector<std::vector<float>> single = {values[1]};
    EXPECT_TRUE(
        core::promisingConjunctions(shape, single, attributes, {0, 1, 2}, 8).promising.empty())
        << "one attribute says it all";
    // By its name it is made again, as a contrast does.
    core::PairAttributes all{attributes, {}};
    const auto at = core::attributeNamed(all, "same colour and not same size");
    ASSERT_EQ(at, 3u);
    EXPECT_EQ(core::attributeNamed(all, "same colour and not same size"), 3u);
    EXPECT_EQ(core::attributeNamed(all, "same colour and same flavour"), std::string::npos);
    for (std::size_t k = 0; k < shape.values(); ++k)
        EXPECT_EQ(all.all[at].truth[k] == kPairYes,
                  attributes[0].truth[k] == kPairYes && attributes[2].truth[k] == kPairNo);
}

TEST(AtlasLabels, AConjunctionIsALabelWhereItBeatsItsMembers) {
    auto atlas = oneFit(0.976, 0.005);
    atlas.attributes = {{"same colour", false}, {"same shape", false}, {"", false}};
    atlas.attributes[2] = {"same colour and same shape", false, {{0, true}, {1, true}}};
    auto& relation = atlas.relations[0];
    relation.fits.assign(3, relation.fits[0]);
    relation.fits[1].auc = 0.9, relation.fits[2].auc = 1.0;
    const auto label = [&] {
        auto copy = atlas;
        core::labelRelations(copy, [](auto, auto, auto) { return 0.8; });
        return copy.relations[0].label;
    };
    EXPECT_EQ(label(), "same colour or same shape") << "it is not shown to";
    relation.beatMembers = {2};
    EXPECT_EQ(label(), "same colour and same shape") << "no member is named";
}

TEST(PlainReadings, SayWhereAHeadAttendsByPlaceAlone) {
    const auto reading = [](int objects, int columns, auto weight) {
        PlaceShares shares(objects, columns);
        std::vector<float> row(static_cast<std::size_t>(objects));
        for (int i = 0; i < objects; ++i) {
            for (int j = 0; j < objects; ++j) row[static_cast<std::size_t>(j)] = weight(i, j);
            shares.add(i, row.data(), columns == 0, i - i % 10, true);
        }
        return shares.reading();
    };
    EXPECT_EQ(reading(40, 0, [](int i, int j) { return i == j ? 0.9F : 0.0F; }),
              "attends to the token itself (90 %)");
    EXPECT_EQ(reading(40, 0, [](int i, int j) { return i - j == 1 ? 0.85F : 0.0F; }),
              "attends 1 token back (85 %)");
    EXPECT_EQ(reading(40, 0, [](int i, int j) { return i - j < 3 && j <= i ? 0.28F : 0.0F; }),
              "attends to the last 3 tokens (84 %), whatever they are");
    EXPECT_EQ(reading(40, 0, [](int, int j) { return j == 0 ? 0.9F : 0.0F; }),
              "attends to the first token (90 %)");
    EXPECT_EQ(reading(40, 0, [](int i, int j) { return j == i - i % 10 ? 0.9F : 0.0F; }),
              "attends to the start of the line (90 %)");
    EXPECT_EQ(reading(40, 0, [](int i, int j) { return j <= i ? 1.0F / (i + 1) : 0.0F; }), "");
    EXPECT_EQ(reading(25, 5, [](int i, int j) { return i / 5 == j / 5 ? 0.18F : 0.0F; }),
              "attends to its own row (90 %), whatever they show");
    EXPECT_EQ(reading(25, 5, [](int i, int j) { return i % 5 == j % 5 ? 0.18F : 0.0F; }),
              "attends to its own column (90 %), whatever they show");
    EXPECT_EQ(reading(25, 5, [](int, int) { return 0.04F; }), "");
}

TEST(PlainReadings, ExplainBeforeAttributes) {
    constexpr std::size_t examples = 20, n = 8;
    const PairShape text{examples, n, true, true};
    std::vector<float> values(text.values(), 0.0F);
    for (std::size_t e = 0; e < examples; ++e)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j)
                values[(e * n + i) * n + j] = i < 2 || i - j == 2 ? 0.95F : 0.01F;
    core::DescribedMap map;
    map.shape = text, map.values = values, map.head = true, map.first = NAN;
    map.mean = 0.2, map.sd = 0.3;
    EXPECT_EQ(core::plainReading(map), "attends 2 tokens back (95 %)");
    for (auto& value : values) value *= 0.83F;
    EXPECT_EQ(core::plainReading(map), "attends to the last 3 tokens (81 %), whatever they are");
    for (auto& value : values) value *= 0.95F;
    EXPECT_EQ(core::plainReading(map), "") << "76 % of it";
    map.first = 0.92;
    EXPECT_EQ(core::plainReading(map), "attends to the first token (92 %)");
    map.head = false;
    map.shares = {0.02, 0.0, 0.91, 0.03, 0.04};
    EXPECT_EQ(core::plainReading(map), "reads i alone, not the pair (0.91 of its variance)");
    map.shares = {0.02, 0.0, 0.03, 0.91, 0.04};
    EXPECT_EQ(core::plainReading(map), "reads j alone, not the pair (0.91 of its variance)");
    map.shares = {0.93, 0.0, 0.03, 0.0, 0.04};
    EXPECT_EQ(core::plainReading(map), "depends on the places alone (0.93 of its variance)");
    map.shares = {0.3, 0.0, 0.3, 0.3, 0.1};
    EXPECT_EQ(core::plainReading(map), "");
    map.sd = 0.003;
    EXPECT_EQ(core::plainReading(map), "is alike everywhere");
}

}  // namespace
}  // namespace relascope
