// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/figures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/atlas.h"
#include "analysis/duel.h"
#include "analysis/head_measures.h"
#include "analysis/scan.h"
#include "support/rooms.h"
#include "types/along.h"
#include "types/edit_results.h"
#include "types/lens.h"

namespace relascope {
namespace {

using wire::AnalysisFigure;
using wire::Figure;

Figure sent(const Figure& figure) {
    wire::FrameReader reader;
    reader.append(wire::figureBytes(figure));
    return wire::figureFromFrame(*reader.next());
}

template <class Result>
Result sentResult(const std::string& analysis, const Result& result) {
    const auto got = std::get<AnalysisFigure>(sent(AnalysisFigure{analysis, result, "a caption"}));
    EXPECT_EQ(got.analysis, analysis);
    EXPECT_EQ(got.caption, "a caption");
    return std::any_cast<Result>(got.result);
}

TEST(Figures, ResultsOfAnalysesArriveWhole) {
    AblationTable table;
    table.metric = "accuracy", table.examples = 5, table.wanted = 9, table.base = 0.75;
    AblationRow row;
    row.part = "layer 2 relation 3", row.group = "relations";
    row.edit.point = "blocks.1.rel.hook_r", row.edit.selection["relation"] = {{2}, {}, {}};
    row.partNorm = 0.5, row.streamNorm = 2.0;
    row.ways = {{EditOp::Mean, {"accuracy", 0.75, 0.5, -0.25, -0.3, -0.2}, 0.1}};
    table.rows = {row};
    table.cumulative = {{"layer 1", 0.7}};
    table.pairs = {{"a", "b", -0.5, std::nan("")}};
    const auto ablated = sentResult("ablate", table);
    ASSERT_EQ(ablated.rows.size(), 1U);
    EXPECT_EQ(ablated.rows[0].edit, row.edit);
    EXPECT_EQ(ablated.rows[0].ways[0].how, EditOp::Mean);
    EXPECT_EQ(ablated.rows[0].ways[0].change, row.ways[0].change);
    EXPECT_EQ(ablated.cumulative, table.cumulative);
    EXPECT_TRUE(std::isnan(ablated.pairs[0].interaction));
    EXPECT_EQ(ablated.cumulativeWay, EditOp::Mean);

    PatchResult patch;
    patch.metric = "loss", patch.clean = 1.0;
    patch.maps = {{"resid", "hook_resid_pre", {"layer 1"}, {"0", "1"}, {0.5, std::nan("")}, {}}};
    patch.positions = {"\xff"};
    const auto patched = sentResult("patch", patch);
    EXPECT_EQ(patched.positions, patch.positions);
    ASSERT_EQ(patched.maps.size(), 1U);
    EXPECT_EQ(patched.maps[0].columns, patch.maps[0].columns);
    EXPECT_TRUE(std::isnan(patched.maps[0].estimate[1]));

    LensResult lens;
    lens.rows = {"embedding", "layer 1"}, lens.positions = {0}, lens.inputs = {"the"};
    lens.answers = {{5, "cat", 1.5, 0.25}};
    lens.cells = {{{{5, "cat", 1.5, 0.25}}, {}, 0.25, 1, 2.5},
                  {{}, {{7, "\xe9", 0.0, 0.0}}, 0, 0, 0}};
    const auto read = sentResult("lens", lens);
    EXPECT_EQ(read.rows, lens.rows);
    EXPECT_EQ(read.cells[0].top[0].name, "cat");
    EXPECT_EQ(read.cells[0].entropy, 2.5);
    EXPECT_EQ(read.cells[1].asked[0].name, "\xe9");

    Attribution attribution;
    attribution.answer = {3, "yes", 2.0, 0.5};
    attribution.parts = {{PartKind::Relation, 1, 0, 2, "", -0.5},
                         {PartKind::Bias, -1, -1, -1, "final norm", 1.0}};
    attribution.offered = {"no", "yes"};
    const auto attributed = sentResult("attribute", attribution);
    EXPECT_EQ(attributed.parts[0].text(), attribution.parts[0].text());
    EXPECT_EQ(attributed.parts[1].where, "final norm");
    EXPECT_EQ(attributed.sum(), 1.0);

    AlongTraining along;
    along.rows = along.columns = 2, along.layerName = "layer 1";
    along.steps = {{4, {0.5, 0.25, {1.0f, 2.0f, 3.0f, 4.0f}}, {}}};
    const auto followed = sentResult("along", along);
    EXPECT_EQ(followed.steps[0].now.map, along.steps[0].now.map);
    EXPECT_TRUE(std::isnan(followed.steps[0].before.value));

    HeadMeasures heads;
    heads.measures = {"previous token"}, heads.even = {0.1}, heads.layers = {"layer 1"};
    heads.heads = {{MapKind::RelationalAttention, 0, 1, {0.5}}};
    EXPECT_EQ(sentResult("heads", heads), heads);

    RelationAtlas atlas;
    atlas.attributes = {{"same object", false}};
    RelationAtlas::Relation relation;
    relation.name = "layer 1 relation 1",
    relation.symmetry = std::numeric_limits<double>::infinity();
    relation.fits.resize(1);
    relation.fits[0].fixed = 0.75, relation.fits[0].p = std::nan(""), relation.fits[0].apart = true;
    relation.highest = {{3, 1, 2, 0.5, "a <- b", {2, 1, 1, {7, 9}}, 4, 5}};
    atlas.tree = {{0, 1, 0.75}};
    relation.uses = {{"mean", -0.5, -0.6, -0.4, 0.0, 0.0, 0.0}};
    atlas.relations = {relation};
    atlas.steps = {{4, 0.5, {0.6}}};
    atlas.matches = {{"layer 1", true, 0.5, 0.4, 0.2}};
    atlas.untrainedFits = {0.5};
    const auto described = sentResult("atlas", atlas);
    ASSERT_EQ(described.relations.size(), 1U);
    EXPECT_TRUE(std::isinf(described.relations[0].symmetry));
    EXPECT_TRUE(described.relations[0].fits[0].apart);
    EXPECT_TRUE(std::isnan(described.relations[0].fits[0].p));
    EXPECT_EQ(described.relations[0].highest[0].picture, relation.highest[0].picture);
    EXPECT_EQ(described.relations[0].highest[0].column, 5);
    EXPECT_EQ(described.tree.at(0).correlation, 0.75);
    EXPECT_EQ(described.relations[0].uses[0].low, -0.6);
    EXPECT_EQ(described.steps[0].fits, atlas.steps[0].fits);
    EXPECT_EQ(described.matches[0].explained, 0.2);
    EXPECT_EQ(described.untrainedFits, atlas.untrainedFits);

    ModelScan scan;
    scan.metric = "accuracy", scan.noun = "images", scan.passes = 2, scan.described = {"a", "b"};
    scan.parts = {{"layer 2, relation 3", row, std::nan(""), 0.5, true}};
    scan.findings = {{"a sentence",
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
    const auto scanned = sentResult("scan", scan);
    ASSERT_EQ(scanned.parts.size(), 1U);
    EXPECT_EQ(scanned.parts[0].row, row);
    EXPECT_TRUE(std::isnan(scanned.parts[0].estimate));
    EXPECT_EQ(scanned.findings[0].text, "a sentence");
    EXPECT_EQ(scanned.findings[0].example, 3);
    EXPECT_EQ(scanned.findings[0].checks, scan.findings[0].checks);
    EXPECT_EQ(scanned.parts[0].use, "needed");
    EXPECT_TRUE(scanned.findings[0].head);
    EXPECT_EQ(scanned.described, scan.described);
    EXPECT_EQ(scanned.atlas.untrainedFits, atlas.untrainedFits);

    Duel duel;
    duel.a = {"a", "VisionTransformer", {"layer 1"}}, duel.b = duel.a;
    duel.cka = {0.5}, duel.alike = {true}, duel.sentences = {"one"}, duel.mcnemar = 0.25,
    duel.largestDifference = std::nan("");
    duel.changes = {{"accuracy", 0.5, 0.75, 0.25, 0.1, 0.4}};
    duel.matches = {
        {"layer 1", "layer 2", true, 2, 3, 0.5, 0.25, 0.125, 0.25, {0.5}, {0.75}, 0.5, true}};
    duel.partners = {{"layer 1 head 1", "layer 2 head 2", true, -0.5, 0, 0, 1, 1}};
    duel.differences = {{7, 3, 0.5, true, false, "w", "a", "b", 0.5, 0.25}};
    duel.grafts = {{"attention", "layer 1", "layer 2", "p", "q", duel.changes[0], 1, 2, -0.4, -0.3,
                    -0.5, -0.2, duel.changes[0], 0.01, true}};
    const auto compared = sentResult("duel", duel);
    EXPECT_EQ(compared.matches, duel.matches);
    EXPECT_EQ(compared.partners, duel.partners);
    EXPECT_EQ(compared.alike, duel.alike);
    EXPECT_EQ(compared.sentences, duel.sentences);
    EXPECT_EQ(compared.differences, duel.differences);
    EXPECT_EQ(compared.grafts.at(0).change, duel.changes[0]);
    EXPECT_EQ(compared.grafts.at(0).gain, duel.changes[0]);
    EXPECT_EQ(compared.grafts.at(0).untrained, -0.2);
    EXPECT_TRUE(compared.grafts.at(0).used);
    EXPECT_EQ(compared.b.streams, duel.b.streams);
    EXPECT_TRUE(std::isnan(compared.largestDifference));
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
    const auto drawn = std::get<wire::MapFigure>(sent(figure));
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

TEST(Figures, WhatIsNoFigureIsRefused) {
    const auto refused = [](const wire::Json& message) {
        EXPECT_THROW(wire::figureFromFrame({message, {}}), wire::FrameError) << message;
    };
    refused({});
    refused({{"figure", "portrait"}});
    refused({{"figure", "map"}});
    refused({{"figure", "analysis"}, {"analysis", "guess"}, {"result", {}}, {"caption", ""}});
    refused({{"figure", "analysis"}, {"analysis", "heads"}, {"result", {1}}, {"caption", ""}});
    wire::Json heads = wire::analysisResultToJson("heads", HeadMeasures{});
    heads["heads"] = {{{"kind", 99}, {"layer", 0}, {"index", 0}, {"values", wire::Json::array()}}};
    EXPECT_THROW(wire::analysisResultFromJson("heads", heads), wire::FrameError);
}

// A large language model: 24 layers, 1,024 tokens.
TEST(Figures, ALensOfALargeModelFits) {
    LensResult lens;
    lens.rows.resize(25, "layer");
    lens.answers.resize(1024, {50000, " relation", 12.5, 0.5});
    LensCell cell;
    cell.top.resize(5, {50000, " relation", 12.5, 0.5});
    lens.cells.resize(25 * 1024, cell);
    EXPECT_EQ(sentResult("lens", lens).cells.size(), lens.cells.size());
}

}  // namespace
}  // namespace relascope
