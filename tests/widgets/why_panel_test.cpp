// SPDX-License-Identifier: GPL-3.0-or-later
// The panel Why: its matrix, lists, tokens and keys, from an answer of qk-attribution.
#include <QHeaderView>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "analysis/origins/origins.h"
#include "answers/column_table.h"
#include "tests/widgets/inspector_fixture.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/inspector/why_panel.h"
#include "widgets/kit/grid_view.h"
#include "widgets/kit/table_view.h"
#include "widgets/source/patch_view.h"

namespace relascope {
namespace {

using Names = std::vector<std::string>;

Answer twoLayers(bool heads, bool tokens) {
    auto o = core::originTables();
    const auto set = [&](const char* fact, const auto& value) { core::setFact(o, fact, value); };
    set("map", "layer 2 relation 1"), set("against", "none"), set("i", 2), set("j", 8);
    set("value", 1.0), set("cancellation", 2.0), set("terms", 9);
    set("summary", core::originsSummary(o));
    const auto none = core::columns::kNone;
    core::addRow(o, "parts_i", "embedding", "embedding", none, none, none, "", "", 0.5);
    core::addRow(o, "parts_i", "layer 1 relational head 1 relation 1", "relation", 1, 1, 1, "", "",
                 -0.7);
    core::addRow(o, "parts_j", "embedding", "embedding", none, none, none, "", "", 1.0);
    core::addRow(o, "pairs", "layer 1 relational head 1", "embedding", 0.9);
    core::addRow(o, "pairs", "embedding", "embedding", 0.4);
    core::addRow(o, "pairs", "embedding", "layer 1 relational head 1", -0.3);
    const std::vector<std::string> names =
        heads ? std::vector<std::string>{"embedding", "positions", "layer 1 relational head 1",
                                         "layer 1 feed-forward"}
              : std::vector<std::string>{"input", "layer 1"};
    double value = -0.4;
    for (const auto& i : names)
        for (const auto& j : names) core::addRow(o, "matrix", i, j, value += 0.1);
    for (int t = 0; tokens && t < 10; ++t) {
        core::addRow(o, "tokens_i", t, "", t == 7 ? -0.6 : 0.01 * t);
        o.tables[5].links.push_back({MapKind::Relation, 0, 3, 2, t});
    }
    std::erase_if(o.tables, [](const Table& table) { return table.rows() == 0; });
    return o;
}

class WhyPanelTest : public InspectorTest {
protected:
    void SetUp() override {
        InspectorTest::SetUp();
        give({});
        inspector.setWhyShown(true);
        panel().showAnswer(twoLayers(false, false));
        QTest::qWait(1);
    }
    WhyPanel& panel() { return *inspector.why(); }
    QString row(int at) { return panel().table()->text(at, "part"); }
};

TEST_F(WhyPanelTest, ShowsGroupsWithTheirSumsAndBothLists) {
    EXPECT_TRUE(panel().isVisible());
    EXPECT_TRUE(panel().headText().startsWith("layer 2 relation 1, i 2 -> j 8: score 1"));
    const auto& grid = panel().matrix()->panels().at(0);
    EXPECT_EQ(grid.rows, (Names{"input", "layer 1", "all"}));
    EXPECT_NEAR(grid.cell(0, 2).value, -0.5, 1e-12);  // -0.3 - 0.2
    EXPECT_NEAR(grid.cell(2, 2).value, -0.6, 1e-12);
    EXPECT_EQ(panel().table()->tableModel()->rowCount(), 2);
    EXPECT_EQ(row(0), QStringLiteral("layer 1 rel. head 1 \u00D7 embedding"));
    panel().lists()->button(1)->click();
    EXPECT_EQ(panel().table()->tableModel()->rowCount(), 1);
    panel().lists()->button(2)->click();
    EXPECT_EQ(row(0), "layer 1 rel. head 1 relation 1") << "the largest first";
    EXPECT_FALSE(panel().lists()->isItemEnabled(4));
    EXPECT_EQ(panel().against()->current(), 0);
}

TEST_F(WhyPanelTest, ACellOpensIntoItsPartsAndBackspaceCloses) {
    QSignalSpy asked(&panel(), &WhyPanel::choiceChanged);
    auto* matrix = panel().matrix();
    matrix->setFocus();
    QTest::mouseClick(matrix->viewport(), Qt::LeftButton, {}, matrix->cellRect({0, 1, 0}).center());
    ASSERT_EQ(asked.size(), 1);
    EXPECT_TRUE(panel().choice().heads);
    panel().showAnswer(twoLayers(true, false));
    const auto& grid = panel().matrix()->panels().at(0);
    EXPECT_EQ(grid.rows, (Names{"rel. head 1", "feed-forward", "all"}));
    EXPECT_EQ(grid.inputs.empty() ? grid.columns : grid.inputs,
              (Names{"embedding", "positions", "all"}));
    QTest::keyClick(matrix, Qt::Key_Backspace);
    EXPECT_FALSE(panel().choice().heads);
    EXPECT_EQ(asked.size(), 2);
}

TEST_F(WhyPanelTest, EnterOnAHeadOpensItsTokensWhichLeadOneLayerDown) {
    QSignalSpy asked(&panel(), &WhyPanel::choiceChanged), cells(&panel(), &WhyPanel::cellRequested);
    auto* table = panel().table();
    table->setFocus();
    table->chooseRow(0);
    QTest::keyClick(table, Qt::Key_Return);
    ASSERT_GE(asked.size(), 1);
    EXPECT_EQ(panel().choice().tokensOf, "layer 1 relational head 1");
    panel().showAnswer(twoLayers(false, true));
    EXPECT_EQ(panel().lists()->current(), 4);
    EXPECT_EQ(row(0), "i from 7");
    // The source shows what came from each object.
    EXPECT_FLOAT_EQ(inspector.sourcePane()->objects()->towards().at(7), -0.6F);
    table->chooseRow(0);
    QTest::keyClick(table, Qt::Key_Return);
    ASSERT_EQ(cells.size(), 1);
    const auto link = cells[0][0].value<MapLink>();
    EXPECT_EQ(link, (MapLink{MapKind::Relation, 0, 3, 2, 7}));
    QSignalSpy back(&panel(), &WhyPanel::backRequested), closed(&panel(), &WhyPanel::closed);
    QTest::keyClick(table, Qt::Key_Backspace);
    EXPECT_EQ(back.size(), 0) << "there is no cell before";
    panel().setTrail("layer 2 (2, 8) > layer 1 (2, 7)");
    QTest::keyClick(table, Qt::Key_Backspace);
    EXPECT_EQ(back.size(), 1);
    QTest::keyClick(table, Qt::Key_Escape);
    EXPECT_EQ(closed.size(), 1);
}

TEST_F(WhyPanelTest, TheChosenCellBecomesWhatOthersAreHeldAgainst) {
    QSignalSpy asked(&panel(), &WhyPanel::choiceChanged);
    panel().against()->button(2)->click();
    EXPECT_EQ(panel().choice().against, "2,8");
    panel().against()->button(1)->click();
    EXPECT_EQ(panel().choice().against, "row");
    panel().setPlace(true);
    EXPECT_EQ(panel().choice().against, "row") << "another cell of the same map";
    panel().setPlace(false);
    EXPECT_EQ(panel().choice(), WhyChoice());
    EXPECT_EQ(asked.size(), 2);
}

TEST_F(WhyPanelTest, TabGoesFromTheTopDown) {
    QApplication::setActiveWindow(&inspector);
    panel().against()->button(0)->setFocus();
    std::vector<const QWidget*> visited;
    for (int k = 0; k < 3; ++k) {
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        visited.push_back(QApplication::focusWidget());
    }
    EXPECT_EQ(visited, (std::vector<const QWidget*>{panel().matrix(), panel().lists()->button(0),
                                                    panel().table()}));
}

TEST_F(WhyPanelTest, ADamagedAnswerIsASentence) {
    auto answer = twoLayers(false, false);
    for (auto& table : answer.tables)
        if (table.key == "matrix") table.columns[2].numbers.pop_back();
    panel().showAnswer(answer);
    panel().showAnswer({});
    EXPECT_FALSE(panel().matrix()->isVisible());
    panel().showAnswer(twoLayers(false, false));
    EXPECT_TRUE(panel().matrix()->isVisible());
}

TEST_F(WhyPanelTest, TakesItsRoomFromTheSmallMapsAndGivesItBack) {
    inspector.setMapFirst();
    for (const QSize size : {QSize(1010, 340), QSize(760, 300), QSize(1400, 700)}) {
        inspector.resize(size);
        QTest::qWait(1);
        EXPECT_GE(panel().width(), 300) << size.width();
    }
    inspector.setWhyShown(false);
    EXPECT_FALSE(panel().isVisible());
    inspector.setCompact(true);
    inspector.resize(600, 640);
    inspector.setWhyShown(true);
    QTest::qWait(1);
    EXPECT_GE(panel().width(), 560);
    EXPECT_GE(panel().height(), 180);
}

}  // namespace
}  // namespace relascope
