// SPDX-License-Identifier: GPL-3.0-or-later
// Scores of sentences and what minimal pairs tell by them: against a plain sum, one sentence at a
// time, and against transformers (tests/make_pairs_golden.py).
#include "evaluate/pair_scores.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/pair_accuracy.h"
#include "analysis/phenomena.h"
#include "analysis/run_analysis.h"
#include "data/text_tokens.h"
#include "datasets/generators/minimal_pairs.h"
#include "interventions/named_edits.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using Json = nlohmann::json;

const std::string kPairs = std::string(RELASCOPE_FIXTURES) + "/pairs/";

/// A golden model with its tokenizer.
class Speaker {
public:
    explicit Speaker(const std::string& name = "gpt2_tied")
        : model(std::make_unique<OpenedModel>(
              std::string(RELASCOPE_FIXTURES) + "/golden/public/" + name, "", "cpu")) {
        subject.model = model.get();
    }
    Answer ask(const Analysis& analysis, const PairDatasetPtr& data, OptionValues values = {}) {
        subject.data = data;
        return runnerOf(analysis).run(subject, values, {});
    }
    std::unique_ptr<OpenedModel> model;
    AnalysisSubject subject;
};

PairDatasetPtr listed(std::vector<MinimalPair> pairs) {
    return std::make_shared<ListedPairs>(DatasetInfo{"pairs"}, std::move(pairs));
}

PairDatasetPtr grammar(const std::string& phenomenon = "", std::int64_t pairs = 60) {
    return listed(generatePairs({phenomenon, pairs}));
}

TEST(PairScores, AreThoseOfTransformers) {
    std::ifstream in(kPairs + "expected.json");
    const auto expected = Json::parse(in);
    for (const std::string family : {"gpt2_tied", "llama3_scaled_tied"}) {
        Speaker speaker(family);
        for (const bool mean : {false, true}) {
            const auto answer =
                speaker.ask(pairsAnalysis(), readMinimalPairs(kPairs + "pairs.jsonl"),
                            {{"score", std::string(mean ? "mean" : "sum")}});
            const auto& pairs = answer.table("pairs");
            const auto& scores = expected[family]["scores"];
            ASSERT_EQ(pairs.rows(), scores.size());
            for (std::size_t k = 0; k < pairs.rows(); ++k) {
                const auto score = [&](std::size_t i) {
                    const auto& one = scores[k][i];
                    return one["sum"].get<double>() / (mean ? one["tokens"].get<double>() : 1.0);
                };
                double bad = score(1);
                for (std::size_t i = 2; i < scores[k].size(); ++i) bad = std::max(bad, score(i));
                EXPECT_NEAR(pairs.numbers("good_score")[k], score(0), 2e-4) << family << k;
                EXPECT_NEAR(pairs.numbers("bad_score")[k], bad, 2e-4) << family << k;
                EXPECT_EQ(pairs.numbers("right")[k] != 0.0, score(0) > bad) << family << k;
            }
            EXPECT_EQ(answer.text("read_before"), expected[family]["read_before"]);
            EXPECT_EQ(answer.number("ties"), 1.0);  // equal sentences
            EXPECT_EQ(answer.number("count"), 5.0);
            EXPECT_EQ(answer.table("phenomena").rows(), 5u);
        }
    }
}

TEST(PairScores, AreThePlainSumsOfOneSentenceAtATime) {
    Speaker speaker;
    const auto data = grammar("", 4);
    const auto answer = speaker.ask(pairsAnalysis(), data);
    const auto& pairs = answer.table("pairs");
    const auto model = speaker.model->edited({});
    const auto tokenizer = speaker.model->tokenizer();
    const auto plain = [&](const std::string& text) {
        std::vector<std::int64_t> ids = {*tokenizer->endOfText()};
        for (const auto id : tokenizer->encode(text)) ids.push_back(id);
        const auto n = std::ssize(ids) - 1;
        Batch batch;
        batch.kind = TargetKind::Tokens;
        const auto all = torch::tensor(ids).unsqueeze(0);
        batch.inputs = all.slice(1, 0, n), batch.targets = all.slice(1, 1, n + 1);
        const auto scores = model->answers(batch, nullptr, {}).to(torch::kDouble).log_softmax(-1);
        return scores.gather(2, batch.targets.unsqueeze(2)).sum().item<double>();
    };
    ASSERT_EQ(pairs.rows(), 48u);
    for (std::size_t k = 0; k < pairs.rows(); ++k) {
        EXPECT_NEAR(pairs.numbers("good_score")[k], plain(pairs.texts("good")[k]), 2e-4);
        EXPECT_NEAR(pairs.numbers("bad_score")[k], plain(pairs.texts("bad")[k]), 2e-4);
    }
    // The scores of tokens add up to those of sentences.
    const auto& tokens = answer.table("tokens");
    double sum = 0.0;
    std::string text;
    for (std::size_t t = 0; t < tokens.rows(); ++t)
        if (tokens.numbers("row")[t] == 7.0 && tokens.numbers("good")[t] != 0.0)
            sum += tokens.numbers("log_probability")[t], text += tokens.texts("token")[t];
    EXPECT_NEAR(sum, pairs.numbers("good_score")[7], 1e-9);
    EXPECT_EQ(text, pairs.texts("good")[7]);
}

TEST(PairScores, LeaveOutWhatIsTooLongAndSayWhich) {
    Speaker speaker;
    std::string longer;
    for (int k = 0; k < 10000; ++k) longer += "z ";
    auto pairs = generatePairs({"argument_order", 2});
    for (auto& pair : pairs) pair.good = pair.good.substr(0, 12), pair.bad = {"Not so."};
    pairs.push_back({longer + "a", {longer + "b"}, {}, "long", "", "", "pairs.jsonl, line 3"});
    const auto answer = speaker.ask(pairsAnalysis(), listed(pairs));
    EXPECT_EQ(answer.number("count"), 2.0);
    EXPECT_EQ(answer.number("left_out"), 1.0);
    EXPECT_EQ(answer.table("phenomena").rows(), 1u);
    const auto remark = pairsAnalysis().remark(answer);
    EXPECT_NE(remark.find("1 pair is left out"), std::string::npos) << remark;
    EXPECT_NE(remark.find("pairs.jsonl, line 3"), std::string::npos) << remark;
    EXPECT_THROW(speaker.ask(pairsAnalysis(), listed({pairs.back()})), Error);
}

TEST(PairScores, OfACharacterTokenizerBeginWithTheSecondToken) {
    const auto tokenizer = characterTokenizer("abc .");
    EXPECT_EQ(beginningToken(*tokenizer), -1);
    const auto tokens = tokenizePairs(*listed({{"ab c.", {"ab z."}}}), {0}, *tokenizer, 16);
    EXPECT_EQ(tokens.sentences[0].from, 1);
    EXPECT_EQ(tokens.sentences[0].ids.size(), 5u);
    EXPECT_EQ(tokens.unknown, 1);
    EXPECT_THROW(tokenizePairs(*listed({{"a", {"b"}}}), {0}, *tokenizer, 16), Error);
}

TEST(PairScores, HaveExactIntervals) {
    // Clopper and Pearson's, by a binomial distribution in Python.
    const auto [low, high] = proportionInterval(45, 60);
    EXPECT_NEAR(low, 0.6214036, 1e-6);
    EXPECT_NEAR(high, 0.8528139, 1e-6);
    EXPECT_NEAR(proportionInterval(60, 60).first, 0.9403705, 1e-6);
    EXPECT_EQ(proportionInterval(60, 60).second, 1.0);
    EXPECT_EQ(proportionInterval(0, 60).first, 0.0);
}

// Phenomena
// -------------------------------------------------------------------------------------------------

/// A cell whose ways change the accuracy by these, with intervals of +-`half`.
Phenomena::Cell cellOf(int part, int phenomenon, double zero, double mean, double half) {
    Phenomena::Cell cell{part, phenomenon};
    const auto change = [&](double by) {
        return PairedChange{"pair_accuracy", 0.9, 0.9 + by, by, by - half, by + half};
    };
    cell.zero.accuracy = change(zero), cell.mean.accuracy = change(mean);
    return cell;
}

Phenomena examined() {
    Phenomena found;
    found.phenomena = {{"agreement", "", 60, 54, 0, 0.9, 0.8, 0.96},
                       {"island", "", 60, 31, 0, 0.52, 0.39, 0.65}};
    for (const char* part : {"layer 1 head 1", "layer 1 head 2"})
        found.parts.push_back({part, "heads", {}});
    return found;
}

TEST(Phenomena, AreCarriedWhereEvenTheMildestWayCosts) {
    auto found = examined();
    found.cells = {cellOf(0, 0, -0.4, -0.35, 0.1), cellOf(0, 1, -0.4, -0.4, 0.1),
                   cellOf(1, 0, -0.4, -0.01, 0.1), cellOf(1, 1, 0.0, 0.0, 0.1)};
    findCarriers(found);
    EXPECT_TRUE(found.cells[0].carries);
    EXPECT_FALSE(found.cells[1].carries);  // the model does not prefer these sentences
    EXPECT_FALSE(found.cells[2].carries);  // its mean does as well
    EXPECT_EQ(found.looks, 2);
    ASSERT_EQ(found.findings.size(), 2u);
    EXPECT_EQ(found.findings[0],
              "Agreement is carried by layer 1 head 1: without it pair accuracy falls from 90.0 to "
              "between 55.0 [45.0, 65.0] (its mean) and 50.0 [40.0, 60.0] (zero) %.");
    EXPECT_NE(found.findings[1].find("does not prefer"), std::string::npos) << found.findings[1];
}

TEST(Phenomena, AreCorrectedForAllLooks) {
    auto found = examined();
    found.phenomena.pop_back();
    // p is about 0.01 for each: one of one would do, one of forty does not.
    found.parts.resize(1);
    found.cells = {cellOf(0, 0, -0.14, -0.14, 0.1)};
    findCarriers(found);
    EXPECT_TRUE(found.cells[0].carries);
    for (int k = 1; k < 40; ++k) {
        found.parts.push_back({"layer 2 head " + std::to_string(k), "heads", {}});
        found.cells.push_back(cellOf(k, 0, 0.0, 0.0, 0.1));
    }
    findCarriers(found);
    EXPECT_FALSE(found.cells[0].carries);
    ASSERT_EQ(found.findings.size(), 1u);
    EXPECT_NE(found.findings[0].find("carried by no single part"), std::string::npos);
    found.phenomena[0].pairs = 20;
    findCarriers(found);
    EXPECT_NE(found.findings[0].find("too few"), std::string::npos) << found.findings[0];
}

TEST(Phenomena, MeasureEveryPartAsAnEditDoes) {
    Speaker speaker;
    auto pairs = generatePairs({"quantifier_number", 10, 0});
    for (auto& more : generatePairs({"agreement_prepositional_phrase", 10, 0}))
        pairs.push_back(more);
    const auto data = listed(pairs);
    const auto answer =
        speaker.ask(phenomenaAnalysis(), data, {{"what", std::vector<std::string>{"heads"}}});
    const auto &parts = answer.table("parts"), &cells = answer.table("cells");
    ASSERT_EQ(cells.rows(), 2 * parts.rows());
    EXPECT_EQ(answer.table("phenomena").rows(), 2u);
    const auto base = speaker.ask(pairsAnalysis(), data);
    // The same edit by hand gives the same numbers.
    const auto points =
        speaker.model->points(inTokensOf(speaker.model->tokenizer().get(), data->sample(0)));
    for (const char* way : {"zero", "mean"})
        for (const std::size_t part : {std::size_t{0}, parts.rows() - 1}) {
            speaker.subject.interventions.edits =
                editsNamed({parts.texts("part")[part] + " " + way}, points);
            const auto edited = speaker.ask(pairsAnalysis(), data);
            speaker.subject.interventions.edits = {};
            for (std::size_t f = 0; f < 2; ++f)
                for (const auto& [measure, key] :
                     {std::pair{"accuracy", "pair_accuracy"}, {"difference", "difference"}})
                    EXPECT_NEAR(
                        cells.numbers(std::string(way) + "_" + measure + "_change")[2 * part + f],
                        edited.table("phenomena").numbers(key)[f] -
                            base.table("phenomena").numbers(key)[f],
                        1e-4)
                        << way << part << measure;
        }
    EXPECT_GT(speaker.ask(phenomenaAnalysis(), data).table("parts").rows(), 0u);
    EXPECT_THROW(
        speaker.ask(phenomenaAnalysis(), data, {{"what", std::vector<std::string>{"relations"}}}),
        OptionError);
}

}  // namespace
}  // namespace relascope
