// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of relations: stored numbers of an independent implementation, and their properties.
#include "analysis/pairs/relation_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "analysis/pairs/pair_attributes.h"
#include "analysis/verify/verify.h"
#include "support/rooms.h"

namespace relascope {
namespace {

const std::string kStatistics =
    std::string(RELASCOPE_FIXTURES) + "/golden/interventions/atlas_statistics";

std::vector<float> noise(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (auto& value : values) value = normal(random);
    return values;
}

TEST(RelationStatistics, AgreeWithTheStoredNumbers) {
    const auto report = verifyFolder(kStatistics);
    EXPECT_TRUE(report.ok);
    EXPECT_EQ(report.lines.size(), 22u);
    EXPECT_LT(report.worst, 1e-6);
    for (const auto& line : report.lines)
        EXPECT_TRUE(line.ok) << line.name << " abs " << line.absolute << " " << line.note;
}

TEST(RelationStatistics, AWrongNumberAndADamagedFileAreNamed) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "wrong_statistics";
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(kStatistics + "/io.safetensors", folder / "io.safetensors",
                               std::filesystem::copy_options::overwrite_existing);
    std::ofstream(folder / "expected.json")
        << R"({"relations": [{"mean": 0.66, "guess": 1}, {}, {}]})";
    const auto report = verifyFolder(folder.string());
    EXPECT_FALSE(report.ok);
    ASSERT_EQ(report.lines.size(), 2u);
    EXPECT_EQ(report.lines[0].name, "relations/0/mean");
    EXPECT_FALSE(report.lines[0].ok);
    EXPECT_EQ(report.lines[1].note, "not computed");
    for (const char* text : {"{", "[]", R"({"relations": 1})", R"({"relations": [{}]})",
                             R"({"relations": [{"mean": "much"}, {}, {}]})"}) {
        std::ofstream(folder / "expected.json") << text;
        EXPECT_THROW(verifyFolder(folder.string()), FileError) << text;
    }
    std::filesystem::remove_all(folder);
}

TEST(RelationStatistics, SharesOfMadeUpPartsAreThoseParts) {
    // Parts without means along the other axes, of known variance.
    const std::size_t n = 8, examples = 400;
    for (const bool causal : {false, true}) {
        PairShape shape{examples, n, causal, false};
        const auto place = noise(n * n, 1), g = noise(examples, 2), a = noise(examples * n, 3),
                   b = noise(examples * n, 4), rest = noise(shape.values(), 5);
        std::vector<float> r(shape.values());
        for (std::size_t e = 0; e < examples; ++e)
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    r[(e * n + i) * n + j] = 3.0F + 2.0F * place[i * n + j] + g[e] +
                                             0.5F * a[e * n + i] + 1.5F * b[e * n + j] +
                                             0.1F * rest[(e * n + i) * n + j];
        const auto shares = varianceShares(shape, r);
        EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-9);
        const double total = 4 + 1 + 0.25 + 2.25 + 0.01;
        EXPECT_NEAR(shares[0], 4 / total, 0.15) << "of few places";
        EXPECT_NEAR(shares[2] / shares[3], 0.25 / 2.25, causal ? 0.08 : 0.03);
        EXPECT_LT(shares[4], 0.01);
        // By offset, the same relation has less of place.
        shape.byOffset = true;
        EXPECT_LT(varianceShares(shape, r)[0], shares[0]);
    }
    const PairShape shape{4, 3, false, false};
    for (const double share : varianceShares(shape, std::vector<float>(shape.values(), 2.0F)))
        EXPECT_TRUE(std::isnan(share)) << "nothing varies";
}

TEST(RelationStatistics, AShiftAndAScaleChangeNothingButTheDistribution) {
    const PairShape shape{50, 5, false, false};
    auto r = noise(shape.values(), 7);
    std::vector<std::uint8_t> truth(shape.values());
    for (std::size_t k = 0; k < truth.size(); ++k) truth[k] = r[k] + 0.5F * r[k / 2] > 0;
    const auto places = pairPlaces(shape);
    const double auc = placeFixedAuc({shape, places, r}, truth);
    const auto shares = varianceShares(shape, r);
    EXPECT_GT(auc, 0.6);
    std::vector<float> moved(r), turned(r);
    for (auto& value : moved) value = 3.0F * value - 7.0F;
    for (auto& value : turned) value = -value;
    EXPECT_NEAR(placeFixedAuc({shape, places, moved}, truth), auc, 1e-6);
    EXPECT_NEAR(placeFixedAuc({shape, places, turned}, truth), 1.0 - auc, 1e-9);
    for (std::size_t k = 0; k < 5; ++k)
        EXPECT_NEAR(varianceShares(shape, moved)[k], shares[k], 1e-5);
    const auto one = distributionOf(shape, r), other = distributionOf(shape, moved);
    EXPECT_NEAR(other.mean, 3.0 * one.mean - 7.0, 1e-4);
    EXPECT_NEAR(other.sd, 3.0 * one.sd, 1e-4);
    EXPECT_NEAR(other.quantiles[3], 3.0 * one.quantiles[3] - 7.0, 1e-4);
    EXPECT_EQ(std::accumulate(one.bins.begin(), one.bins.end(), std::int64_t{0}), 50 * 20);
}

// P(r_yes > r_no) + half of ties, by counting all pairs of pairs.
double counted(const std::vector<float>& r, const std::vector<std::uint8_t>& truth) {
    double above = 0.0, pairs = 0.0;
    for (std::size_t a = 0; a < r.size(); ++a)
        for (std::size_t b = 0; b < r.size(); ++b)
            if (truth[a] == kPairYes && truth[b] == kPairNo)
                above += r[a] > r[b] ? 1.0 : r[a] == r[b] ? 0.5 : 0.0, pairs += 1.0;
    return above / pairs;
}

TEST(RelationStatistics, AucsCountPairsAndHalfOfTheTies) {
    // Two objects: one place each way, whose values and truths are those of a list.
    const PairShape shape{60, 2, true, false};
    auto r = noise(shape.values(), 9);
    std::vector<std::uint8_t> truth(shape.values(), kPairUndefined), rival(truth);
    std::vector<float> list;
    std::vector<std::uint8_t> answers;
    std::mt19937 random(3);
    for (std::size_t e = 0; e < shape.examples; ++e) {
        auto& value = r[e * 4 + 2];  // i = 1, j = 0
        value = std::round(2.0F * value);
        truth[e * 4 + 2] = static_cast<std::uint8_t>(random() % 3);
        list.push_back(value), answers.push_back(truth[e * 4 + 2]);
    }
    const auto places = pairPlaces(shape);
    ASSERT_EQ(places.size(), 1u);
    const SortedPairs sorted(shape, places, r);
    EXPECT_NEAR(plainAuc(sorted, truth), counted(list, answers), 1e-12);
    EXPECT_NEAR(placeFixedAuc(sorted, truth), counted(list, answers), 1e-12);
    // Lanes: the same with weights, and a lane with all answers exchanged.
    std::vector<std::uint32_t> rows(shape.values(), kNoRow);
    AucLanes lanes{2, {}, {}};
    std::uint32_t row = 0;
    double yes = 0.0, no = 0.0;
    for (std::size_t e = 0; e < shape.examples; ++e) {
        if (answers[e] == kPairUndefined) continue;
        rows[e * 4 + 2] = row++;
        const float is = answers[e] == kPairYes ? 1.0F : 0.0F;
        lanes.yes.insert(lanes.yes.end(), {is, 1.0F - is});
        lanes.no.insert(lanes.no.end(), {1.0F - is, is});
        yes += is, no += 1.0F - is;
    }
    std::vector<double> sums(2, 0.0);
    addWeightedAuc(sorted, 0, rows, lanes, sums);
    EXPECT_NEAR(sums[0] / (yes * no), counted(list, answers), 1e-6);
    EXPECT_NEAR(sums[1] / (yes * no), 1.0 - counted(list, answers), 1e-6);
    EXPECT_TRUE(std::isnan(conditionalAuc(sorted, truth, truth))) << "nothing is left to tell";
    const std::vector<float> constant(shape.values(), 1.0F);
    EXPECT_EQ(placeFixedAuc({shape, places, constant}, truth), 0.5);
    EXPECT_TRUE(std::isnan(placeFixedAuc({shape, places, r}, rival)));
}

TEST(RelationStatistics, PlaceIsHeldFixed) {
    // The value is that of the place, and so is the truth: apart from it they have nothing to do
    // with each other.
    const PairShape shape{300, 4, false, false};
    auto r = noise(shape.values(), 11);
    const auto of = noise(16, 12), other = noise(shape.values(), 13);
    std::vector<std::uint8_t> truth(shape.values());
    for (std::size_t k = 0; k < r.size(); ++k) {
        r[k] += 4.0F * of[k % 16];
        truth[k] = of[k % 16] + 0.5F * other[k] > 0 ? kPairYes : kPairNo;
    }
    const SortedPairs sorted(shape, pairPlaces(shape), r);
    EXPECT_GT(plainAuc(sorted, truth), 0.85);
    EXPECT_NEAR(placeFixedAuc(sorted, truth), 0.5, 0.06);
}

TEST(RelationStatistics, RanksAndSymmetry) {
    EXPECT_NEAR(effectiveRank(std::vector<double>{2, 2, 2, 0}), 3.0, 1e-12);
    EXPECT_TRUE(std::isnan(effectiveRank(std::vector<double>{0, 0})));
    // Singular values of a product with orthogonal factors are known.
    const double c = std::cos(0.7), s = std::sin(0.7);
    const auto values = singularValues({5 * c, -2 * s, 0, 5 * s, 2 * c, 0}, 2, 3);
    EXPECT_NEAR(values[0], 5.0, 1e-12);
    EXPECT_NEAR(values[1], 2.0, 1e-12);
    // Of projections both ways round: d below and above the width.
    const auto q = noise(12, 21), k = noise(12, 22);
    const std::vector<double> query(q.begin(), q.end()), key(k.begin(), k.end());
    const auto narrow = weightMatrixFacts(query, key, 2, 6);
    std::vector<double> m(36, 0.0);
    for (std::size_t w = 0; w < 2; ++w)
        for (std::size_t i = 0; i < 6; ++i)
            for (std::size_t j = 0; j < 6; ++j) m[i * 6 + j] += query[w * 6 + i] * key[w * 6 + j];
    EXPECT_NEAR(narrow.effectiveRank, effectiveRank(singularValues(m, 6, 6)), 1e-9);
    EXPECT_TRUE(std::isinf(weightMatrixFacts(query, query, 2, 6).symmetry));
    const PairShape shape{3, 2, false, false};
    EXPECT_TRUE(std::isinf(symmetryRatio(shape, std::vector<float>(12, 1.0F))));
    std::vector<float> turned = {0, 1, -1, 0, 0, 2, -2, 0, 0, 1, -1, 0};
    EXPECT_EQ(symmetryRatio(shape, turned), 0.0);
    EXPECT_NEAR(meanEffectiveRank(shape, turned, 9), 2.0, 1e-9);
}

TEST(RelationStatistics, AlikeRelationsAreOneGroup) {
    const PairShape shape{100, 3, false, false};
    const auto a = noise(shape.values(), 31), b = noise(shape.values(), 32), place = noise(9, 33);
    std::vector<float> like(a), constant(a);
    for (std::size_t k = 0; k < a.size(); ++k) {
        like[k] = -a[k] + 0.2F * b[k] + 5.0F * place[k % 9];  // the mean of a place is removed
        constant[k] = place[k % 9];
    }
    const std::vector<PairValues> all = {a, b, like, constant};
    const auto correlation = correlationWithoutPlace(shape, all);
    EXPECT_LT(correlation[2], -0.9);
    EXPECT_TRUE(std::isnan(correlation[3])) << "place says all of it";
    const auto tree = averageLinkage(correlation, 4);
    ASSERT_EQ(tree.size(), 3U);
    EXPECT_EQ(tree[0].first, 0U);
    EXPECT_EQ(tree[0].second, 2U);
    EXPECT_EQ(tree[0].correlation, std::abs(correlation[2]));
    EXPECT_EQ(correlatedGroups(tree, 4, 0.7), (std::vector<int>{0, 1, 0, 2}));
    EXPECT_EQ(correlatedGroups(tree, 4, 0.99), (std::vector<int>{0, 1, 2, 3}));
}

// The closest clusters are joined first, by the mean over all pairs of their members.
TEST(RelationStatistics, TheTreeIsThatOfPlainAverageLinkage) {
    constexpr std::size_t n = 17;
    for (unsigned seed = 50; seed < 60; ++seed) {
        const auto drawn = noise(n * n, seed);
        std::vector<double> correlation(n * n, 1.0);
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < a; ++b)
                correlation[a * n + b] = correlation[b * n + a] =
                    std::tanh(static_cast<double>(drawn[a * n + b]));
        std::vector<std::vector<std::size_t>> clusters;
        for (std::size_t l = 0; l < n; ++l) clusters.push_back({l});
        const auto tree = averageLinkage(correlation, n);
        ASSERT_EQ(tree.size(), n - 1);
        std::vector<std::size_t> left(n);
        for (std::size_t l = 0; l < n; ++l) left[l] = l;
        const auto between = [&](std::size_t a, std::size_t b) {
            double sum = 0.0;
            for (const auto i : clusters[a])
                for (const auto j : clusters[b]) sum += std::abs(correlation[i * n + j]);
            return sum / static_cast<double>(clusters[a].size() * clusters[b].size());
        };
        for (const auto& join : tree) {
            double best = -1.0;
            for (const auto a : left)
                for (const auto b : left)
                    if (a != b) best = std::max(best, between(a, b));
            EXPECT_NEAR(join.correlation, best, 1e-12);
            EXPECT_NEAR(between(join.first, join.second), best, 1e-12);
            EXPECT_EQ(std::erase(left, join.first) + std::erase(left, join.second), 2U);
            left.push_back(clusters.size());
            auto both = clusters[join.first];
            both.insert(both.end(), clusters[join.second].begin(), clusters[join.second].end());
            clusters.push_back(both);
        }
    }
}

TEST(RelationStatistics, SpearmanFollowsTheOrder) {
    const PairShape shape{30, 3, false, false};
    const auto r = noise(shape.values(), 41);
    std::vector<float> cubed(r), down(r);
    for (auto& value : cubed) value = value * value * value;
    for (auto& value : down) value = -value;
    const SortedPairs sorted(shape, pairPlaces(shape), r);
    EXPECT_NEAR(plainSpearman(sorted, cubed), 1.0, 1e-12);
    EXPECT_NEAR(placeFixedSpearman(sorted, down), -1.0, 1e-12);
    EXPECT_TRUE(std::isnan(plainSpearman(sorted, std::vector<float>(shape.values(), 1.0F))));
}

// Attributes
// -------------------------------------------------------------------------------------------------

const PairAttribute& named(const PairAttributes& all, const std::string& name) {
    for (const auto& one : all.all)
        if (one.name == name) return one;
    throw std::runtime_error("no attribute " + name);
}

TEST(PairAttributes, OfFactsKnowWhereTheyMakeNoSense) {
    // A grid of 2 x 2: a figure, its double, an empty place, and one of the same colour.
    const ObjectFacts about{{{"shape"}, {"colour"}}, 4, 2};
    const PairShape shape{1, 4, false, false};
    const auto all = attributesOfFacts(shape, about, {5, 1, 5, 1, -1, -1, 6, 1});
    const auto at = [&](const char* name, std::size_t i, std::size_t j) {
        return static_cast<int>(named(all, name).truth[i * 4 + j]);
    };
    EXPECT_EQ(at("same object", 0, 1), kPairYes);
    EXPECT_EQ(at("same object", 0, 3), kPairNo);
    EXPECT_EQ(at("same object", 0, 2), kPairUndefined);
    EXPECT_EQ(at("same shape", 0, 3), kPairNo);
    EXPECT_EQ(at("same colour", 3, 0), kPairYes);
    EXPECT_EQ(at("same colour where shapes differ", 0, 3), kPairYes);
    EXPECT_EQ(at("same colour where shapes differ", 0, 1), kPairUndefined);
    EXPECT_EQ(at("one empty", 0, 2), kPairYes);
    EXPECT_EQ(at("both empty", 2, 2), kPairYes);
    EXPECT_EQ(at("same row", 0, 1), kPairYes);
    EXPECT_EQ(at("same column", 0, 1), kPairNo);
    EXPECT_EQ(at("same line", 0, 3), kPairYes) << "the diagonal";
    EXPECT_EQ(at("neighbours", 0, 3), kPairYes);
    EXPECT_THROW(at("one empty or both", 0, 0), std::runtime_error);
}

TEST(PairAttributes, OfOrderedFacts) {
    const ObjectFacts about{{{"A", true}}, 3, 0};
    const auto all = attributesOfFacts({2, 3, false, false}, about, {2, 1, 1, 0, 5, 3});
    EXPECT_EQ(all.all.size(), 3u) << "no grid, nothing empty, one fact";
    EXPECT_EQ(named(all, "greater in A").truth[1], kPairYes);
    EXPECT_EQ(named(all, "greater in A").truth[3], kPairNo);
    EXPECT_EQ(named(all, "greater in A").truth[5], kPairUndefined) << "equal";
    EXPECT_EQ(named(all, "distance in A").values[9 + 1], 5.0F);
    EXPECT_EQ(all.occupied, (std::vector<std::int32_t>{0, 0}));
}

TEST(PairAttributes, OfMathematicsFindOperandsAndVariables) {
    // By their places: 0 S, 6 2, 7 *, 8 x, 9 *, 10 *, 11 3, 13 +, 15 4, 16 1, 17 y, 19 =, 21 x.
    const std::string text = "Solve 2*x**3 + 41y = x.", padded = text + std::string(3, '\0');
    const PairShape shape{2, padded.size(), false, false};
    const auto all = attributesOfMathematics(shape, {padded, text + "   "});
    const auto truth = [&](const std::string& name, std::size_t i, std::size_t j) -> int {
        for (const auto& one : all.all)
            if (one.name == name) return one.truth[i * padded.size() + j];
        throw std::runtime_error("no " + name);
    };
    EXPECT_EQ(truth("same variable", 8, 21), 1);
    EXPECT_EQ(truth("same variable", 8, 17), 0);
    EXPECT_EQ(truth("both variables", 8, 17), 1);
    EXPECT_EQ(truth("both variables", 0, 17), 0) << "a letter of a word";
    EXPECT_EQ(truth("both digits", 6, 15), 1);
    EXPECT_EQ(truth("both digits", 6, 8), 0);
    EXPECT_EQ(truth("same character", 7, 9), 1);
    const auto operands = [&](std::size_t at) {
        std::vector<std::size_t> found;
        for (std::size_t j = 0; j < text.size(); ++j)
            if (truth("operator and operand", at, j) == 1) found.push_back(j);
        return found;
    };
    using Places = std::vector<std::size_t>;
    EXPECT_EQ(operands(7), (Places{6, 8}));
    EXPECT_EQ(operands(9), (Places{8, 11})) << "a power has two characters";
    EXPECT_EQ(operands(10), (Places{8, 11}));
    EXPECT_EQ(operands(13), (Places{11, 15, 16})) << "both digits of 41";
    EXPECT_EQ(operands(19), (Places{17, 21}));
    EXPECT_EQ(operands(15), (Places{13})) << "and back";
    EXPECT_EQ(truth("same character", 0, padded.size() - 1), 2) << "padding is left out";
    EXPECT_NE(all.occupied[0], all.occupied[1]) << "questions of other lengths";
}

TEST(PairAttributes, OfTextReadTheWholeWindow) {
    const auto tokenizer = characterTokenizer(" ABab1.");
    const std::string text = "ab1. AB ab";
    std::vector<std::int64_t> tokens;
    for (const auto id : tokenizer->encode(text)) tokens.push_back(id);
    const PairShape shape{1, 6, true, true};
    const std::size_t start = 4;  // " AB ab"
    const auto all = attributesOfText(shape, tokens, {start}, tokenizer.get());
    const auto at = [&](const char* name, std::size_t i, std::size_t j) {
        return static_cast<int>(named(all, name).truth[i * 6 + j]);
    };
    EXPECT_EQ(at("same token", 3, 0), kPairYes);
    EXPECT_EQ(at("both capitals", 2, 1), kPairYes);
    EXPECT_EQ(at("both capitals", 4, 1), kPairNo);
    EXPECT_EQ(at("same class", 5, 4), kPairYes);
    EXPECT_EQ(at("same word", 2, 1), kPairYes);
    EXPECT_EQ(at("same word", 4, 2), kPairNo) << "a space between";
    EXPECT_EQ(at("previous token", 3, 2), kPairYes);
    EXPECT_EQ(at("first token", 3, 0), kPairNo) << "the window began before";
    EXPECT_EQ(at("induction", 3, 1), kPairYes) << "before j stands a space, as at i";
    EXPECT_EQ(at("induction", 3, 2), kPairNo);
    EXPECT_EQ(attributesOfText(shape, tokens, {start}, nullptr).all.size(), 5u);
}

TEST(PairAttributes, OfPatches) {
    const auto all = attributesOfPatches({1, 3, false, false}, 2, {0, 1, 2},
                                         {0.0F, 0.0F, 0.5F, 0.0F, 1.0F, 0.0F}, 2, {0, 0, 0});
    EXPECT_EQ(named(all, "colour distance").values[1], 0.5F);
    EXPECT_EQ(named(all, "distance").values[2], 1.0F);
    EXPECT_EQ(named(all, "same side").truth[1], kPairNo);
    EXPECT_EQ(named(all, "same side").truth[2], kPairYes);
}

// N9: of patches of one colour alone nothing is asked but that they are empty.
TEST(PairAttributes, OfEmptyPatches) {
    const auto all = attributesOfPatches({1, 3, false, false}, 2, {0, 1, 2},
                                         {0.0F, 0.0F, 0.5F, 0.0F, 1.0F, 0.0F}, 2, {1, 0, 0});
    EXPECT_TRUE(std::isnan(named(all, "colour distance").values[1])) << "patch 0 is empty";
    EXPECT_EQ(named(all, "colour distance").values[5], 0.5F);
    EXPECT_EQ(named(all, "one empty").truth[1], kPairYes);
    EXPECT_EQ(named(all, "one empty").truth[5], kPairNo);
    EXPECT_EQ(named(all, "both empty").truth[1], kPairNo);
}

}  // namespace
}  // namespace relascope
