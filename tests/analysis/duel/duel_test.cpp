// SPDX-License-Identifier: GPL-3.0-or-later
// Duels: a model with itself, with another seed, with edits, of another architecture and of another
// tokenizer; cancelled and continued ones; and what cannot be compared.
#include "analysis/duel/duel.h"
#include "analysis/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "analysis/duel/numbers.h"
#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "data/text.h"
#include "evaluate/paired_change.h"
#include "files/atomic_file.h"
#include "interventions/active_edits.h"
#include "interventions/named_edits.h"
#include "options/presets.h"
#include "support/temporary_folder.h"
#include "support/trained.h"
#include "tests/datasets/step_run.h"
#include "types/error.h"

namespace relascope {
namespace {

using namespace testing_support;

RunOptions smallOccurs(std::int64_t seed, const std::string& model = "dat") {
    auto o = presetOptions("relational-games-occurs", model);
    o.model.set("d_model", std::int64_t{16}), o.model.set("dff", std::int64_t{16});
    if (model == "dat")
        o.model.set("n_relations", std::int64_t{4}), o.model.set("rel_proj_dim", std::int64_t{8});
    o.data.train_size = 64, o.data.validation_size = 300, o.data.test_size = 2;
    o.train.device = "cpu", o.train.batch_size = 32;
    o.train.seeds = {seed}, o.train.steps = 1, o.train.keep_mib = 16;
    return o;
}

/// A duel with the options "other", "other_checkpoint" and "other_edit" as B, without "other" the
/// same as A.
Duel duelWith(AnalysisSubject subject, OptionValues values, const AnalysisWatch& watch = {}) {
    const auto taken = [&values](const char* name, auto value) {
        const auto node = values.extract(name);
        return node ? std::get<decltype(value)>(node.mapped()) : value;
    };
    const auto b = std::make_shared<AnalysisSubject>();
    const auto path = taken("other", std::string());
    b->path = path.empty() ? subject.path : path;
    OpenedModel other(b->path, taken("other_checkpoint", std::string()), "cpu");
    b->model = &other;
    b->interventions.data = subject.interventions.data;
    if (const auto words = taken("other_edit", std::vector<std::string>()); !words.empty())
        b->interventions.edits =
            editsNamed(words, other.points(subject.data->sample(0)), EditUse::Inspect, "other");
    subject.other = b;
    return duelOf(runnerOf(analysisNamed("duel")).run(subject, values, watch));
}

struct DuelOf {
    OpenedModel model;
    AnalysisSubject subject;
    explicit DuelOf(const StepRun& run, const std::string& checkpoint = "")
        : model(run.path(), checkpoint, "cpu") {
        subject.model = &model;
        subject.path = subject.run = run.path();
        subject.device = "cpu";
        subject.data = run.splits().validation;
        subject.interventions.data = editDataOf(run.splits(), model.options());
    }
    Duel duel(OptionValues values, const AnalysisWatch& watch = {}) {
        values.try_emplace("examples", std::int64_t{120});
        return duelWith(subject, values, watch);
    }
    std::string whyNot(const OptionValues& values) {
        try {
            duel(values);
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing was refused";
    }
};

const StepRun& seedRun(std::int64_t seed) {
    static const StepRun first(smallOccurs(1), 1), second(smallOccurs(2), 2);
    return seed == 1 ? first : second;
}

std::string allSentences(const Duel& duel) {
    std::string all;
    for (const auto& sentence : duelSentences(duel)) all += sentence + "\n";
    return all;
}

TEST(DuelAnalysis, AModelDoesNotDifferFromItselfByABit) {
    const auto& run = seedRun(1);
    DuelOf same(run);
    for (const auto& other : {std::string(), run.path()}) {
        const auto duel = same.duel({{"other", other}});
        EXPECT_TRUE(duel.same);
        EXPECT_TRUE(duel.complete);
        EXPECT_EQ(duel.examples, 120);
        EXPECT_EQ(duel.objects, 9);
        EXPECT_EQ(duel.largestDifference, 0.0);
        EXPECT_EQ(duel.meanDivergence, 0.0);
        EXPECT_EQ(duel.onlyA + duel.onlyB + duel.different, 0);
        EXPECT_EQ(duel.bothRight + duel.bothWrong, duel.answers);
        EXPECT_EQ(duel.mcnemar, 1.0);
        EXPECT_TRUE(duel.differences.empty());
        ASSERT_EQ(duel.cka.size(), 4u);
        EXPECT_NEAR(duel.cka[0], 1.0, 1e-12);
        EXPECT_NEAR(duel.cka[3], 1.0, 1e-12);
        EXPECT_LT(duel.cka[1], 1.0 - 1e-4) << "layers differ";
        ASSERT_FALSE(duel.partners.empty());
        for (const auto& partner : duel.partners) {
            EXPECT_EQ(partner.a, partner.b);
            EXPECT_NEAR(partner.correlation, 1.0, 1e-9);
        }
        for (const auto& match : duel.matches)
            if (match.a == match.b) {
                EXPECT_NEAR(match.matched, 1.0, 1e-9);
                EXPECT_TRUE(match.better) << match.a << " " << match.heads;
                if (!match.a.empty()) {
                    EXPECT_GT(match.explained, 1.0 - 1e-6);
                }
            }
        EXPECT_NE(allSentences(duel).find("the same weights"), std::string::npos);
    }
}

TEST(DuelAnalysis, FreshSeedsMatchNoBetterThanChanceAndItSaysSo) {
    DuelOf one(seedRun(1));
    const auto duel = one.duel({{"other", seedRun(2).path()},
                                {"untrained", std::int64_t{4}},
                                {"examples", std::int64_t{300}}});
    EXPECT_FALSE(duel.same);
    EXPECT_EQ(duel.untrained, 4);
    EXPECT_GT(duel.largestDifference, 0.0);
    ASSERT_EQ(duel.matches.size(), 2 * (1 + 4)) << "two kinds: all layers, and each with each";
    for (const auto& match : duel.matches) {
        ASSERT_EQ(match.untrained.size(), 4u);
        EXPECT_FALSE(match.better) << match.a << " " << match.b << " " << match.matched;
        EXPECT_GE(match.matched, match.meanOfAllPairs);
        EXPECT_LT(match.matched, 0.99);
    }
    const auto says = allSentences(duel);
    const std::regex unclaimed("(Relations|Attention maps) match (no|little) better than chance");
    EXPECT_EQ(std::distance(std::sregex_iterator(says.begin(), says.end(), unclaimed),
                            std::sregex_iterator()),
              2)
        << says;
    EXPECT_EQ(says.find("match better than chance"), std::string::npos) << says;
    const auto json = analysisNamed("duel").json(answerOf(duel));
    for (const auto& match : json.at("matching"))
        EXPECT_FALSE(match.at("better_than_chance").get<bool>());
    EXPECT_EQ(json.at("streams").size(), 4u);
    EXPECT_NE(analysisNamed("duel").csv(answerOf(duel)).find("\nrelations,layer 1,layer 2,"),
              std::string::npos);
}

TEST(DuelAnalysis, FewPairsOfFreshModelsAreCalledAlike) {
    const char* more = std::getenv("RELASCOPE_FRESH_MODELS");
    const std::int64_t pairs = more ? std::stoll(more) : 3;
    std::int64_t claims = 0;
    for (std::int64_t k = 0; k < pairs; ++k) {
        const StepRun a(smallOccurs(100 + 2 * k), 100 + 2 * k),
            b(smallOccurs(101 + 2 * k), 101 + 2 * k);
        DuelOf one(a);
        const auto says =
            allSentences(one.duel({{"other", b.path()}, {"examples", std::int64_t{300}}}));
        const bool claimed = says.find("better than chance in") != std::string::npos;
        claims += claimed;
        if (claimed) std::cerr << says;
    }
    EXPECT_LE(claims, std::max<std::int64_t>(1, pairs / 40));
}

TEST(DuelAnalysis, EditsOfBAndStepsOfARunAreSubjects) {
    const auto& run = seedRun(1);
    DuelOf one(run);
    const auto edited =
        one.duel({{"other_edit",
                   std::vector<std::string>{"layer 1 attention zero", "layer 2 relations zero"}},
                  {"untrained", std::int64_t{0}}});
    EXPECT_FALSE(edited.same);
    EXPECT_NE(edited.b.name.find("edited: layer 1 attention zero; layer 2 relations zero"),
              std::string::npos)
        << edited.b.name;
    EXPECT_GT(edited.largestDifference, 0.0);
    EXPECT_GT(edited.meanDivergence, 0.0);
    EXPECT_FALSE(edited.differences.empty());
    const auto first = one.duel({{"other_checkpoint", std::string("0")}});
    EXPECT_NE(first.b.name.find("step 0"), std::string::npos) << first.b.name;
    EXPECT_FALSE(first.same);
    EXPECT_GT(first.partners.front().correlation, 0.9) << "one step changes little";
}

TEST(DuelAnalysis, CountsAreThoseOfTheScores) {
    DuelOf one(seedRun(1));
    const auto duel = one.duel({{"other", seedRun(2).path()},
                                {"untrained", std::int64_t{0}},
                                {"show", std::int64_t{200}}});
    EXPECT_EQ(duel.bothRight + duel.onlyA + duel.onlyB + duel.bothWrong, duel.answers);
    EXPECT_EQ(duel.answers, 120);
    for (const auto& match : duel.matches)
        EXPECT_FALSE(match.better) << "nothing says what chance gives";
    const auto says = allSentences(duel);
    EXPECT_NE(says.find("whether that is more than chance takes 4 untrained pairs or more"),
              std::string::npos)
        << says;
    ASSERT_EQ(duel.differences.size(), 120u) << "all are listed";
    std::int64_t onlyA = 0, kind = 0;
    double before = 1e9, sum = 0.0;
    for (const auto& d : duel.differences) {
        const std::int64_t now = d.rightA == d.rightB ? 2 : d.rightA ? 0 : 1;
        EXPECT_GE(now, kind) << "A right and B wrong first, then the other way round";
        if (now != kind) before = 1e9;
        EXPECT_LE(d.divergence, before);
        kind = now, before = d.divergence, sum += d.divergence;
        onlyA += now == 0;
        EXPECT_GE(d.probabilityA, 0.0);
        EXPECT_EQ(d.rightA, d.a == d.wanted);
    }
    EXPECT_EQ(onlyA, duel.onlyA);
    EXPECT_NEAR(sum / 120.0, duel.meanDivergence, 1e-9);
    const auto& accuracy = duel.changes.at(1);
    EXPECT_NEAR(accuracy.change, static_cast<double>(duel.onlyB - duel.onlyA) / 120.0, 1e-9);
}

TEST(DuelAnalysis, FewExamplesCarryNoSentence) {
    DuelOf one(seedRun(1));
    for (const std::int64_t examples : {2, 3, 10, 49}) {
        const auto duel = one.duel(
            {{"other", seedRun(2).path()}, {"untrained", std::int64_t{0}}, {"examples", examples}});
        ASSERT_EQ(duel.sentences.size(), 1u);
        EXPECT_EQ(duel.sentences[0], std::to_string(examples) +
                                         " images are too few for a sentence; 50 or more are "
                                         "needed.");
    }
}

TEST(DuelSentences, ATestAndItsIntervalAgree) {
    Duel duel;
    duel.divergence = "KL(A || B), nats", duel.noun = "images", duel.examples = duel.answers = 500;
    duel.bothRight = 440, duel.onlyA = 40, duel.onlyB = 10, duel.bothWrong = 10;
    duel.mcnemar = 2e-5;
    duel.changes = {{"loss", 0.2, 0.3, 0.1, 0.05, 0.15},
                    {"accuracy", 0.96, 0.90, -0.06, -0.09, -0.03}};
    EXPECT_NE(
        allSentences(duel).find("accuracy of B minus A is \u22126.0 points [\u22129.0, "
                                "\u22123.0], McNemar's exact p is below 0.0001: A is better."),
        std::string::npos)
        << allSentences(duel);
    duel.changes[1].high = 0.01;
    EXPECT_NE(allSentences(duel).find("the difference may be chance"), std::string::npos);
    duel.changes[1].high = -0.03, duel.mcnemar = NAN;
    EXPECT_EQ(allSentences(duel).find("McNemar"), std::string::npos) << "many answers an example";
    EXPECT_NE(allSentences(duel).find("A is better"), std::string::npos);
}

// Of minimal pairs the interval decides, and a phenomenon that neither prefers is not named.
TEST(DuelSentences, MinimalPairsStandBesideUntrainedModels) {
    Duel duel;
    Duel::PairChange all{"all", 120, {"pair_accuracy", 0.5, 0.8, 0.3, 0.2, 0.4}};
    all.words = 40, all.untrainedA = 0.52, all.untrainedB = 0.55, all.prefersB = true;
    auto one = all;
    one.phenomenon = "islands", one.pairs = 60;
    duel.pairs = {all, one};
    EXPECT_NE(
        allSentences(duel).find(
            "Of 120 minimal pairs, which differ in 40 sets of words, A finds 50.0 % (untrained "
            "at most 52.0 %) right and B 80.0 % (untrained at most 55.0 %): +30.0 points "
            "[20.0, 40.0]; A is not shown to prefer the good sentences beyond chance."),
        std::string::npos)
        << allSentences(duel);
    EXPECT_NE(allSentences(duel).find("in islands +30.0 points"), std::string::npos);
    duel.pairs[1].prefersB = false;
    EXPECT_EQ(allSentences(duel).find("islands"), std::string::npos) << allSentences(duel);
    duel.pairs[0].prefersB = false;
    EXPECT_NE(allSentences(duel).find("neither is shown to prefer"), std::string::npos);
    duel.pairs[0].accuracy.low = -0.01;
    EXPECT_NE(allSentences(duel).find("these pairs do not tell them apart"), std::string::npos);
}

TEST(DuelSentences, AnyCountOfFewAnswersHasATestAndAnIntervalThatAgree) {
    for (std::int64_t changed = 1; changed < static_cast<std::int64_t>(kFewChanged); ++changed)
        for (std::int64_t gained = 0; gained <= changed; ++gained)
            for (const std::int64_t n : {60, 500, 5000}) {
                const auto [low, high] = changeOfFew(gained, changed - gained, n);
                EXPECT_EQ(low > 0.0 || high < 0.0, mcnemarExact(gained, changed - gained) < 0.05)
                    << gained << " of " << changed << " in " << n;
            }
}

TEST(DuelAnalysis, AnotherArchitectureHasAttentionAndStreamsInCommon) {
    const StepRun transformer(smallOccurs(1, "transformer"), 1);
    DuelOf one(seedRun(1));
    const auto duel = one.duel({{"other", transformer.path()}, {"untrained", std::int64_t{1}}});
    EXPECT_NE(duel.a.architecture, duel.b.architecture);
    for (const auto& match : duel.matches) EXPECT_TRUE(match.heads) << "B has no relations";
    EXPECT_FALSE(duel.matches.empty());
    EXPECT_EQ(duel.cka.size(), 4u);
    EXPECT_GT(duel.answers, 0);
}

TEST(DuelAnalysis, ACancelledOneContinuesToTheSameNumbers) {
    DuelOf one(seedRun(1));
    const OptionValues values = {{"other", seedRun(2).path()}, {"untrained", std::int64_t{2}}};
    const auto text = analysisNamed("duel").json(answerOf(one.duel(values))).dump();
    for (const int reports : {1, 2}) {
        std::optional<Answer> known;
        int left = reports;
        AnalysisWatch watch;
        watch.partial = [&](const Answer& part) { known = part, --left; };
        watch.progress = [&](double) { return left > 0; };
        EXPECT_THROW(one.duel(values, watch), Cancelled) << reports;
        ASSERT_TRUE(known);
        EXPECT_FALSE(known->complete);
        AnalysisWatch again;
        again.known = known;
        EXPECT_EQ(analysisNamed("duel").json(answerOf(one.duel(values, again))).dump(), text)
            << reports;
    }
}

// The weights of B were overwritten, or the data are others, under the same names.
TEST(DuelAnalysis, OneOfOtherWeightsOrExamplesStartsAnew) {
    DuelOf one(seedRun(1));
    const OptionValues values = {{"other", seedRun(2).path()}, {"untrained", std::int64_t{0}}};
    const auto duel = one.duel(values);
    const auto text = analysisNamed("duel").json(answerOf(duel)).dump();
    auto other = duel;
    other.differences.clear();
    AnalysisWatch watch;
    watch.known = answerOf(other);
    EXPECT_NE(analysisNamed("duel").json(answerOf(one.duel(values, watch))).dump(), text)
        << "it is continued";
    other.basis += "1";
    watch.known = answerOf(other);
    EXPECT_EQ(analysisNamed("duel").json(answerOf(one.duel(values, watch))).dump(), text);
    // Under the name of B's run those of another seed.
    const StepRun third(smallOccurs(3), 3);
    testing_support::TemporaryFolder home("duel-overwritten");
    const auto path = home / std::filesystem::path(seedRun(2).path()).filename().string();
    std::filesystem::create_directories(home.path());
    std::filesystem::copy(third.path(), path, std::filesystem::copy_options::recursive);
    watch.known = answerOf(duel);
    const auto again = one.duel({{"other", path}, {"untrained", std::int64_t{0}}}, watch);
    EXPECT_EQ(again.b.name, duel.b.name);
    EXPECT_NE(again.basis, duel.basis);
    EXPECT_NE(again.meanDivergence, duel.meanDivergence);
}

TEST(DuelAnalysis, ProgressRisesToOne) {
    DuelOf one(seedRun(1));
    double last = 0.0;
    AnalysisWatch watch;
    watch.progress = [&](double done) {
        EXPECT_GE(done, last - 1e-9);
        EXPECT_LE(done, 1.0 + 1e-9);
        last = done;
        return true;
    };
    one.duel({{"other", seedRun(2).path()}}, watch);
    EXPECT_NEAR(last, 1.0, 1e-6);
}

TEST(DuelAnalysis, WhatCannotBeComparedIsNamed) {
    DuelOf one(seedRun(1));
    EXPECT_NE(one.whyNot({{"other", std::string("/no/such/run")}}).find("/no/such/run"),
              std::string::npos);
    EXPECT_NE(one.whyNot({{"other_edit", std::vector<std::string>{"layer 9 attention zero"}}})
                  .find("layer 9"),
              std::string::npos);
    auto sorting = presetOptions("sort-argsort");
    sorting.train.steps = 1, sorting.train.device = "cpu", sorting.data.train_size = 64;
    sorting.data.validation_size = 32, sorting.data.test_size = 2;
    const StepRun other(sorting);
    const auto why = one.whyNot({{"other", other.path()}});
    EXPECT_EQ(why.find("other: "), 0u) << why;
    EXPECT_NE(why.find("reads other inputs"), std::string::npos) << why;
}

class TextDuel : public ::testing::Test {
protected:
    TextDuel() {
        makeDirectories(m_home.path());
        ::setenv("XDG_CACHE_HOME", (m_home / "cache").c_str(), 1);
        std::string text;
        for (int i = 0; i < 400; ++i)
            text += i % 3 == 0 ? "the cat sat on the mat. " : "a dog ran to the cat. ";
        writeTextFile(m_home / "text.txt", text);
    }
    ~TextDuel() override { ::unsetenv("XDG_CACHE_HOME"); }
    std::string run(const std::string& name, const std::string& tokenizer, std::int64_t context) {
        auto o = presetOptions("text", "dat");
        auto& m = o.model;
        m.set("d_model", 16), m.set("dff", 32), m.set("n_layers", 2), m.set("n_heads_sa", 2),
            m.set("n_heads_ra", 2), m.set("n_relations", 4), m.set("n_symbols", 6),
            m.set("symbol_heads", 2), m.set("max_block_size", context);
        o.data.path = m_home / "text.txt";
        o.data.context = context, o.data.validation_size = 10, o.data.tokenizer = tokenizer;
        o.data.pinned_text = "the cat", o.data.prompt = "the ", o.data.sample_tokens = 4;
        o.train.batch_size = 4, o.train.steps = 1, o.train.device = "cpu";
        m_options = o;
        auto folder = RunFolder::create(m_home / name, o);
        Control control;
        const auto splits = openText(o.data);
        trainIn(folder, control, splits);
        return m_home / name;
    }
    Duel duel(const std::string& a, const std::string& b) {
        OpenedModel model(a, "", "cpu");
        AnalysisSubject subject;
        subject.model = &model, subject.path = subject.run = a, subject.device = "cpu";
        auto options = model.run().data;
        subject.data = openText(runData(a, options)).validation;
        return duelWith(subject, {{"other", b}, {"untrained", std::int64_t{1}}});
    }
    TemporaryFolder m_home{"duel-text"};
    RunOptions m_options;
};

TEST_F(TextDuel, OneTokenizerIsComparedTokenByToken) {
    const auto a = run("a", "characters", 32), b = run("b", "characters", 48);
    const auto both = duel(a, b);
    EXPECT_EQ(both.noun, "windows of text");
    EXPECT_EQ(both.answers, both.examples * 32);
    EXPECT_TRUE(std::isnan(both.mcnemar)) << "answers of a window are not independent";
    EXPECT_GT(both.objects, 8);
    EXPECT_EQ(both.divergence, "KL(A || B), nats");
    ASSERT_FALSE(both.differences.empty());
    EXPECT_GE(both.differences.front().position, 0);
    const auto self = duel(a, a);
    EXPECT_TRUE(self.same);
    EXPECT_EQ(self.largestDifference, 0.0);
    for (const auto& partner : self.partners) EXPECT_EQ(partner.a, partner.b);
}

TEST_F(TextDuel, TwoTokenizersAreComparedOverTheSameCharacters) {
    const auto a = run("a", "characters", 64), b = run("b", "gpt2", 64);
    const auto both = duel(a, b);
    EXPECT_EQ(both.divergence, "difference of A and B for the same characters, nats");
    EXPECT_GT(both.objects, 3);
    EXPECT_GT(both.answers, 10) << "words of 64 characters";
    EXPECT_LT(both.answers, both.examples * 32);
    EXPECT_FALSE(both.matches.empty());
    // Nearly uniform answers: ln of the vocabulary for each token.
    const auto& nats = both.changes.at(0);
    EXPECT_GT(nats.base, 30.0);
    EXPECT_GT(nats.edited, 30.0);
    EXPECT_TRUE(std::isfinite(nats.change));
}

}  // namespace
}  // namespace relascope
