// SPDX-License-Identifier: GPL-3.0-or-later
// The panel Why on a trained run: opened by its key, follows the cell, its trail, and edits.
#include <QMenu>
#include <QSignalSpy>

#include "app/controllers/inspector_edits.h"
#include "app/edits_tab.h"
#include "app/inspector_editing.h"
#include "app/inspector_why.h"
#include "tests/app/window_fixture.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/why_panel.h"
#include "widgets/kit/table_view.h"
#include "widgets/maps/map_view.h"

namespace relascope {
namespace {

class WhyTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        finishedRun();
        ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    }
    widgets::MapView* map() { return inspector()->mapPane()->map(); }
    WhyPanel& panel() { return *inspector()->why(); }
    bool says(const QString& begin) {
        return waitUntil([&] { return panel().headText().startsWith(begin); });
    }
};

TEST_F(WhyTest, WOpensThePanelWhichFollowsTheCellAndLeadsDown) {
    inspector()->showCell(MapKind::Relation, 1, 0, 3, 5);
    QTest::keyClick(window.get(), Qt::Key_W);
    ASSERT_TRUE(says("layer 2 relation 1, i 3 -> j 5:")) << panel().headText().toStdString();
    QTest::mouseClick(map(), Qt::LeftButton, {}, map()->cellRect(4, 2).center());
    ASSERT_TRUE(says("layer 2 relation 1, i 4 -> j 2:"));
    // Another cell to hold it against.
    QTest::mouseClick(map(), Qt::LeftButton, Qt::ControlModifier, map()->cellRect(4, 6).center());
    ASSERT_TRUE(waitUntil([this] { return panel().headText().contains("against cell (4,6)"); }));
    EXPECT_EQ(inspector()->view().target, 2) << "the chosen cell stays";
    panel().against()->button(0)->click();
    ASSERT_TRUE(waitUntil([this] { return !panel().headText().contains("against cell"); }));
    // A head's tokens, and one of them a layer down.
    panel().lists()->button(2)->click();
    int head = -1;
    for (int row = 0; row < panel().table()->tableModel()->rowCount(); ++row)
        if (panel().table()->text(row, "part").contains("relation 1")) head = row;
    ASSERT_GE(head, 0);
    Q_EMIT panel().table()->rowChosen(head);
    ASSERT_TRUE(waitUntil([this] { return panel().lists()->current() == 4; }));
    Q_EMIT panel().table()->rowChosen(0);
    ASSERT_TRUE(says("layer 1 relation 1, i 4 ->")) << panel().headText().toStdString();
    EXPECT_TRUE(panel().trail().startsWith("layer 2 relation 1 (4, 2) > layer 1 relation 1 (4,"))
        << panel().trail().toStdString();
    EXPECT_EQ(inspector()->view().layer, 0);
    panel().back()->click();
    ASSERT_TRUE(says("layer 2 relation 1, i 4 -> j 2:"));
    EXPECT_TRUE(panel().trail().isEmpty());
    QTest::keyClick(&panel(), Qt::Key_Escape);
    EXPECT_FALSE(inspector()->whyShown());
    EXPECT_FALSE(panel().isVisible());
}

TEST_F(WhyTest, EditsChangeThePartsAndBeforeShowsThemWithout) {
    inspector()->showCell(MapKind::Relation, 1, 0, 3, 5);
    window->edits().why().toggle();
    ASSERT_TRUE(says("layer 2 relation 1, i 3 -> j 5:"));
    const QString before = panel().headText();
    c().runEdits.addWords("layer 1 relation 1 zero");
    ASSERT_TRUE(waitUntil([&] { return panel().headText() != before; }));
    auto view = inspector()->view();
    view.shown = widgets::Shown::Before;
    inspector()->chooseView(view);
    ASSERT_TRUE(waitUntil([&] { return panel().headText() == before; }));
    view.shown = widgets::Shown::Difference;
    inspector()->chooseView(view);
    EXPECT_TRUE(waitUntil([&] { return !panel().table()->isVisible(); }));
}

TEST_F(WhyTest, AMapThatIsTakenOutIsExplainedAsItWas) {
    inspector()->showCell(MapKind::Relation, 1, 0, 3, 5);
    window->edits().why().toggle();
    ASSERT_TRUE(says("layer 2 relation 1, i 3 -> j 5:"));
    const QString before = panel().headText();
    window->edits().editing().knockOut();
    EXPECT_TRUE(waitUntil([&] {
        return panel().headText() == before + "; this is what it was before it was taken out";
    })) << panel().headText().toStdString();
}

TEST_F(WhyTest, WhatIsNoScoreIsASentence) {
    inspector()->showCell(MapKind::Symbols, 0, 0, 0, 0);
    window->edits().why().toggle();
    EXPECT_TRUE(waitUntil([this] {
        for (auto* state : panel().findChildren<QLabel*>())
            if (state->text().contains("no scores of two objects")) return true;
        return false;
    }));
}

}  // namespace
}  // namespace relascope
