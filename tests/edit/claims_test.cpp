// SPDX-License-Identifier: GPL-3.0-or-later
// The words for numbers: each just inside and just outside of its rule, corrections for many
// comparisons, and simulations of how often they are wrong.
#include "analysis/pairs/claims.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "analysis/pairs/auc_draws.h"
#include "evaluate/example_scores.h"
#include "interventions/edit_words.h"

namespace relascope::core {
namespace {

/// A loss of accuracy in points with half an interval.
PairedChange loses(double points, double half = 0.5) {
    const double change = -points / 100.0;
    return {"accuracy",           0.931, 0.931 + change, change, change - half / 100.0,
            change + half / 100.0};
}

/// Relation 1 of layer 1 replaced in three ways, and the attention of the layer at zero.
AblationTable claimTable(const PairedChange& zero, const PairedChange& mean,
                         const PairedChange& other, const PairedChange& holder,
                         std::int64_t examples = 1000) {
    AblationTable table;
    table.metric = "accuracy", table.base = 0.931, table.examples = examples, table.shift = 13;
    table.meanOf = 1024;
    AblationRow row, attention;
    row.part = "layer 1 relation 1", row.group = "relations";
    row.edit.point = "blocks.0.rel.hook_r";
    row.edit.selection["relation"] = {{0}, {}, {}};
    row.ways = {
        {EditOp::Zero, zero, 0.0}, {EditOp::Mean, mean, 0.0}, {EditOp::Resample, other, 0.0}};
    attention.part = "layer 1 attention", attention.group = "paths";
    attention.edit.point = "blocks.0.hook_attn_out";
    attention.ways = {
        {EditOp::Zero, holder, 0.0}, {EditOp::Mean, holder, 0.0}, {EditOp::Resample, holder, 0.0}};
    table.rows = {row, attention};
    return table;
}

/// The claims of a table beside an untrained model, or more; NAN: none was measured.
UseClaims claimsOf(AblationTable table, double untrained = 0.5, bool text = false) {
    if (!std::isnan(untrained)) table.untrained = {untrained};
    table.text = text;
    return useClaims(table);
}

PartUse useOf(const AblationTable& table, double untrained = 0.5) {
    return claimsOf(table, untrained).rows[0].use;
}

// The loss that matters is max(2 points, 5 % of 43.1) = 2.155 points.
TEST(Claims, EachWordJustInsideAndOutside) {
    struct Case {
        const char* what;
        PairedChange zero, mean, other, holder;
        PartUse use;
    };
    const Case cases[] = {
        {"the mildest costs", loses(10), loses(12), loses(40), loses(2.75), PartUse::Needed},
        {"its interval reaches the limit", loses(10), loses(12), loses(40), loses(2.6),
         PartUse::Used},
        {"it is one of two comparisons", loses(10), loses(12), loses(40), loses(2.7),
         PartUse::Used},
        {"one interval has 0", loses(10), loses(12), loses(40), loses(2.0, 2.1),
         PartUse::Undecided},
        {"what holds it costs nothing", loses(10), loses(12), loses(40), loses(0.5),
         PartUse::Misleading},
        {"the mildest might cost", loses(10), loses(12), loses(40), loses(1.7), PartUse::Used},
        {"only another example's", loses(0.1), loses(0.7), loses(12), loses(1.0),
         PartUse::Misleading},
        {"and that not for certain", loses(0.1), loses(0.7), loses(2.6), loses(1.0),
         PartUse::Undecided},
        {"gains with its mean", loses(12), loses(-2), loses(12), loses(3), PartUse::Harmful},
        {"that might be none", loses(1), loses(-0.4), loses(1), loses(1), PartUse::NotUsed},
        {"none costs or gains", loses(1.6), loses(-0.1), loses(0.2), loses(0.3), PartUse::NotUsed},
        {"one of them might", loses(1.7), loses(-0.1), loses(0.2), loses(0.3), PartUse::Undecided}};
    for (const auto& one : cases)
        EXPECT_EQ(useOf(claimTable(one.zero, one.mean, one.other, one.holder)), one.use)
            << one.what;
}

TEST(Claims, TheLossThatMattersIsTwoPointsOrAShareOfWhatWasLearned) {
    const auto table = claimTable(loses(4.2), loses(4.2), loses(4.2), loses(4.2));
    EXPECT_EQ(useOf(table, 0.5), PartUse::Needed);
    EXPECT_EQ(useOf(table, 0.91), PartUse::Needed) << "2 points are the least";
    EXPECT_EQ(useOf(table, 0.1), PartUse::Used) << "4.2 points matter";
    EXPECT_EQ(useOf(table, NAN), PartUse::Used) << "nothing is known of untrained models";
    EXPECT_NEAR(MetricWords("mean_error").leastCost(0.4, 1.4), 0.05, 1e-12);
}

TEST(Claims, FewExamplesCarryNoWord) {
    const auto use = [](std::int64_t examples, bool text) {
        return claimsOf(claimTable(loses(9), loses(9), loses(9), loses(9), examples), 0.5, text)
            .rows[0]
            .use;
    };
    EXPECT_EQ(use(50, false), PartUse::Needed);
    EXPECT_EQ(use(49, false), PartUse::Unmeasured);
    EXPECT_EQ(use(20, true), PartUse::Needed);
    EXPECT_EQ(use(19, true), PartUse::Unmeasured);
    EXPECT_EQ(tooFewText(10, false, "images"),
              "10 images are too few for a sentence; 50 or more are needed");
}

TEST(Claims, SentencesHaveBothEnds) {
    const MetricWords words("accuracy");
    const auto clause = [&](const AblationTable& table) {
        return useClause(claimsOf(table).rows[0], words, "images");
    };
    EXPECT_EQ(clause(claimTable(loses(20.0), loses(30.0), loses(41.4), loses(5.5))),
              "without it accuracy falls from 93.1 to between 87.6 [87.1, 88.1] (the attention of "
              "its layer at zero) and 51.7 % [51.2, 52.2] (another example's values)");
    EXPECT_EQ(clause(claimTable(loses(43.1), loses(43.1), loses(43.1), loses(43.1))),
              "without it accuracy falls from 93.1 to 50.0 % [49.5, 50.5], whichever way");
    EXPECT_EQ(clause(claimTable(loses(2.0), loses(0.7, 1.0), loses(12.0), loses(3.0))),
              "wrong values here mislead the model: another example's cost 12.0 points [11.5, "
              "12.5]; taking it out costs 0.7 points [\u22120.3, 1.7] (the mean of its values over "
              "1,024 examples): it can do without");
    EXPECT_EQ(clause(claimTable(loses(12), loses(-1.9, 1.0), loses(12), loses(3))),
              "it does better without it: 93.1 to 95.0 % [94.0, 96.0] (the mean of its values over "
              "1,024 examples)");
    EXPECT_EQ(clause(claimTable(loses(1.1), loses(0.2), loses(0.3), loses(0.0))),
              "taking it out costs 1.1 points [0.6, 1.6] at most, whichever way");
    const auto open = claimTable(loses(4, 4.5), loses(5, 5), loses(6, 3), loses(4.5, 3), 200);
    EXPECT_EQ(
        clause(open),
        "from 200 images it cannot be said whether it is used by more than 2.2 points: taking "
        "it out costs 4.0 points [\u22120.5, 8.5] (zero) to 6.0 points [3.0, 9.0] (another "
        "example's values), 5.0 points [0.0, 10.0] (the mean of its values over 1,024 "
        "examples); about 1,900 would do")
        << "the widest interval, which decides, is shown";
    auto few = open;
    few.available = 1000;
    EXPECT_EQ(clause(few).find("would do"), std::string::npos) << "the data have no more";
    EXPECT_EQ(clause(claimTable(loses(3, 1.5), loses(4, 1.5), loses(6, 3), loses(4.5, 3), 200)),
              "taking it out costs 3.0 points [1.5, 4.5] (zero) to 6.0 points [3.0, 9.0] (another "
              "example's values): it is used; whether by more than 2.2 points cannot be said");
    // The mildest and the harshest, as commands have them.
    const auto claim = claimsOf(open).rows[0];
    EXPECT_EQ(claim.mildest().edit, "layer 1 relation 1 zero");
    EXPECT_EQ(claim.harshest().edit, "layer 1 relation 1 resample 13");
}

TEST(Claims, ManyLooksAreCorrected) {
    EXPECT_EQ(holm(std::vector<double>{0.01, 0.013, 0.9}, 0.025),
              (std::vector<bool>{false, false, false}));
    EXPECT_EQ(holm(std::vector<double>{0.008, 0.012, 0.9}, 0.025),
              (std::vector<bool>{true, true, false}));
    EXPECT_EQ(holm(std::vector<double>{NAN, 0.02}, 0.025), (std::vector<bool>{false, true}));
    // A part whose interval alone is clear of the limit, among many.
    auto table = claimTable(loses(3.0, 0.6), loses(3.0, 0.6), loses(3.0, 0.6), loses(3.0, 0.6));
    EXPECT_EQ(useOf(table), PartUse::Needed);
    for (int k = 0; k < 60; ++k) {
        auto row = table.rows[0];
        row.part = "layer 2 relation " + std::to_string(k + 1);
        row.edit.point = "blocks.1.rel.hook_r";
        for (auto& way : row.ways) way.change = loses(0.0, 0.6);
        table.rows.push_back(row);
    }
    const auto claims = claimsOf(table);
    EXPECT_EQ(claims.rows[0].use, PartUse::Used);
    EXPECT_EQ(claims.comparisons, 62);
    EXPECT_NEAR(claims.expectedFalsePositives, 1.55, 1e-9);
}

TEST(Claims, UntrainedModelsAreFourOrMoreAndHaveARange) {
    const std::vector<double> four = {0.50, 0.52, 0.54, 0.56};
    EXPECT_TRUE(beyondUntrained(0.75, four));
    EXPECT_FALSE(beyondUntrained(0.73, four)) << "by more than three times their range";
    const std::vector<double> six = {0.50, 0.51, 0.52, 0.53, 0.54, 0.56};
    EXPECT_TRUE(beyondUntrained(0.69, six));
    EXPECT_FALSE(beyondUntrained(0.67, six)) << "twice";
    const std::vector<double> eight = {0.50, 0.51, 0.52, 0.53, 0.54, 0.55, 0.55, 0.56};
    EXPECT_TRUE(beyondUntrained(0.66, eight));
    EXPECT_FALSE(beyondUntrained(0.64, eight)) << "one and a half times";
    EXPECT_FALSE(beyondUntrained(0.99, std::vector<double>{0.5, 0.51, 0.52})) << "three of them";
    EXPECT_TRUE(beyondUntrained(0.30, four, false));
    EXPECT_FALSE(beyondUntrained(NAN, four));
}

// N1: a member of a group is needed together with the others only by what it adds to them.
TEST(Claims, APartIsNeededTogetherByWhatItAddsToItsGroup) {
    auto table = claimTable(loses(0.1), loses(0.0), loses(0.1), loses(40));
    auto group = table.rows[1];
    group.part = "layer 1 relations", group.edit.point = "blocks.0.rel.hook_z_rel";
    table.rows.push_back(group);
    EXPECT_EQ(groupOf(table, table.rows[0]), &table.rows[2]);
    EXPECT_FALSE(claimsOf(table).rows[0].together) << "what it adds was not measured";
    const auto adds = [&](double points, double half) {
        // With the group out the metric is 53.1 %.
        table.rows[0].adds = PairedChange{"accuracy",
                                          0.531,
                                          0.531 + points / 100.0,
                                          points / 100.0,
                                          (points - half) / 100.0,
                                          (points + half) / 100.0};
        return claimsOf(table).rows[0];
    };
    EXPECT_TRUE(adds(20.0, 3.0).together);
    EXPECT_EQ(adds(20.0, 3.0).use, PartUse::NotUsed);
    EXPECT_EQ(useWord(adds(20.0, 3.0)), "needed together");
    EXPECT_FALSE(adds(0.0, 0.4).together) << "its columns of W_r are 0: nothing reads it";
    EXPECT_EQ(useWord(adds(0.0, 0.4)), "not used");
    EXPECT_FALSE(adds(2.0, 2.1).together) << "its interval has 0";
    table.rows[2].ways = table.rows[0].ways;
    EXPECT_FALSE(adds(20.0, 3.0).together) << "the group is not needed";
}

// N3, N10: nothing is said of the parts of a model that answers no better than untrained ones.
TEST(Claims, OneGuardStandsBeforeAllWords) {
    auto table = claimTable(loses(20), loses(20), loses(20), loses(20));
    table.untrained = {0.48, 0.52};
    EXPECT_EQ(useClaims(table).rows[0].use, PartUse::Needed);
    table.untrained = {0.48, 0.93};
    EXPECT_EQ(useClaims(table).rows[0].use, PartUse::Unmeasured) << "one of them does as well";
    EXPECT_FALSE(useClaims(table).better);
    EXPECT_EQ(useClaims(table).comparisons, 0);
    // Of 100 different examples 93.1 % are not shown to be more than 89 %; of 1,000 they are.
    table.oneAnswer = true, table.untrained = {0.89};
    EXPECT_TRUE(useClaims(table).better);
    table.different = 100;
    EXPECT_FALSE(useClaims(table).better) << "the others are copies";
    table.oneAnswer = false, table.different = 0;

    const std::vector<double> fresh = {0.50, 0.53};
    EXPECT_TRUE(answersBetter("accuracy", 0.56, fresh));
    EXPECT_FALSE(answersBetter("accuracy", 0.55, fresh)) << "by 5 % of what the best one misses";
    EXPECT_FALSE(answersBetter("accuracy", 0.56, fresh, 250)) << "of 250 answers that is luck";
    EXPECT_TRUE(answersBetter("accuracy", 0.56, fresh, 5000));
    EXPECT_TRUE(answersBetter("mean_error", 0.94, std::vector<double>{1.0, 1.2}));
    EXPECT_FALSE(answersBetter("mean_error", 0.96, std::vector<double>{1.0, 1.2}));
    EXPECT_TRUE(answersBetter("accuracy", 0.1, {})) << "nothing is known";
    EXPECT_EQ(noBetterText("accuracy", 0.503, fresh),
              "The model answers no better than untrained ones: accuracy 50.3 %, and 2 models with "
              "fresh weights reach 50.0 to 53.0 %. Nothing can be said of what its parts do.");
}

TEST(Claims, FirstLinesHaveThreeNumbers) {
    const MetricWords words("accuracy");
    const auto meaning = [&](const AblationTable& table, bool oneEnd = false) {
        return useMeaning(claimsOf(table).rows[0], words, "it", oneEnd);
    };
    const auto needed = claimTable(loses(20.0), loses(30.0), loses(41.4), loses(5.5));
    EXPECT_EQ(meaning(needed), "without it accuracy falls from 93.1 to between 87.6 and 51.7 %");
    EXPECT_EQ(meaning(needed, true), "without it accuracy falls from 93.1 to 87.6 % or less");
    EXPECT_EQ(meaning(claimTable(loses(2.0), loses(0.7, 1.0), loses(12.0), loses(3.0))),
              "wrong values here cost 12.0 points, but the model can do without");
    EXPECT_EQ(meaning(claimTable(loses(3, 1.5), loses(4, 1.5), loses(6, 3), loses(4.5, 3), 200)),
              "it is used: taking it out costs 3.0 to 6.0 points");
}

// Intervals
// -------------------------------------------------------------------------------------------------

PairedChange changeOfAnswers(const std::vector<double>& before, const std::vector<double>& after) {
    return pairedChange("accuracy", before, after, std::vector<double>(before.size(), 1.0));
}

TEST(Claims, IntervalsOfProportionsHaveAWidth) {
    const auto both = changeOfAnswers({1, 1}, {0, 0});
    EXPECT_DOUBLE_EQ(both.change, -1.0);
    EXPECT_DOUBLE_EQ(both.low, -1.0);
    EXPECT_NEAR(both.high, -std::sqrt(0.025), 1e-12) << "none of two: Clopper and Pearson";
    const std::vector<double> right(100, 1.0);
    const auto none = changeOfAnswers(right, right);
    EXPECT_NEAR(none.high, 0.0362, 1e-4);
    EXPECT_NEAR(none.low, -0.0362, 1e-4);
    const auto loss = pairedChange("loss", right, right, right);
    EXPECT_EQ(loss.low, loss.high) << "no proportion";
}

// N6: with few changed answers the test and the interval never disagree.
TEST(Claims, IntervalsOfFewChangedAnswersAreExact) {
    const auto change = [](int gained, int lost, int all) {
        std::vector<double> before(static_cast<std::size_t>(all), 1.0), after = before;
        for (int k = 0; k < gained; ++k) before[static_cast<std::size_t>(k)] = 0.0;
        for (int k = 0; k < lost; ++k) after[static_cast<std::size_t>(gained + k)] = 0.0;
        return changeOfAnswers(before, after);
    };
    const auto four = change(4, 0, 300);
    EXPECT_NEAR(four.change, 4.0 / 300.0, 1e-12);
    EXPECT_LT(four.low, 0.0) << "McNemar's p of 4 : 0 is 0.125";
    EXPECT_GT(four.high, 0.02) << "more answers than four may change";
    for (int gained = 0; gained < 24; ++gained)
        for (int lost = 0; gained + lost < 25; ++lost) {
            if (gained + lost == 0) continue;
            double p = 0.0;  // two-sided binomial
            const int fewer = std::min(gained, lost), all = gained + lost;
            for (int k = 0; k <= fewer; ++k)
                p += std::exp(std::lgamma(all + 1.0) - std::lgamma(k + 1.0) -
                              std::lgamma(all - k + 1.0) - all * std::log(2.0));
            const bool apart = gained != lost && 2.0 * p < 0.05;
            const auto one = change(gained, lost, 200);
            EXPECT_EQ(one.low > 0.0 || one.high < 0.0, apart) << gained << " : " << lost;
            EXPECT_LE(one.low, one.change);
            EXPECT_GE(one.high, one.change);
        }
}

// N11: copies are no further evidence.
TEST(Claims, CopiesOfAnExampleCountOnce) {
    std::vector<double> before, after;
    std::vector<std::uint64_t> content;
    for (std::uint64_t e = 0; e < 100; ++e)
        for (int copy = 0; copy < 30; ++copy) {
            before.push_back(1.0), after.push_back(e < 4 ? 0.0 : 1.0);
            content.push_back(e);
        }
    const std::vector<double> weights(before.size(), 1.0);
    const auto copies = pairedChange("accuracy", before, after, weights),
               different = pairedChange("accuracy", before, after, weights, content);
    EXPECT_DOUBLE_EQ(copies.change, different.change);
    EXPECT_LT(copies.high, 0.0) << "3,000 images that are taken for different ones";
    EXPECT_GE(different.high, 0.0) << "four of 100 images";
    EXPECT_LT(different.low, copies.low);
    // Of copies alone that do not change: the bound of 100, not of 3,000.
    const auto none = pairedChange("accuracy", before, before, weights, content);
    EXPECT_NEAR(none.high, 0.0362, 1e-4);
}

/// How often the interval of a change of accuracy has the true one, where shares of the examples
/// turn wrong and right.
double coverageOfChanges(int examples, double wrong, double right, int times) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    int covered = 0;
    for (int t = 0; t < times; ++t) {
        std::vector<double> before, after;
        for (int e = 0; e < examples; ++e) {
            const double u = uniform(random);
            before.push_back(u < wrong ? 1.0 : u < wrong + right ? 0.0 : 1.0);
            after.push_back(u < wrong ? 0.0 : 1.0);
        }
        const auto change = changeOfAnswers(before, after);
        covered += change.low <= right - wrong && right - wrong <= change.high;
    }
    return static_cast<double>(covered) / times;
}

TEST(ClaimSimulations, IntervalsOfAChangeOfAccuracyCover) {
    double sum = 0.0;
    for (const auto& [examples, wrong, right] :
         {std::tuple(50, 0.3, 0.1), std::tuple(200, 0.05, 0.05), std::tuple(400, 0.02, 0.01),
          std::tuple(100, 0.5, 0.02), std::tuple(300, 0.01, 0.002)}) {
        const double covered = coverageOfChanges(examples, wrong, right, 200);
        EXPECT_GE(covered, 0.92) << examples << " " << wrong;
        sum += covered / 5.0;
    }
    EXPECT_GE(sum, 0.94);
    EXPECT_LE(sum, 0.985);
}

/// Pairs of examples that share a value of their own, of which a share is yes.
double aucCoverage(std::size_t examples, double share, double apart, int times) {
    constexpr std::size_t objects = 4;
    const PairShape shape{examples, objects, false, false};
    const auto places = pairPlaces(shape);
    // Of two pairs of different examples: sd of the difference of example and pair together.
    const double truth = 0.5 * std::erfc(-apart / std::sqrt(2.0 * 1.25) / std::sqrt(2.0));
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    int covered = 0, measured = 0;
    for (int t = 0; t < times; ++t) {
        std::vector<float> values;
        std::vector<std::uint8_t> yes;
        for (std::size_t e = 0; e < examples; ++e) {
            const double own = 0.5 * normal(random);
            for (std::size_t c = 0; c < shape.cells(); ++c) {
                yes.push_back(uniform(random) < share ? kPairYes : kPairNo);
                values.push_back(static_cast<float>(own + normal(random) +
                                                    (yes.back() == kPairYes ? apart : 0.0)));
            }
        }
        const SortedPairs sorted(shape, places, values);
        const AucSubject subject{shape, places, {sorted}, {yes}};
        const auto draws = bootstrappedAucs(subject, 200, 2);
        const auto [low, high] = aucInterval(placeFixedAuc(sorted, yes), draws.of(0, 0), examples);
        if (std::isnan(low)) continue;
        ++measured;
        covered += low <= truth && truth <= high;
    }
    EXPECT_GT(measured, times / 2);
    return static_cast<double>(covered) / measured;
}

// N12: an interval contains its value, and has a width at the ends.
TEST(Claims, IntervalsOfAnAucContainIt) {
    const std::vector<double> draws = {0.99985, 0.9999, 0.99995, 1.0, 1.0, 0.99999};
    const auto [low, high] = aucInterval(0.999957, draws, 250);
    EXPECT_LT(low, 0.999957);
    EXPECT_GT(high, 0.999957);
    EXPECT_LE(high, 1.0);
    const auto all = aucInterval(1.0, std::vector<double>(50, 1.0), 250);
    EXPECT_NEAR(all.first, std::pow(0.025, 1.0 / 250.0), 1e-12);
    EXPECT_EQ(all.second, 1.0);
    const auto none = aucInterval(0.0, std::vector<double>(50, 0.0), 250);
    EXPECT_EQ(none.first, 0.0);
    EXPECT_NEAR(none.second, 1.0 - std::pow(0.025, 1.0 / 250.0), 1e-12);
}

TEST(ClaimSimulations, IntervalsOfAnAucCover) {
    double sum = 0.0, count = 0.0;
    for (const std::size_t examples : {40, 150, 400})
        for (const double share : {0.02, 0.1, 0.5})
            for (const double apart : {0.0, 1.5}) {
                if (examples == 40 && share < 0.1) continue;  // one yes in four places and examples
                const double covered = aucCoverage(examples, share, apart, 120);
                EXPECT_GE(covered, 0.89) << examples << " " << share << " " << apart;
                sum += covered, count += 1.0;
            }
    EXPECT_GE(sum / count, 0.93);
    EXPECT_LE(sum / count, 0.975);
}

TEST(ClaimSimulations, ValuesOfUntrainedModelsAreSeldomBeyondTheOthers) {
    std::mt19937 random(5);
    std::extreme_value_distribution<double> best;  // the largest of many, which has a long tail
    for (const std::size_t models : {4, 6, 8}) {
        int beyond = 0;
        for (int k = 0; k < 20000; ++k) {
            std::vector<double> others(models);
            for (auto& one : others) one = best(random);
            beyond += beyondUntrained(best(random), others);
        }
        EXPECT_LE(beyond, 240) << models << " models: 1.2 %";
    }
}

TEST(ClaimSimulations, PartsWithoutAnEffectAreSeldomClaimed) {
    constexpr int kExamples = 100, kParts = 12;
    // 40 models of parts that change answers either way, and none on the whole.
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    int models = 0;
    for (int m = 0; m < 40; ++m) {
        AblationTable table;
        table.metric = "accuracy", table.base = 0.8, table.examples = kExamples;
        for (int p = 0; p < kParts; ++p) {
            AblationRow row;
            row.part = "layer 1 head " + std::to_string(p + 1), row.group = "heads";
            row.edit.point = "blocks.0.attn.hook_z";
            row.edit.selection["head"] = {{p}, {}, {}};
            for (const auto how : {EditOp::Zero, EditOp::Mean, EditOp::Resample}) {
                std::vector<double> before, after;
                for (int e = 0; e < kExamples; ++e) {
                    before.push_back(uniform(random) < 0.8);
                    after.push_back(uniform(random) < 0.1 ? 1.0 - before.back() : before.back());
                }
                // Answers that turn are as often right as wrong, on the whole.
                for (std::size_t e = 0; e < before.size(); ++e)
                    if (before[e] != after[e])
                        before[e] = uniform(random) < 0.5, after[e] = 1.0 - before[e];
                row.ways.push_back({how, changeOfAnswers(before, after), 0.1});
            }
            table.rows.push_back(row);
        }
        const auto claims = claimsOf(table);
        bool any = false;
        for (const auto& claim : claims.rows)
            any = any || claim.use == PartUse::Needed || claim.use == PartUse::Misleading ||
                  claim.use == PartUse::Harmful;
        models += any;
    }
    EXPECT_LE(models, 1);
}

}  // namespace
}  // namespace relascope::core
