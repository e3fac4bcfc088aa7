// SPDX-License-Identifier: GPL-3.0-or-later
// Spread: against plain sums over the maps of the same examples, and what an edit changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "interventions/active_edits.h"
#include "interventions/edit_words.h"
#include "support/rooms.h"
#include "tests/datasets/step_run.h"

namespace relascope {
namespace {

using namespace testing_support;

struct Spreading : StepSubject {
    Spreading() : StepSubject(smallDual(4, 120)) {}
    Answer spread(std::int64_t examples, const core::AnalysisWatch& watch = {}) {
        return core::runnerOf(core::analysisNamed("spread"))
            .run(subject, {{"examples", examples}}, watch);
    }
};

TEST(Spread, IsTheMeanOverRowsAndExamples) {
    Spreading of;
    const auto answer = of.spread(7);
    EXPECT_EQ(answer.number("examples"), 7);
    const auto& heads = answer.table("heads");
    std::vector<double> entropies, firsts, distances;
    for (const auto example : core::drawnExamples(of.subject.data->size(), 7, 0)) {
        const auto result = of.model.probe(of.subject.data->sample(example), {});
        const auto* map = result.find(MapKind::RelationalAttention, 1, 0);
        ASSERT_TRUE(map && map->rows == map->columns && !map->causal);
        const int before = result.grid.firstTokens(), side = result.grid.columns;
        double entropy = 0.0, first = 0.0, distance = 0.0, patches = 0.0;
        for (int i = 0; i < map->rows; ++i) {
            int most = 0;
            for (int j = 0; j < map->columns; ++j) {
                entropy -= map->at(i, j) * std::log(static_cast<double>(map->at(i, j)));
                if (map->at(i, j) > map->at(i, most)) most = j;
            }
            first += map->at(i, 0);
            if (i < before || most < before) continue;  // a class token has no place
            const int from = i - before, to = most - before;
            distance += std::hypot(from / side - to / side, from % side - to % side);
            ++patches;
        }
        entropies.push_back(entropy / map->rows);
        firsts.push_back(first / map->rows);
        distances.push_back(distance / patches);
    }
    const auto mean = [](const std::vector<double>& all) {
        double sum = 0.0;
        for (const double one : all) sum += one;
        return sum / static_cast<double>(all.size());
    };
    const auto deviation = [&](const std::vector<double>& all) {
        double sum = 0.0;
        for (const double one : all) sum += (one - mean(all)) * (one - mean(all));
        return std::sqrt(sum / static_cast<double>(all.size() - 1));
    };
    const auto& layers = heads.numbers("layer");
    std::size_t row = 0;
    while (layers[row] != 2 || heads.texts("kind")[row] != "relational attention") ++row;
    const auto at = [&](const char* key) { return heads.numbers(key)[row]; };
    EXPECT_NEAR(at("entropy"), mean(entropies), 1e-6);
    EXPECT_NEAR(at("entropy_deviation"), deviation(entropies), 1e-6);
    EXPECT_NEAR(at("first"), mean(firsts), 1e-6);
    EXPECT_NEAR(at("first_deviation"), deviation(firsts), 1e-6);
    EXPECT_NEAR(at("distance"), mean(distances), 1e-6);
    EXPECT_NEAR(at("distance_deviation"), deviation(distances), 1e-6);
    EXPECT_GT(at("of_even"), 0.0);
    EXPECT_LE(at("of_even"), 1.0);
    EXPECT_EQ(heads.links.size(), heads.rows());
}

TEST(Spread, OfUniformAttentionIsEven) {
    Spreading of;
    const auto points = of.model.points(of.subject.data->sample(0));
    of.subject.interventions.edits.edits = {
        core::editFromWords("layer 1 sensory head 1 uniform", points)};
    const auto answer = of.spread(4);
    const auto& heads = answer.table("heads");
    EXPECT_NEAR(heads.numbers("of_even")[0], 1.0, 1e-5);
    EXPECT_NEAR(heads.numbers("entropy_deviation")[0], 0.0, 1e-5);
    EXPECT_LT(heads.numbers("of_even")[1], 1.0);
}

TEST(Spread, CanBeCancelled) {
    Spreading of;
    EXPECT_THROW(of.spread(50, {.progress = [](double done) { return done < 0.5; }}), Cancelled);
}

}  // namespace
}  // namespace relascope
