// SPDX-License-Identifier: GPL-3.0-or-later
// The views of minimal pairs and of phenomena.
#include <gtest/gtest.h>

#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "analysis/analysis.h"
#include "analysis/pair_accuracy/pair_accuracy.h"
#include "analysis/phenomena/phenomena.h"
#include "answers/column_table.h"
#include "child.h"
#include "support/rooms.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/kit/table_view.h"

namespace relascope {
namespace {

Answer twoPairs() {
    using core::addRow, core::accuracyTable;
    const std::vector<PairPreference> phenomena = {
        {"agreement", "subject_verb_agreement", 1, 1, 0, 1.0, 0.02, 1.0, 1, 1, 1},
        {"islands", "island_effects", 1, 0, 0, 0.0, 0.0, 0.98, -0.5, 0, 0}};
    auto facts = accuracyTable({{"", "", 2, 1, 0, 0.5, 0.01, 0.99, 0.25, -1, 1}}, false);
    facts.columns.push_back(core::columns::fact("read_before", "<s>"));
    auto [pairs, tokens] = core::pairTables();
    addRow(pairs, 1, "agreement", "It is old.", "It are old.", -4, -5, 1, true, false);
    addRow(pairs, 2, "islands", "What did it find?", "What it did find?", -9, -8.5, -0.5, false,
           false);
    const auto nan = std::nan("");
    for (const auto& [text, score] :
         {std::pair{"It", nan}, {" is", -1.0}, {" old", -2.0}, {".", -1.0}})
        addRow(tokens, 0, true, text, score);
    for (const auto& [text, score] :
         {std::pair{"It", nan}, {" a", -1.5}, {"re", -1.0}, {" old", -1.5}, {".", -1.0}})
        addRow(tokens, 0, false, text, score);
    return {{facts, accuracyTable(phenomena, true),
             core::textsTable("says", "text", core::pairSentences(phenomena)), pairs, tokens}};
}

/// What stands below the grid.
QString belowGrid(const DeclaredView& view) {
    return child<ElidedLabel>(view, "Value")->text();
}

TEST(PairsView, ShowsBothSentencesAndWhichTokenMakesTheDifference) {
    DeclaredView view(core::analysisNamed("pair-accuracy"));
    view.resize(1000, 700);
    view.showResult(twoPairs());
    view.show();
    EXPECT_TRUE(view.headText().contains("50.0 %")) << view.headText().toStdString();
    EXPECT_TRUE(view.headText().contains("behind <s>"));
    auto* pairs = child<TableView>(view, "Pairs");
    EXPECT_EQ(pairs->tableModel()->rowCount(), 2);
    const auto& panels = child<GridView>(view, "Tokens of the pair")->panels();
    ASSERT_EQ(panels.size(), 1u);
    ASSERT_EQ(panels[0].columns.size(), 5u);
    // Equal tokens at both ends stand above each other.
    EXPECT_EQ(panels[0].cell(0, 3).text, panels[0].cell(1, 3).text);
    EXPECT_EQ(panels[0].cell(0, 1).text, "\u2423is");
    EXPECT_EQ(panels[0].cell(1, 1).text, "\u2423a");
    EXPECT_TRUE(panels[0].cell(0, 1).emphasised);
    EXPECT_FALSE(panels[0].cell(0, 3).emphasised);
    EXPECT_DOUBLE_EQ(panels[0].cell(2, 3).value, -0.5);
    EXPECT_TRUE(std::isnan(panels[0].cell(2, 0).value));  // only read
    EXPECT_TRUE(panels[0].text(2, 1).find("difference +0.50") != std::string::npos)
        << panels[0].text(2, 1);
    // The tokens of the second pair are not listed.
    pairs->setCurrentIndex(pairs->model()->index(1, 0));
    Q_EMIT pairs->rowChosen(1);
    EXPECT_TRUE(panels.empty());
    EXPECT_TRUE(belowGrid(view).contains("not listed")) << belowGrid(view).toStdString();
    // A phenomenon has its own pairs.
    Q_EMIT child<TableView>(view, "Phenomena")->rowChosen(1);
    EXPECT_EQ(pairs->tableModel()->rowCount(), 1);
    QSignalSpy inspected(&view, &AnalysisFrame::textsRequested);
    auto* inspect = child<QPushButton>(view, "Inspect this pair");
    inspect->click();
    ASSERT_EQ(inspected.size(), 1);
    EXPECT_EQ(inspected[0], QVariantList({"What did it find?", "What it did find?"}));
    view.clear("Not measured.");
    EXPECT_TRUE(view.isEmpty());
    EXPECT_TRUE(inspect->isHidden());
}

Phenomena examined() {
    Phenomena found;
    found.all = {"", "", 120, 100, 0, 0.83, 0.75, 0.9};
    found.phenomena = {{"agreement_relative_clause", "", 60, 54, 0, 0.9, 0.8, 0.96},
                       {"adjunct_island", "", 60, 46, 0, 0.77, 0.64, 0.87}};
    for (auto& one : found.phenomena) one.words = 8, one.untrained = {0.4, 0.5, 0.5, 0.6};
    for (const char* part : {"layer 1 head 1", "layer 2 relation 3"})
        found.parts.push_back({part, "heads", {}});
    for (int part = 0; part < 2; ++part)
        for (int phenomenon = 0; phenomenon < 2; ++phenomenon) {
            Phenomena::Cell cell{part, phenomenon};
            const double by = part == 1 && phenomenon == 0 ? -0.4 : 0.0;
            cell.zero.accuracy = {"pair_accuracy", 0.9, 0.9 + by, by, by - 0.1, by + 0.1};
            cell.mean.accuracy = {"pair_accuracy", 0.9, 0.95 + by, by + 0.05, by - 0.05, by + 0.15};
            found.cells.push_back(cell);
        }
    core::findCarriers(found);
    return found;
}

TEST(PhenomenaView, IsAMapOfPartsByPhenomenaWithItsSentences) {
    DeclaredView view(core::analysisNamed("phenomena"));
    view.resize(1000, 700);
    view.showResult(core::answerOf(examined()));
    view.show();
    auto* grid = child<GridView>(view, "Parts and phenomena");
    const auto& panels = grid->panels();
    ASSERT_EQ(panels.size(), 1u);
    EXPECT_EQ(panels[0].rows, (std::vector<std::string>{"layer 1 head 1", "layer 2 relation 3"}));
    EXPECT_EQ(panels[0].inputs,
              (std::vector<std::string>{"agreement relative clause", "adjunct island"}));
    EXPECT_NEAR(panels[0].cell(1, 0).value, -35.0, 1e-9);  // the milder of -40 and -35
    EXPECT_TRUE(panels[0].cell(1, 0).framed);
    EXPECT_FALSE(panels[0].cell(0, 1).framed);
    QTest::mouseClick(grid->viewport(), Qt::LeftButton, {}, grid->cellRect({0, 1, 0}).center());
    EXPECT_TRUE(belowGrid(view).startsWith("layer 2 relation 3, agreement relative clause: zero"))
        << belowGrid(view).toStdString();
    EXPECT_TRUE(belowGrid(view).endsWith("carried"));
    const auto findings = child<QLabel>(view, "What carries which phenomenon")->text();
    EXPECT_TRUE(findings.contains("is carried by layer 2 relation 3"));
    EXPECT_TRUE(findings.contains("no part is shown to carry it"));
    EXPECT_TRUE(view.headText().contains("83.0 %")) << view.headText().toStdString();
    // A damaged answer is said, and shown as nothing.
    auto damaged = core::answerOf(examined());
    for (auto& table : damaged.tables)
        if (table.key == "cells")
            for (auto& column : table.columns) column.numbers.resize(1), column.texts.resize(1);
    view.showResult(damaged);
    EXPECT_TRUE(view.isEmpty());
}

TEST(PhenomenaFigure, IsDrawnInEveryFormatAsAreThePairs) {
    QTemporaryDir folder;
    QString error;
    for (const QString ending : {"png", "svg", "pdf"}) {
        EXPECT_TRUE(renderAnalysis(core::analysisNamed("phenomena"), core::answerOf(examined()),
                                   "text", folder.filePath("p." + ending), &error))
            << error.toStdString();
        EXPECT_TRUE(renderAnalysis(core::analysisNamed("pair-accuracy"), twoPairs(), "text",
                                   folder.filePath("a." + ending), &error))
            << error.toStdString();
    }
    QFile svg(folder.filePath("p.svg"));
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    const QByteArray text = svg.readAll();
    for (const auto* word : {"adjunct", "layer 2 relation 3", "carried by"})
        EXPECT_TRUE(text.contains(word)) << word;
}

}  // namespace
}  // namespace relascope
