// SPDX-License-Identifier: GPL-3.0-or-later
// Fitted relations: golden cases, planted relations, and each step against plain sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "analysis/fitted/fit.h"
#include "analysis/fitted/object_attention.h"
#include "analysis/fitted/removal.h"
#include "analysis/pairs/mask_facts.h"
#include "analysis/verify/verify.h"
#include "types/error.h"

namespace relascope {
namespace {

using core::FactPairs;
using core::RelationForm;

TEST(FittedGolden, EveryStoredTensorAgrees) {
    const auto folder = std::filesystem::path(RELASCOPE_FIXTURES) / "golden/fitted-relations";
    int cases = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const auto report = core::verifyFolder(entry.path().string());
        EXPECT_TRUE(report.ok) << entry.path();
        EXPECT_GE(report.lines.size(), 32u);
        for (const auto& line : report.lines)
            EXPECT_TRUE(line.ok) << entry.path() << " " << line.name << " abs " << line.absolute
                                 << " " << line.note;
        ++cases;
    }
    EXPECT_EQ(cases, 2);
}

/// Examples of `objects` objects whose streams are noise, with a fact of pairs.
struct Planted {
    FactPairs facts;
    torch::Tensor stream;  // [examples, objects, d]

    template <class Fact>
    Planted(std::int64_t examples, std::int64_t objects, const torch::Tensor& scales,
            std::uint64_t seed, Fact fact) {
        torch::manual_seed(seed);
        stream = torch::randn({examples, objects, scales.size(0)}, torch::kDouble) * scales;
        const auto n = static_cast<std::size_t>(objects);
        facts.examples = static_cast<std::size_t>(examples), facts.objects = n;
        facts.truth.assign(facts.examples * n * n, core::kPairUndefined);
        facts.part.assign(facts.examples * n, 1);
        for (std::size_t e = 0; e < facts.examples; ++e) {
            facts.split.push_back(e % 5 < 3    ? core::kToFit
                                  : e % 5 == 3 ? core::kToChoose
                                               : core::kToTest);
            const auto all = fact(stream[static_cast<std::int64_t>(e)]).contiguous();  // [n, n]
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                    if (i != j)
                        facts.truth[facts.cell(e, i, j)] =
                            all.template const_data_ptr<bool>()[i * n + j] ? core::kPairYes
                                                                           : core::kPairNo;
        }
        facts.stratum = core::strataOfGrid(n, 3);
        facts.strata = 1 + *std::max_element(facts.stratum.begin(), facts.stratum.end());
    }
};

struct Result {
    double auc = 0.0, oneSide = 0.0, place = 0.0;
    std::int64_t rank = 0;
    core::StreamRelation relation;
    bool converged = false;
};

Result fitted(const Planted& planted, RelationForm form, const std::string& scale) {
    const core::ObjectRows rows(planted.facts);
    const auto stream = rows.of(planted.stream);
    const auto axes = core::streamAxes(stream, rows, planted.facts, form, {scale, 64, 1e-9});
    const auto z = core::coordinates(stream, rows, axes);
    const core::PairFitter fitter(planted.facts, rows, form);
    const auto path = fitter.path(z, core::usualRidges());
    Result result;
    const auto scores = fitter.scores(z, path.fit(), core::kToTest);
    result.auc = fitter.auc(scores, core::kToTest);
    const auto ranked = core::rankedForm(path.fit());
    result.rank =
        core::keptRank(core::aucByRank(fitter, z, ranked, path.fit().bias, core::kToChoose),
                       path.steps[path.best].chosen);
    result.relation = core::streamRelation(axes, ranked, result.rank, path.fit().bias, form);
    result.converged = path.fit().converged;
    const core::PairFitter sides(planted.facts, rows, RelationForm::OneSide);
    result.oneSide = core::oneSideAuc(sides, z, core::usualRidges());
    const auto& test = fitter.pairs(core::kToTest);
    result.place = fitter.auc(
        core::placeScores(fitter.pairs(core::kToFit), test, planted.facts.objects), core::kToTest);
    return result;
}

TEST(Fitted, FindsAPlantedRelationOfRankThree) {
    const auto scales = torch::logspace(0.0, -1.5, 12, 10.0, torch::kDouble);
    torch::manual_seed(3);
    const auto q = std::get<0>(torch::linalg_qr(torch::randn({12, 12}, torch::kDouble)));
    const auto directions = q.slice(1, 0, 3);  // in whitened coordinates
    const Planted planted(400, 9, scales, 1, [&](const torch::Tensor& x) {
        const auto z = torch::matmul(x / scales, directions);
        const auto r = torch::matmul(z, z.t());
        return r.gt(0.3);
    });
    const auto white = fitted(planted, RelationForm::Symmetric, "white");
    EXPECT_TRUE(white.converged);
    EXPECT_GE(white.auc, 0.98);
    EXPECT_EQ(white.rank, 3);
    const auto basis = core::basisOfRows(white.relation.a);
    const auto truth = core::basisOfRows((directions / scales.unsqueeze(1)).t());
    EXPECT_GE(torch::matmul(basis.t(), truth).square().sum().item<double>() / 3.0, 0.99);
    EXPECT_LT(fitted(planted, RelationForm::Symmetric, "stream").auc, white.auc);
}

TEST(Fitted, NeitherPlaceNorOneSideIsARelation) {
    const auto scales = torch::ones({8}, torch::kDouble);
    const Planted place(300, 9, scales, 2, [](const torch::Tensor& x) {
        const auto n = x.size(0);
        const auto index = torch::arange(n);
        const auto odd = (index.unsqueeze(1).minimum(index.unsqueeze(0)) % 2).eq(1);
        return torch::rand({n, n}).lt(0.12).logical_xor(odd);
    });
    const auto ofPlace = fitted(place, RelationForm::Symmetric, "stream");
    EXPECT_NEAR(ofPlace.auc, 0.5, 0.03);
    EXPECT_GT(ofPlace.place, 0.8);
    const Planted side(300, 9, scales, 3, [](const torch::Tensor& x) {
        return x.select(1, 0).gt(0.0).unsqueeze(1).expand({x.size(0), x.size(0)});
    });
    const auto ofSide = fitted(side, RelationForm::Any, "stream");
    EXPECT_NEAR(ofSide.auc, 0.5, 0.03);
    EXPECT_GT(ofSide.oneSide, 0.95);
    const Planted noise(300, 9, scales, 4, [](const torch::Tensor& x) {
        return torch::rand({x.size(0), x.size(0)}).lt(0.3);
    });
    EXPECT_NEAR(fitted(noise, RelationForm::Any, "stream").auc, 0.5, 0.03);
}

TEST(Fitted, EveryFormGivesItsOwnNumbers) {
    const auto scales = torch::linspace(0.5, 1.5, 6, torch::kDouble);
    const Planted planted(60, 9, scales, 5, [](const torch::Tensor& x) {
        return torch::cdist(x.slice(1, 0, 2), x.slice(1, 0, 2)).lt(1.0);
    });
    const core::ObjectRows rows(planted.facts);
    const auto stream = rows.of(planted.stream);
    for (const auto& name : core::relationForms()) {
        const auto form = core::relationForm(name);
        const auto axes = core::streamAxes(stream, rows, planted.facts, form, {});
        const auto z = core::coordinates(stream, rows, axes);
        const core::PairFitter fitter(planted.facts, rows, form);
        const auto fit = fitter.path(z, {0.1}).fit();
        EXPECT_TRUE(fit.converged) << name;
        const auto ranked = core::rankedForm(fit);
        const auto relation = core::streamRelation(axes, ranked, ranked.terms(), fit.bias, form);
        const auto map = relation.map(planted.stream);
        const auto scores = fitter.scores(z, fit, core::kToTest);
        const auto& pairs = fitter.pairs(core::kToTest);
        for (std::size_t p = 0; p < pairs.size(); p += 7)
            EXPECT_NEAR(map[pairs.example[p]][pairs.i[p]][pairs.j[p]].item<double>(), scores[p],
                        1e-8)
                << name;
    }
}

TEST(Fitted, WeightsHoldStrataAndExamplesEven) {
    const Planted planted(40, 9, torch::ones({2}, torch::kDouble), 6, [](const torch::Tensor& x) {
        return torch::rand({x.size(0), x.size(0)}).lt(0.2);
    });
    const auto pairs = core::pairsOf(planted.facts, core::kToFit, false);
    const auto weights = core::balancedWeights(pairs);
    ASSERT_EQ(weights.size(), pairs.size());
    std::map<std::int32_t, double> strata, examples;
    double all = 0.0;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const double signedWeight = pairs.yes[p] ? weights[p] : -weights[p];
        strata[pairs.stratum[p]] += signedWeight, examples[pairs.example[p]] += signedWeight;
        all += weights[p];
    }
    EXPECT_NEAR(all, 1.0, 1e-12);
    for (const auto& [stratum, sum] : strata) EXPECT_NEAR(sum, 0.0, 1e-6);
    for (const auto& [example, sum] : examples) EXPECT_NEAR(sum, 0.0, 1e-9);
}

TEST(Fitted, AucsAreThoseOfPlainCounting) {
    core::PairList pairs;
    std::mt19937 random(7);
    std::vector<double> values;
    for (int k = 0; k < 200; ++k) {
        pairs.example.push_back(k / 20), pairs.i.push_back(0), pairs.j.push_back(1);
        pairs.stratum.push_back(static_cast<std::int32_t>(random() % 4));
        pairs.yes.push_back(random() % 2);
        values.push_back(static_cast<double>(random() % 5));
    }
    for (const auto* group : {&pairs.stratum, &pairs.example}) {
        double sum = 0.0, count = 0.0;
        for (std::size_t a = 0; a < 200; ++a)
            for (std::size_t b = 0; b < 200; ++b)
                if ((*group)[a] == (*group)[b] && pairs.yes[a] && !pairs.yes[b]) {
                    sum += values[a] > values[b] ? 1.0 : values[a] == values[b] ? 0.5 : 0.0;
                    ++count;
                }
        EXPECT_NEAR(core::aucWithin(values, pairs, *group), sum / count, 1e-12);
    }
}

TEST(Fitted, RefusesFactsThatFollowFromThePlace) {
    const Planted planted(30, 9, torch::ones({3}, torch::kDouble), 8, [](const torch::Tensor& x) {
        const auto column = torch::arange(x.size(0)) % 3;
        return column.unsqueeze(0).eq(column.unsqueeze(1));
    });
    const core::ObjectRows rows(planted.facts);
    try {
        core::PairFitter(planted.facts, rows, RelationForm::Any);
        ADD_FAILURE() << "was fitted";
    } catch (const OptionError& error) {
        EXPECT_EQ(error.field(), "fact");
        EXPECT_NE(error.message().find("follows from the place"), std::string::npos);
    }
}

TEST(Fitted, LeavesWholeExamplesOut) {
    Planted planted(40, 9, torch::ones({2}, torch::kDouble), 9, [](const torch::Tensor& x) {
        return torch::rand({x.size(0), x.size(0)}).lt(0.5);
    });
    const auto left = core::limitPairs(planted.facts, 72 * 5, false, 1);
    EXPECT_EQ(left, 40u - 5 - 5 - 5);
    EXPECT_EQ(core::pairsOf(planted.facts, core::kToFit, false).size(), 72u * 5);
}

TEST(Fitted, RandomSubspacesAreAsStrong) {
    torch::manual_seed(1);
    const auto x = torch::randn({500, 10}, torch::kDouble) *
                   torch::logspace(0.0, -2.0, 10, 10.0, torch::kDouble);
    const auto covariance = torch::matmul(x.t(), x) / 500.0;
    const core::RandomSubspaces random(covariance);
    for (const double share : {0.01, 0.2, 0.8}) {
        const auto basis = random.draw(2, share, 5);
        EXPECT_NEAR(core::shareOfVariance(covariance, basis), share, 1e-4);
        EXPECT_TRUE(torch::allclose(torch::matmul(basis.t(), basis), torch::eye(2, torch::kDouble),
                                    1e-8, 1e-8));
    }
    EXPECT_FALSE(torch::allclose(random.draw(2, 0.2, 5), random.draw(2, 0.2, 6)));
}

TEST(ObjectAttention, SharesAreThoseOfPlainSums) {
    EXPECT_EQ(core::objectsOfPatches({4,
                                      4,
                                      {1, 1, 0, 2,  //
                                       1, 0, 2, 2,  //
                                       3, 3, 65535, 65535, 0, 0, 65535, 65535},
                                      {}},
                                     2, 2),
              (std::vector<std::uint16_t>{1, 2, 0, 0}));
    torch::manual_seed(2);
    const auto objects = torch::tensor({{1, 1, 2, 0}, {0, 0, 0, 0}, {3, 4, 4, 5}}, torch::kLong);
    const auto groups = torch::tensor({{1, 1, 2, 0}, {0, 0, 0, 0}, {1, 1, 1, 2}}, torch::kLong);
    const auto maps = torch::rand({3, 2, 5, 5}).softmax(-1);
    core::ObjectAttention attention(objects, groups, 1);
    attention.add("1", 0, maps.slice(0, 0, 2)), attention.add("1", 2, maps.slice(0, 2, 3));
    const auto shares = attention.shares("1");
    ASSERT_EQ(shares.sizes(), (std::vector<std::int64_t>{2, 2, 6}));
    EXPECT_TRUE(torch::allclose(shares.sum(2), torch::ones({2, 2}, torch::kDouble), 1e-6, 1e-6));
    const auto cell = [&](int e, int i, int j) { return maps[e][1][i + 1][j].item<double>(); };
    const auto share = [&](int kind) { return shares[1][1][kind].item<double>(); };
    EXPECT_NEAR(share(0), (cell(2, 0, 1) + cell(2, 1, 2) + cell(2, 2, 3) + cell(2, 3, 4)) / 4,
                1e-6);
    EXPECT_NEAR(share(1), (cell(2, 1, 3) + cell(2, 2, 2)) / 4, 1e-6);
    EXPECT_NEAR(share(2), (cell(2, 0, 2) + cell(2, 0, 3) + cell(2, 1, 1) + cell(2, 2, 1)) / 4,
                1e-6);
    EXPECT_NEAR(share(4), 0.0, 1e-12);
    const auto alone = attention.placeAlone("1");
    EXPECT_NEAR(alone[1][1][5].item<double>(),
                maps.mean(0)[1].slice(0, 1, 5).select(1, 0).mean().item<double>(), 1e-6);
}

}  // namespace
}  // namespace relascope
