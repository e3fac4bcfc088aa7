// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/figures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/atlas/answer.h"
#include "analysis/atlas/atlas.h"
#include "analysis/scan/answer.h"
#include "analysis/scan/scan.h"
#include "support/rooms.h"
#include "types/edit_results.h"

namespace relascope {
namespace {

using wire::AnalysisFigure;
using wire::Figure;

Figure sent(const Figure& figure) {
    wire::FrameReader reader;
    reader.append(wire::figureBytes(figure));
    return wire::figureFromFrame(*reader.next());
}

Answer sentResult(const std::string& analysis, const Answer& result) {
    const auto got = std::get<AnalysisFigure>(sent(AnalysisFigure{analysis, result, "a caption"}));
    EXPECT_EQ(got.analysis, analysis);
    EXPECT_EQ(got.caption, "a caption");
    return got.result;
}
RelationAtlas sentResult(const RelationAtlas& atlas) {
    return core::relationAtlasOf(sentResult("atlas", core::answerOf(atlas)));
}
ModelScan sentResult(const ModelScan& scan) {
    return core::modelScanOf(sentResult("scan", core::answerOf(scan)));
}

TEST(Figures, ResultsOfAnalysesArriveWhole) {
    AblationRow row;
    row.part = "layer 2 relation 3", row.group = "relations";
    row.edit.point = "blocks.1.rel.hook_r", row.edit.selection["relation"] = {{2}, {}, {}};
    row.partNorm = 0.5, row.streamNorm = 2.0;
    row.ways = {{EditOp::Mean, {"accuracy", 0.75, 0.5, -0.25, -0.3, -0.2}, 0.1}};

    RelationAtlas atlas;
    atlas.attributes = {{"same object", false}};
    RelationAtlas::Relation relation;
    relation.name = "layer 1 relation 1",
    relation.symmetry = std::numeric_limits<double>::infinity();
    relation.fits.resize(1);
    relation.fits[0].auc = 0.75, relation.fits[0].p = std::nan(""),
    relation.fits[0].exceedsUntrained = true;
    relation.highest = {{3, 1, 2, 0.5, "a <- b", {2, 1, 1, {7, 9}}, 4, 5, 1}};
    relation.evidence = {{3, 2, 1, 0.25, "b <- a"}};
    atlas.objects = 5, atlas.untrainedModels = 2;
    relation.uses = {{"mean", -0.5, -0.6, -0.4, 0.0, 0.0, 0.0}};
    atlas.relations = {relation, relation};
    atlas.tree = {{0, 1, 0.75}};
    atlas.steps = {{4, 0.5, {0.6, 0.7}}};
    atlas.untrainedFits = {0.5, 0.25, 0.5, 0.75};
    const auto described = sentResult(atlas);
    ASSERT_EQ(described.relations.size(), 2U);
    EXPECT_TRUE(std::isinf(described.relations[0].symmetry));
    EXPECT_TRUE(described.relations[0].fits[0].exceedsUntrained);
    EXPECT_TRUE(std::isnan(described.relations[0].fits[0].p));
    EXPECT_EQ(described.relations[0].highest[0].picture, relation.highest[0].picture);
    EXPECT_EQ(described.relations[0].highest[0].column, 5);
    EXPECT_EQ(described.relations[0].highest[0].holds, 1);
    EXPECT_EQ(described.relations[0].evidence.at(0).i, 2);
    EXPECT_EQ(described.relations[0].evidence.at(0).holds, -1);
    EXPECT_EQ(described.tree.at(0).correlation, 0.75);
    EXPECT_EQ(described.relations[0].uses[0].low, -0.6);
    EXPECT_EQ(described.steps[0].fits, atlas.steps[0].fits);
    EXPECT_EQ(described.untrainedFits, atlas.untrainedFits);

    ModelScan scan;
    scan.metric = "accuracy", scan.noun = "images", scan.passes = 2, scan.described = {"a", "b"};
    scan.parts = {{"layer 2, relation 3", row, std::nan(""), 0.5, true}};
    scan.findings = {{"a sentence",
                      "its numbers",
                      "layer 1 relations",
                      {0},
                      0.5,
                      {{"layer 1 relations zero", 0.5}},
                      "eval gives 50 %",
                      0.25,
                      3,
                      1,
                      2,
                      0,
                      1,
                      true}};
    scan.parts[0].use = "needed";
    scan.notFound = {"nothing"}, scan.atlas = atlas;
    const auto scanned = sentResult(scan);
    ASSERT_EQ(scanned.parts.size(), 1U);
    EXPECT_EQ(scanned.parts[0].row, row);
    EXPECT_TRUE(std::isnan(scanned.parts[0].estimate));
    EXPECT_EQ(scanned.findings[0].text, "a sentence");
    EXPECT_EQ(scanned.findings[0].proof, "its numbers");
    EXPECT_EQ(scanned.findings[0].example, 3);
    EXPECT_EQ(scanned.findings[0].checks, scan.findings[0].checks);
    EXPECT_EQ(scanned.parts[0].use, "needed");
    EXPECT_TRUE(scanned.findings[0].head);
    EXPECT_EQ(scanned.described, scan.described);
    EXPECT_EQ(scanned.atlas.untrainedFits, atlas.untrainedFits);
}

TEST(Figures, MapsAndStudiesArriveWhole) {
    wire::MapFigure figure;
    figure.result.step = 7;
    figure.result.layers = {{"layer 1", 0, 0}};
    figure.result.sides = {{"patches", {}}};
    RelationMap map;
    map.rows = map.columns = 2, map.values = {1, 2, 3, -4};
    figure.result.maps = {map};
    figure.kind = MapKind::Relation, figure.source = 1, figure.run = "occurs";
    figure.difference = true;
    const auto drawn = std::get<wire::MapFigure>(sent(figure));
    EXPECT_TRUE(drawn.difference);
    EXPECT_EQ(drawn.result.maps, figure.result.maps);
    EXPECT_EQ(drawn.source, 1);
    EXPECT_EQ(drawn.run, "occurs");

    const auto tint =
        std::get<wire::TintFigure>(sent(wire::TintFigure{figure.result, 0, {{1, 3}}, "occurs"}));
    EXPECT_EQ(tint.result.maps, figure.result.maps);
    EXPECT_EQ(tint.panels.at(0).source, 3);
    wire::ExamplesFigure examples{{{}, {}}, {"Same"}, 2};
    examples.examples[1].answer = "different";
    EXPECT_EQ(std::get<wire::ExamplesFigure>(sent(examples)).examples.at(1).answer, "different");

    wire::StudyFigure study;
    study.study.plan.preset = "occurs", study.study.plan.vary = {{"model.n_heads_ra", {"1", "2"}}};
    study.study.cells = {{"dat-n10-s0", "dat", 10, {"1"}, 0, CellState::Done, {}, ""}};
    study.title = "occurs, test", study.metric = "accuracy";
    study.points = {{"dat", 10, {0.5, 0.75}, 0.625}};
    study.published = {{"dat", 10, 0.5, 0.1, CurveSource::Relascope}};
    const auto shown = std::get<wire::StudyFigure>(sent(study));
    EXPECT_EQ(shown.study.plan, study.study.plan);
    EXPECT_EQ(shown.study.cells[0].state, CellState::Done);
    EXPECT_EQ(shown.points[0].values, study.points[0].values);
    EXPECT_TRUE(std::isnan(shown.points[0].error));
    EXPECT_EQ(shown.published[0].source, CurveSource::Relascope);
}

/// With two attributes, five objects and a tree of all maps.
RelationAtlas largeAtlas(std::size_t maps) {
    RelationAtlas atlas;
    atlas.attributes = {{"same object", false}, {"greater", true}};
    atlas.objects = 5;
    RelationAtlas::Relation relation;
    relation.name = "layer 1 relation 1";
    relation.fits.resize(2);
    relation.values.quantiles.resize(7), relation.values.bins.resize(64, 3);
    relation.sent = relation.values;
    relation.shares.resize(5, 0.2);
    relation.highest.resize(8, {3, 1, 2, 0.5, "a <- b", {2, 1, 1, {7, 9}}, 4, 5});
    relation.lowest = relation.nearZero = relation.highest;
    atlas.relations.resize(maps, relation);
    for (std::size_t k = 0; k < maps * maps; ++k)
        atlas.correlation.push_back(1.0 / static_cast<double>(k + 1));
    for (std::size_t k = 0; k + 1 < maps; ++k)
        atlas.tree.push_back({static_cast<std::int64_t>(k == 0 ? 0 : maps + k - 1),
                              static_cast<std::int64_t>(k + 1), 0.5});
    return atlas;
}

TEST(Figures, DataArriveWhole) {
    DataExample example;
    example.sample.image = {2, 1, 3, {1, 2, 3, 4, 5, 6}};
    example.sample.label = 1, example.sample.origin = "own 7";
    DataExample words;
    words.sample.source.text = true, words.sample.source.tokens = {5, 6};
    words.sample.source.labels = {"\xf0\x9f", " ball"};
    words.answer = "yes";
    const auto all =
        std::get<wire::ExamplesFigure>(sent(wire::ExamplesFigure{{example, words}, {"Own"}, 2}));
    EXPECT_EQ(all.examples.at(0).sample, example.sample);
    EXPECT_EQ(all.examples.at(1).sample, words.sample);
    EXPECT_EQ(all.examples.at(1).answer, "yes");
    EXPECT_EQ(all.titles.at(0), "Own");
    EXPECT_EQ(all.columns, 2);
}

TEST(Figures, WhatIsNoFigureIsRefused) {
    const auto refused = [](const wire::Json& message) {
        EXPECT_THROW(wire::figureFromFrame({message, {}}), wire::FrameError) << message;
    };
    refused({});
    refused({{"figure", "portrait"}});
    refused({{"figure", "map"}});
    refused({{"figure", "analysis"}, {"analysis", "guess"}, {"result", {}}, {"caption", ""}});
    refused({{"figure", "analysis"}, {"analysis", "heads"}, {"result", {1}}, {"caption", ""}});
}

// Of two thousand maps.
TEST(Figures, ResultsOfLargeModelsFit) {
    for (const std::size_t maps : {1000U, 2000U}) {
        const auto atlas = largeAtlas(maps);
        const auto described = sentResult(atlas);
        ASSERT_EQ(described.relations.size(), maps);
        EXPECT_EQ(described.correlation, atlas.correlation);
        EXPECT_EQ(described.relations.back().values.bins, atlas.relations.back().values.bins);
        EXPECT_EQ(described.tree.back().first, atlas.tree.back().first);
        EXPECT_EQ(described.relations.back().highest.at(1).picture,
                  atlas.relations.back().highest.at(1).picture);
    }
}

/// Why a result is refused when it is read, after `change`; empty: it is not.
template <class Result, class Change>
std::string refusal(Result result, Change&& change) {
    change(result);
    try {
        sentResult(result);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Figures, AWrongIndexIsRefusedByEveryAnalysis) {
    const auto refused = [](const std::string& analysis, const auto& result, const auto& change,
                            const std::string& why) {
        EXPECT_EQ(refusal(result, [](auto&) {}), "") << analysis;
        const auto sentence = refusal(result, change);
        EXPECT_NE(sentence.find(why), std::string::npos) << analysis << ": " << sentence;
    };
    const auto atlas = largeAtlas(3);
    const auto wrong = [&](const auto& change, const std::string& why) {
        refused("atlas", atlas, change, why);
        ModelScan scan;
        scan.atlas = atlas;
        refused(
            "scan", scan, [&](auto& r) { change(r.atlas); }, why);
    };
    wrong([](auto& r) { r.relations[1].labelled = 2; }, "'labelled' points at row 2");
    wrong([](auto& r) { r.relations[1].also = {1 << 30}; }, "another attribute");
    wrong([](auto& r) { r.relations[1].asGood = {-1}; }, "another attribute");
    wrong([](auto& r) { r.relations[1].group = 3; }, "'group' points at row 3");
    wrong([](auto& r) { r.relations[1].highest[0].i = 9; }, "object i of a pair is 9");
    wrong([](auto& r) { r.relations[1].lowest[0].j = -1; }, "object j of a pair is -1");
    wrong([](auto& r) { r.columns = 10; }, "the number of columns is 10");
    wrong([](auto& r) { r.objects = std::int64_t{1} << 40; }, "the number of objects");
    wrong([](auto& r) { r.correlation.pop_back(); }, "the correlations are 8");
    wrong([](auto& r) { r.tree.pop_back(); }, "the joins are 1");
    wrong([](auto& r) { r.tree[0].first = 3; }, "a side of a join is 3");
    wrong([](auto& r) { r.tree[1].second = r.tree[1].first; }, "joined twice");
    wrong([](auto& r) { r.untrainedFits.resize(5); }, "the values of untrained models are 5");
    wrong([](auto& r) { r.steps = {{1, 0.5, {0.5}}}; }, "the values of the steps are 1");

    ModelScan scan;
    scan.atlas = atlas;
    ModelScan::Finding finding;
    finding.text = "a sentence", finding.part = "layer 1 relations", finding.maps = {0};
    finding.example = 3, finding.i = 1, finding.j = 2, finding.layer = 0, finding.index = 1;
    scan.findings = {finding};
    refused(
        "scan", scan, [](auto& r) { r.findings[0].maps = {3}; }, "'map' points at row 3");
    refused(
        "scan", scan, [](auto& r) { r.findings[0].layer = -2; }, "of a finding is -2");
}

}  // namespace
}  // namespace relascope
