// SPDX-License-Identifier: GPL-3.0-or-later
// The map of a fitted relation, and where its cells come from.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "analysis/analysis.h"
#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "checkpoint/tensor_io.h"
#include "interventions/edit_words.h"
#include "interventions/relation_file.h"
#include "run/captures.h"
#include "support/temporary_folder.h"
#include "types/error.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;

const fs::path& caseFolder() {
    static const fs::path folder =
        fs::path(RELASCOPE_FIXTURES) / "golden/fitted-relations/same_kind";
    return folder;
}
std::string relationPath() {
    return (caseFolder() / "relation.safetensors").string();
}

/// The first picture to test of the golden case.
ProbeSample testPicture() {
    const auto data = core::readTensors((caseFolder() / "data.safetensors").string());
    const auto at = data.at("split").eq(2).nonzero()[0].item<std::int64_t>();
    const auto pixels = data.at("images")[at].contiguous();
    ProbeSample sample;
    sample.image.height = static_cast<int>(pixels.size(0));
    sample.image.width = static_cast<int>(pixels.size(1));
    sample.image.channels = static_cast<int>(pixels.size(2));
    const auto* first = pixels.const_data_ptr<std::uint8_t>();
    sample.image.pixels.assign(first, first + pixels.numel());
    return sample;
}

struct GoldenVit {
    core::OpenedModel model{(caseFolder() / "model").string(), "", "cpu"};
    ProbeSample sample = testPicture();

    ProbeResult probe(const std::string& word) {
        const auto edit =
            core::editFromWords("fitted " + relationPath() + " " + word, model.points(sample));
        EditList list;
        list.edits = {edit};
        return model.probe(sample, {}, {list, {}});
    }
    static const RelationMap& fitted(const ProbeResult& result) {
        return *std::find_if(result.maps.begin(), result.maps.end(),
                             [](const auto& map) { return !map.fitted.empty(); });
    }
};

TEST(FittedMaps, AreTheGoldenMap) {
    GoldenVit of;
    const auto result = of.probe("shown");
    const auto& map = of.fitted(result);
    const auto relation = core::readRelation(relationPath());
    EXPECT_EQ(map.fitted, relationPath());
    EXPECT_EQ(map.kind, MapKind::Relation);
    const auto expected =
        core::readTensors((caseFolder() / "expected.safetensors").string()).at("map");
    const auto n = expected.size(0), first = relation.firstTokens;
    ASSERT_EQ(map.rows, n + first);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            EXPECT_NEAR(map.at(static_cast<int>(i + first), static_cast<int>(j + first)),
                        expected[i][j].item<float>(), 1e-3);
    EXPECT_TRUE(std::isnan(map.at(0, 0)));
    // All other maps are those without it.
    auto plain = of.model.probe(of.sample, {});
    EXPECT_EQ(plain.maps.size() + 1, result.maps.size());
    EXPECT_EQ(plain.probabilities, result.probabilities);
    for (const auto& each : plain.maps)
        EXPECT_EQ(each, *result.find(each.kind, each.layer, each.index));
}

TEST(FittedMaps, AreConstantWhereTheRelationIsOut) {
    GoldenVit of;
    const auto result = of.probe("out");
    const auto& map = of.fitted(result);
    const auto relation = core::readRelation(relationPath());
    for (int i = static_cast<int>(relation.firstTokens); i < map.rows; ++i)
        for (int j = static_cast<int>(relation.firstTokens); j < map.columns; ++j)
            EXPECT_NEAR(map.at(i, j), relation.bias, 1e-4);
}

TEST(FittedMaps, AreWrittenAndReadWithTheOthers) {
    GoldenVit of;
    const auto result = of.probe("shown");
    const testing_support::TemporaryFolder folder("fitted-maps");
    fs::create_directories(folder.path());
    core::saveCapture(folder.path(), {result});
    const auto back = core::loadCapture(folder.path(), result.step, 0);
    ASSERT_EQ(back.maps.size(), result.maps.size());
    const auto &sent = of.fitted(result), &came = of.fitted(back);
    EXPECT_EQ(came.fitted, sent.fitted);
    EXPECT_EQ(came.layer, sent.layer);
    EXPECT_EQ(came.index, sent.index);
    EXPECT_EQ(came.at(5, 7), sent.at(5, 7));
}

Answer whyOf(GoldenVit& of, std::int64_t i, std::int64_t j, const std::string& relation) {
    core::AnalysisSubject subject;
    subject.model = &of.model, subject.sample = of.sample;
    return core::runnerOf(core::analysisNamed("qk-attribution"))
        .run(subject,
             {{"source", i}, {"to", j}, {"relation", relation}, {"grain", std::string("all")}}, {});
}

// Acceptance 4 of the specification: the parts add up to the cell.
TEST(FittedMaps, CellsAreSumsOverPairsOfParts) {
    GoldenVit of;
    const auto result = of.probe("shown");
    const auto& map = of.fitted(result);
    for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{5, 7}, {12, 12}, {30, 2}}) {
        const auto why = whyOf(of, i, j, relationPath());
        const double cell = map.at(static_cast<int>(i), static_cast<int>(j));
        EXPECT_NEAR(why.number("value"), cell, 1e-4 * (1.0 + std::abs(cell)));
        EXPECT_NEAR(why.number("sum"), why.number("value"),
                    1e-5 * why.number("cancellation") * (1e-6 + std::abs(cell)));
        const auto& names = why.table("parts_i").texts("part");
        for (const char* name : {"mean", "bias of the fit"})
            EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
    }
}

TEST(FittedMaps, WhyRefusesWhatIsNotThere) {
    GoldenVit of;
    const auto refused = [&](std::int64_t i, const std::string& file, const std::string& words) {
        try {
            whyOf(of, i, 3, file);
            ADD_FAILURE() << "was answered; expected: " << words;
        } catch (const OptionError& error) {
            EXPECT_EQ(error.field(), "relation");
            EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
        }
    };
    refused(0, relationPath(), "has no mean of object 0");
    refused(4, (caseFolder() / "nothing").string(), "nothing.safetensors");
    refused(4, (caseFolder() / "expected.safetensors").string(), "is not a fitted relation");
}

}  // namespace
}  // namespace relascope
