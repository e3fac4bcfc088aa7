// SPDX-License-Identifier: GPL-3.0-or-later
// Scores of sentences and what minimal pairs tell by them: against a plain sum, one sentence at a
// time, and against transformers (tests/make_pairs_golden.py).
#include "evaluate/pair_scores.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

#include "analysis/analysis.h"
#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/pair_accuracy/pair_accuracy.h"
#include "analysis/phenomena/phenomena.h"
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
            const auto answer = speaker.ask(analysisNamed("pair-accuracy"),
                                            readMinimalPairs(kPairs + "pairs.jsonl"),
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
            EXPECT_EQ(answer.number("alike"), 1.0);
            const auto remark = analysisNamed("pair-accuracy").remark(answer);
            EXPECT_NE(remark.find("In 1 pair both sentences are the same tokens"),
                      std::string::npos)
                << remark;
            EXPECT_NE(remark.find(answer.text("first_alike") + "."), std::string::npos) << remark;
            EXPECT_EQ(answer.number("count"), 5.0);
            EXPECT_EQ(answer.table("phenomena").rows(), 5u);
        }
    }
}

TEST(PairScores, AreThePlainSumsOfOneSentenceAtATime) {
    Speaker speaker;
    const auto data = grammar("", 4);
    const auto answer = speaker.ask(analysisNamed("pair-accuracy"), data);
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
    const auto answer = speaker.ask(analysisNamed("pair-accuracy"), listed(pairs));
    EXPECT_EQ(answer.number("count"), 2.0);
    EXPECT_EQ(answer.number("left_out"), 1.0);
    EXPECT_EQ(answer.table("phenomena").rows(), 1u);
    const auto remark = analysisNamed("pair-accuracy").remark(answer);
    EXPECT_NE(remark.find("1 pair is left out"), std::string::npos) << remark;
    EXPECT_NE(remark.find("pairs.jsonl, line 3"), std::string::npos) << remark;
    EXPECT_THROW(speaker.ask(analysisNamed("pair-accuracy"), listed({pairs.back()})), Error);
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
    // Parts of pairs, and many: quantiles of the beta distribution, integrated in Python.
    EXPECT_NEAR(proportionInterval(7.5, 10.25).first, 0.381438, 1e-5);
    const auto [from, to] = proportionInterval(33500, 67000);
    EXPECT_NEAR(from, 0.4962, 1e-4);
    EXPECT_NEAR(to, 0.5038, 1e-4);
}

/// Draws of `pairs` pairs that differ in `words` sets of words, whose accuracies are spread as a
/// beta distribution of this mean and intraclass correlation: how many intervals hold the mean.
int covered(int draws, int words, int pairs, double mean, double correlation, bool byWords) {
    std::mt19937 random(7);
    const auto gamma = [&](double shape) { return std::gamma_distribution<double>(shape)(random); };
    int held = 0;
    for (int d = 0; d < draws; ++d) {
        std::vector<double> chances;
        for (int w = 0; w < words; ++w) {
            const double scale = 1.0 / correlation - 1.0, a = gamma(mean * scale),
                         b = gamma((1.0 - mean) * scale);
            chances.push_back(a + b > 0.0 ? a / (a + b) : 1.0);
        }
        std::vector<double> right;
        std::vector<std::size_t> of;
        for (int p = 0; p < pairs; ++p) {
            of.push_back(std::uniform_int_distribution<std::size_t>(0, chances.size() - 1)(random));
            right.push_back(
                std::uniform_real_distribution<double>()(random) < chances[of.back()] ? 1.0 : 0.0);
        }
        const auto [low, high] =
            byWords ? accuracyByWords(right, of)
                    : proportionInterval(std::accumulate(right.begin(), right.end(), 0.0), pairs);
        held += low <= mean && mean <= high;
    }
    return held;
}

TEST(PairScores, HaveIntervalsThatHoldWithFewWords) {
    for (const int words : {3, 6, 8, 16})
        for (const double mean : {0.5, 0.75})
            for (const double correlation : {0.1, 0.3, 0.6}) {
                const int held = covered(400, words, 60, mean, correlation, true);
                EXPECT_GE(held, 364) << words << " " << mean << " " << correlation;  // 91 %
                EXPECT_LE(held, 396) << words << " " << mean << " " << correlation;  // 99 %
                // That of independent pairs holds in 20 to 88 %.
                if (correlation >= 0.3) {
                    EXPECT_LT(covered(400, words, 60, mean, correlation, false), 360)
                        << words << " " << mean << " " << correlation;
                }
            }
    // Words that do not matter cost little.
    EXPECT_GE(covered(400, 60, 60, 0.7, 1e-6, true), 376);
}

TEST(PairScores, AreWorthAsManyDrawsAsTheirWordsTell) {
    // By hand: 40 pairs of 4 words, of which 10, 10, 10 and 4 are right. The variance of the mean
    // is 4/3 (3 * 1.5^2 + 4.5^2) / 40^2 = 0.0225, p (1 - p) = 0.1275; the ratio of t is that of 39
    // and 3 degrees of freedom: 5.6667 (2.0227 / 3.182)^2 = 2.2897 draws.
    std::vector<double> right(40, 1.0);
    std::vector<std::size_t> words;
    for (std::size_t k = 0; k < 40; ++k) {
        words.push_back(k / 10);
        if (k >= 34) right[k] = 0.0;
    }
    const auto wide = proportionInterval(0.85 * 2.2897, 2.2897);
    const auto [low, high] = accuracyByWords(right, words);
    EXPECT_NEAR(low, wide.first, 1e-3);
    EXPECT_NEAR(high, wide.second, 1e-3);
    // Where all are right nothing is known of how words differ: as many draws as words.
    EXPECT_NEAR(accuracyByWords(std::vector<double>(40, 1.0), words).first,
                proportionInterval(4, 4).first, 1e-9);
    // Each pair with words of its own is a draw.
    std::vector<std::size_t> own(40);
    std::iota(own.begin(), own.end(), std::size_t{0});
    EXPECT_NEAR(accuracyByWords(right, own).first, proportionInterval(34, 40).first, 0.01);
    // One set of words has no spread.
    EXPECT_LT(accuracyByWords(right, std::vector<std::size_t>(40, 0)).first, 0.1);
    // A change, too: the t interval of four words, 3.182 standard errors of 0.0225^0.5.
    const std::vector<double> none(40, 0.0);
    const auto change = changeByWords("pair_accuracy", none, right, words);
    EXPECT_NEAR(change.change, 0.85, 1e-12);
    EXPECT_NEAR(change.low, 0.85 - 3.182 * 0.15, 1e-3);
    EXPECT_GE(change.high, 0.85 + 3.182 * 0.15 - 1e-3);
}

TEST(PairScores, AreGroupedByTheWordsThatDiffer) {
    const auto words = [](const std::string& good, std::vector<std::string> bad) {
        return differingWords({good, std::move(bad)});
    };
    EXPECT_EQ(words("The users are old.", {"The users is old."}), "are is");
    EXPECT_EQ(words("The user is old.", {"The user are old."}), "are is");
    EXPECT_EQ(words("No user has ever read it.", {"The user has ever read it."}), "no the");
    EXPECT_EQ(words("What did it read before opening the file?",
                    {"What did it read the file before opening?"}),
              "before file opening the");
    EXPECT_EQ(words("It fits.", {"It fit.", "It fitting."}), "fit fits fitting");
    EXPECT_EQ(words("Same.", {"Same."}), "");
    EXPECT_EQ(words("No user that the author knows.", {"The user that no author knows."}),
              "no the");
    std::set<std::string> agreement, nouns;
    for (const auto& pair : generatePairs({"agreement_relative_clause", 60}))
        agreement.insert(differingWords(pair));
    for (const auto& pair : generatePairs({"determiner_noun", 60}))
        nouns.insert(differingWords(pair));
    EXPECT_EQ(agreement.size(), 2u);
    EXPECT_EQ(nouns.size(), 8u);
}

TEST(PairScores, StandBesideWordFrequencies) {
    // By hand: (count + 1) / (10 + 4) of tokens 1, 2, 3.
    TokenizedPairs pairs;
    pairs.sentences = {{{0, 1, 2}}, {{0, 1, 3}, 2}};
    const std::vector<double> counts = {0, 6, 3, 1};
    const auto sums = frequencyScores(pairs, counts, false);
    EXPECT_NEAR(sums[0], std::log(7.0 / 14) + std::log(4.0 / 14), 1e-12);
    EXPECT_NEAR(sums[1], std::log(2.0 / 14), 1e-12);
    EXPECT_NEAR(frequencyScores(pairs, counts, true)[0], sums[0] / 2.0, 1e-12);
}

/// 60 pairs of which 90 % are right, with eight sets of words, beside four untrained models.
PairPreference preferred() {
    PairPreference one{"agreement_relative_clause", "", 60, 54, 0, 0.9, 0.78, 0.96};
    one.words = 8;
    one.untrained = {0.4, 0.5, 0.55, 0.6};
    one.frequencies = 0.5;
    return one;
}

TEST(PairScores, PreferTheGoodSentencesOnlyBeyondChance) {
    EXPECT_TRUE(prefersGood(preferred()));
    EXPECT_EQ(
        preferenceText(preferred()),
        "the model prefers the good sentences: 90.0 % [78.0, 96.0] are likelier (50 is chance, "
        "4 untrained models have 40.0 to 60.0 %, word frequencies alone 50.0 %)");
    const auto refused = [](auto change) {
        auto one = preferred();
        change(one);
        EXPECT_FALSE(prefersGood(one));
        const auto text = preferenceText(one);
        EXPECT_TRUE(text.starts_with("the model is not shown to prefer the good sentences: "))
            << text;
        return text.substr(text.find(')') + 3);
    };
    EXPECT_EQ(refused([](auto& one) { one.low = 0.49; }), "the interval is not above 50 %");
    EXPECT_EQ(refused([](auto& one) { one.untrained[2] = 0.8; }),
              "an untrained model may do as well");
    EXPECT_EQ(refused([](auto& one) { one.untrained.pop_back(); }),
              "whether untrained models do as well takes 4 of them or more");
    EXPECT_EQ(refused([](auto& one) { one.frequencies = 0.79; }),
              "word frequencies alone may do as well");
    EXPECT_EQ(refused([](auto& one) { one.words = 5; }),
              "the pairs differ in 5 sets of words, and 6 or more are needed");
    EXPECT_EQ(refused([](auto& one) { one.pairs = 49; }),
              "49 pairs are too few for a sentence; 50 or more are needed");
    auto unknown = preferred();
    unknown.frequencies = NAN;  // of a checkpoint whose text is not known
    EXPECT_TRUE(prefersGood(unknown));
}

TEST(PairScores, SayWhatIsPreferredAndWhereTokensDiffer) {
    auto other = preferred(), shorter = preferred();
    other.phenomenon = "adjunct_island", other.right = 24, other.accuracy = 0.4, other.low = 0.3;
    shorter.phenomenon = "polarity_licensor", shorter.untrained.back() = 1.0;
    shorter.unequal = 60, shorter.shorter = 58;
    const auto sentences = pairSentences({preferred(), other, shorter});
    ASSERT_EQ(sentences.size(), 4u);
    EXPECT_TRUE(sentences[0].starts_with("Agreement relative clause: the model prefers"));
    EXPECT_TRUE(sentences[1].ends_with("; an untrained model may do as well.")) << sentences[1];
    EXPECT_EQ(sentences[2], "Nothing can be said of 1 phenomenon: Adjunct island.");
    EXPECT_TRUE(
        sentences[3].ends_with("Polarity licensor: 60 of 60, of which the good sentence has "
                               "fewer in 58."))
        << sentences[3];
}

TEST(PairScores, OfUntrainedModelsAndTokenCountsStandBesideThem) {
    Speaker speaker;
    const auto data = grammar("", 8);
    const auto answer = speaker.ask(analysisNamed("pair-accuracy"), data);
    const auto& phenomena = answer.table("phenomena");
    // Each untrained model is one that is opened by itself.
    OpenedModel fresh(speaker.model->options(), 2000003, "cpu");
    fresh.setTokenizer(std::string(RELASCOPE_FIXTURES) + "/golden/public/gpt2_tied");
    AnalysisSubject subject;
    subject.model = &fresh, subject.data = data;
    const auto own =
        runnerOf(analysisNamed("pair-accuracy")).run(subject, {{"untrained", std::int64_t{0}}}, {});
    EXPECT_TRUE(std::isnan(own.table("phenomena").numbers("untrained")[0]));
    for (std::size_t f = 0; f < phenomena.rows(); ++f) {
        const double one = own.table("phenomena").numbers("pair_accuracy")[f];
        EXPECT_GE(one, phenomena.numbers("untrained_low")[f] - 1e-12) << f;
        EXPECT_LE(one, phenomena.numbers("untrained_high")[f] + 1e-12) << f;
    }
    // By the tokenizer itself.
    const auto& names = phenomena.texts("phenomenon");
    std::map<std::string, double> unequal, fewer;
    for (std::int64_t k = 0; k < data->size(); ++k) {
        const auto& pair = data->pair(k);
        const auto good = speaker.model->tokenizer()->encode(pair.good).size(),
                   bad = speaker.model->tokenizer()->encode(pair.bad[0]).size();
        unequal[pair.phenomenon] += good != bad, fewer[pair.phenomenon] += good < bad;
    }
    for (std::size_t f = 0; f < phenomena.rows(); ++f) {
        EXPECT_EQ(phenomena.numbers("unequal_tokens")[f], unequal[names[f]]) << names[f];
        EXPECT_EQ(phenomena.numbers("good_shorter")[f], fewer[names[f]]) << names[f];
    }
    EXPECT_NE(
        analysisNamed("pair-accuracy").remark(answer).find("word frequencies are not compared"),
        std::string::npos);
}

TEST(PairScores, AreNotPreferredByRandomModels) {
    // Twelve phenomena of eight models: 2.5 % of 96 would be two.
    Speaker speaker;
    const auto data = grammar();
    int claims = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        OpenedModel fresh(speaker.model->options(), seed, "cpu");
        fresh.setTokenizer(std::string(RELASCOPE_FIXTURES) + "/golden/public/gpt2_tied");
        AnalysisSubject subject;
        subject.model = &fresh, subject.data = data;
        const auto answer = runnerOf(analysisNamed("pair-accuracy")).run(subject, {}, {});
        for (const double one : answer.table("phenomena").numbers("preferred"))
            claims += one != 0.0;
    }
    EXPECT_LE(claims, 1);
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
    for (auto& one : found.phenomena) one.words = 8, one.untrained = {0.4, 0.5, 0.55, 0.6};
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
    EXPECT_EQ(found.comparisons, 2);
    ASSERT_EQ(found.findings.size(), 2u);
    EXPECT_EQ(found.findings[0],
              "Agreement is carried by layer 1 head 1: without it pair accuracy falls from 90.0 to "
              "between 55.0 [45.0, 65.0] (its mean) and 50.0 [40.0, 60.0] (zero) %.");
    EXPECT_TRUE(
        found.findings[1].ends_with("; the interval is not above 50 %. So nothing is said of "
                                    "parts."))
        << found.findings[1];
    // Nor of a phenomenon that untrained models prefer as well.
    found.phenomena[0].untrained[0] = 0.85;
    findCarriers(found);
    EXPECT_FALSE(found.cells[0].carries);
    EXPECT_EQ(found.comparisons, 0);
    EXPECT_TRUE(
        found.findings[0].ends_with("; an untrained model may do as well. So nothing is said "
                                    "of parts."))
        << found.findings[0];
}

TEST(Phenomena, CalledLikeAColumnHaveOneOfTheirOwn) {
    auto found = examined();
    found.phenomena[0].phenomenon = "part", found.phenomena[1].phenomenon = "group";
    found.cells = {cellOf(0, 0, -0.4, -0.35, 0.1), cellOf(0, 1, -0.4, -0.4, 0.1),
                   cellOf(1, 0, -0.4, -0.01, 0.1), cellOf(1, 1, 0.0, 0.0, 0.1)};
    findCarriers(found);
    const auto answer = answerOf(found);
    const auto& parts = answer.table("parts");
    EXPECT_EQ(parts.texts("part")[0], "layer 1 head 1");
    EXPECT_EQ(parts.texts("group")[0], "heads");
    EXPECT_NEAR(parts.numbers("phenomenon part")[0], -0.35, 1e-9);
    std::set<std::string> keys;
    for (const auto& column : parts.columns) EXPECT_TRUE(keys.insert(column.key).second);
    EXPECT_EQ(analysisNamed("phenomena").json(answer)["parts"][0]["part"], "layer 1 head 1");
}

TEST(Phenomena, AreCarriedByNoPartOnlyWhereEveryIntervalIsWithin) {
    auto found = examined();
    found.phenomena.pop_back();
    // The least that matters is 5 % of the 40 points above chance, or 2 points.
    found.cells = {cellOf(0, 0, 0.001, -0.002, 0.015), cellOf(1, 0, 0.0, 0.001, 0.015)};
    findCarriers(found);
    ASSERT_EQ(found.findings.size(), 1u);
    EXPECT_EQ(found.findings[0],
              "Agreement is carried by no single part: taking any one of them out changes the pair "
              "accuracy by less than 2.0 points, by its whole interval.");
    // An interval beyond the limit shows nothing, and so does not show that there is nothing.
    found.cells[1] = cellOf(1, 0, -0.167, -0.17, 0.17);
    findCarriers(found);
    EXPECT_EQ(found.findings[0],
              "Agreement: no part is shown to carry it. The largest loss is that of layer 1 head 2 "
              "at zero, 16.7 points [\u22120.3, 33.7]; corrected for 2 comparisons it is not shown "
              "to be more "
              "than 2.0 points.");
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
    EXPECT_NE(found.findings[0].find("no part is shown to carry it"), std::string::npos);
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
    const auto answer = speaker.ask(analysisNamed("phenomena"), data,
                                    {{"what", std::vector<std::string>{"heads"}}});
    const auto &parts = answer.table("parts"), &cells = answer.table("cells");
    ASSERT_EQ(cells.rows(), 2 * parts.rows());
    EXPECT_EQ(answer.table("phenomena").rows(), 2u);
    const auto base = speaker.ask(analysisNamed("pair-accuracy"), data);
    // The same edit by hand gives the same numbers.
    const auto points =
        speaker.model->points(inTokensOf(speaker.model->tokenizer().get(), data->sample(0)));
    for (const char* way : {"zero", "mean"})
        for (const std::size_t part : {std::size_t{0}, parts.rows() - 1}) {
            speaker.subject.interventions.edits =
                editsNamed({parts.texts("part")[part] + " " + way}, points);
            const auto edited = speaker.ask(analysisNamed("pair-accuracy"), data);
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
    EXPECT_GT(speaker.ask(analysisNamed("phenomena"), data).table("parts").rows(), 0u);
    EXPECT_THROW(speaker.ask(analysisNamed("phenomena"), data,
                             {{"what", std::vector<std::string>{"relations"}}}),
                 OptionError);
}

}  // namespace
}  // namespace relascope
