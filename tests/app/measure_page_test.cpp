// SPDX-License-Identifier: GPL-3.0-or-later
// The page Measure: its groups, the ways that lead there, and its own window.
#include <QAction>
#include <QMenu>
#include <QTabBar>
#include <QToolButton>

#include "analysis/analysis.h"
#include "app/edits_tab.h"
#include "app/inspector_editing.h"
#include "app/inspector_why.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/analysis_window.h"
#include "app/pages/measure_page.h"
#include "app/panes.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/maps/map_view.h"
#include "widgets/theme/controls.h"

namespace relascope {
namespace {

class MeasurePageTest : public WindowTest {
protected:
    void openTrained() {
        path = finishedRun();
        ASSERT_TRUE(waitUntil([this] { return inspector()->result() && !page().isVisible(); }));
        ASSERT_TRUE(waitUntil([this] { return window->edits().subject().has_value(); }));
    }
    MeasurePage& page() { return *window->measurePage(); }
    AnalysisWindow& analyses() { return page().analyses(); }
    QTabBar* tabs() { return child<QTabBar>(&analyses(), "Measurements"); }
    QStringList shownTabs() {
        QStringList titles;
        for (int at = 0; at < tabs()->count(); ++at)
            if (tabs()->isTabVisible(at)) titles << tabs()->tabText(at);
        return titles;
    }
    QAction* command(const QString& text) {
        for (auto* action : window->commands())
            if (action->text() == text) return action;
        return nullptr;
    }

    QString path;
};

TEST_F(MeasurePageTest, IsReachedFromTheMapByGroups) {
    openTrained();
    auto& editing = window->edits().editing();
    QStringList groups, entries;
    editing.showMenu = [&](QMenu& menu, const QPoint&) {
        for (const auto* action : menu.actions())
            (action->isSeparator() ? groups : entries) << action->text();
    };
    click(child<QPushButton>(inspector(), "Measure"));
    EXPECT_EQ(groups, QStringList({"Parts", "Pairs", "Text"}));
    const auto shownOn = [](const core::Analysis* one) {
        return one->page != core::AnalysisPage::None;
    };
    EXPECT_EQ(entries.size(), std::ranges::count_if(core::analyses(), shownOn));
    // Each entry shows its analysis, on the page that it has.
    for (const auto* analysis : core::analyses()) {
        if (!shownOn(analysis)) continue;
        window->showPage(PageId::Workbench);
        auto* action = command(QString::fromStdString(analysis->title) + "...");
        ASSERT_TRUE(action && action->isEnabled()) << analysis->name;
        action->trigger();
        const auto shown = window->currentPage();
        EXPECT_EQ(shown, analysis->page == core::AnalysisPage::Duel    ? PageId::Duel
                         : analysis->page == core::AnalysisPage::Atlas ? PageId::Atlas
                                                                       : PageId::Measure)
            << analysis->name;
        if (shown == PageId::Measure) {
            EXPECT_EQ(analyses().current()->analysis().name, analysis->name);
        }
    }
}

TEST_F(MeasurePageTest, ShowsTheTabsOfAGroup) {
    openTrained();
    QTest::keyClick(window.get(), Qt::Key_8, Qt::ControlModifier);
    ASSERT_EQ(window->currentPage(), PageId::Measure);
    EXPECT_EQ(shownTabs().first(), "Ablation");
    EXPECT_FALSE(shownTabs().contains("Contrast"));
    auto* groups = child<SegmentedControl>(&analyses(), "What is measured");
    QTest::mouseClick(groups->button(1), Qt::LeftButton);
    EXPECT_EQ(shownTabs(),
              QStringList({"Contrast", "What a map compares", "Where a score comes from"}));
    EXPECT_EQ(analyses().current()->analysis().name, "contrast");
    tabs()->setCurrentIndex(tabs()->currentIndex() + 1);
    QTest::mouseClick(groups->button(2), Qt::LeftButton);
    EXPECT_TRUE(shownTabs().contains("Minimal pairs"));
    QTest::mouseClick(groups->button(1), Qt::LeftButton);
    EXPECT_EQ(analyses().current()->analysis().name, "qk-components") << "as it was left";
    // What a page of the smallest window has room for.
    for (const auto* analysis : core::analysesOf(core::AnalysisPage::Measure))
        EXPECT_LE(analyses().tab(analysis->name)->minimumSizeHint().width(), 780) << analysis->name;
}

TEST_F(MeasurePageTest, MeasuresWhatWasInspectedLast) {
    openTrained();
    const auto subject = [this] { return analyses().about().subject; };
    window->showPage(PageId::Measure);
    ASSERT_TRUE(subject());
    EXPECT_EQ(placeOf(subject()->asked), path);
    // An empty page Checkpoint is none to measure.
    window->showPage(PageId::Checkpoint);
    window->showPage(PageId::Measure);
    EXPECT_TRUE(subject()) << analyses().current()->missing().toStdString();
    // A map that is chosen there is another subject, and a run that goes leaves none.
    window->showPage(PageId::Workbench);
    inspector()->stepRelation(1);
    const auto index = inspector()->view().index;
    window->showPage(PageId::Compare);
    window->showPage(PageId::Measure);
    EXPECT_EQ(subject()->asked.cell->index, index);
    // A run that is chosen there is read there.
    const QString first = path;
    window->showPage(PageId::Workbench);
    path = finishedRun(8);
    window->showPage(PageId::Measure);
    ASSERT_TRUE(waitUntil([&] { return subject() && placeOf(subject()->asked) == path; }));
    c().selection.setRuns({first});
    c().selection.setCurrent(first);
    EXPECT_FALSE(subject()) << "not the maps of the run before";
    EXPECT_TRUE(analyses().current()->missing().startsWith("Reading the maps of "));
    EXPECT_TRUE(waitUntil([&] { return subject() && placeOf(subject()->asked) == first; }));
    path = first;
    window->opener().openCheckpoint(
        QStringLiteral(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed"));
    ASSERT_TRUE(waitUntil([this] { return c().checkpoint.info().has_value(); }));
    window->showPage(PageId::Measure);
    EXPECT_NE(window->activeInspector(), inspector());
    EXPECT_FALSE(subject()) << "nothing was inspected there yet";
    EXPECT_EQ(analyses().current()->missing(), "Press Inspect on the page Checkpoint.");
    c().selection.setCurrent({});
    c().selection.setCurrent(path);
    EXPECT_EQ(window->activeInspector(), inspector()) << "a run that is chosen is inspected";
}

TEST_F(MeasurePageTest, StandsInAWindowOfItsOwn) {
    openTrained();
    window->edits().measure("contrast");
    auto* apart = child<QToolButton>(&analyses(), "In a window of its own");
    ASSERT_TRUE(apart);
    QTest::mouseClick(apart, Qt::LeftButton);
    EXPECT_TRUE(page().isApart());
    EXPECT_TRUE(analyses().isWindow() && analyses().isVisible());
    EXPECT_TRUE(analyses().about().subject);
    window->showPage(PageId::Workbench);
    window->edits().measure("patch");
    EXPECT_EQ(window->currentPage(), PageId::Workbench) << "beside the maps";
    QTest::keyClick(&analyses(), Qt::Key_2, Qt::ControlModifier);
    EXPECT_EQ(analyses().current()->analysis().name, "patch");
    QTest::keyClick(&analyses(), Qt::Key_Escape);
    EXPECT_TRUE(waitUntil([this] { return !page().isApart(); }));
    window->showPage(PageId::Measure);
    EXPECT_TRUE(analyses().isVisible() && !analyses().isWindow());
    // It also ends with the window.
    page().setApart(true);
}

TEST_F(MeasurePageTest, TheKeyboardEntersPagesAndParts) {
    openTrained();
    window->resize(1440, 900);
    QTest::keyClick(window.get(), Qt::Key_1, Qt::ControlModifier);
    EXPECT_EQ(QApplication::focusWidget(), inspector()->mapPane()->map());
    auto* search = window->sidebar()->searchField();
    search->setFocus();
    QTest::keyClicks(search, "quick");
    QTest::keyClick(search, Qt::Key_Return);
    EXPECT_EQ(QApplication::focusWidget(), inspector()->mapPane()->map())
        << "keys are not typed into the search any more";
    search->setFocus();
    QTest::keyClick(search, Qt::Key_Escape);
    EXPECT_EQ(search->text(), "");
    QTest::keyClick(search, Qt::Key_Escape);
    EXPECT_FALSE(search->hasFocus());
    // Space presses the button of a page that is entered again, and starts no run.
    for (int k = 0; k < 2; ++k) {
        QTest::keyClick(window.get(), Qt::Key_1, Qt::ControlModifier);
        QTest::keyClick(window.get(), Qt::Key_3, Qt::ControlModifier);
        auto* focus = QApplication::focusWidget();
        ASSERT_TRUE(qobject_cast<QAbstractButton*>(focus));
        QKeyEvent space(QEvent::ShortcutOverride, Qt::Key_Space, Qt::NoModifier);
        space.ignore();
        QApplication::sendEvent(focus, &space);
        EXPECT_TRUE(space.isAccepted()) << k;
    }
    QTest::keyClick(window.get(), Qt::Key_1, Qt::ControlModifier);
    // F6 goes round, Shift+F6 back.
    const auto panes = panesOf(*window);
    ASSERT_GE(panes.size(), 4U);
    const auto at = [&] {
        const auto* now = QApplication::focusWidget();
        return std::find_if(panes.begin(), panes.end(),
                            [now](const QWidget* pane) { return pane->isAncestorOf(now); }) -
               panes.begin();
    };
    enterPane(panes.front());
    EXPECT_TRUE(window->testAttribute(Qt::WA_KeyboardFocusChange)) << "it shows where it is";
    for (std::ptrdiff_t k = 1; k <= std::ssize(panes); ++k) {
        QTest::keyClick(window.get(), Qt::Key_F6);
        EXPECT_EQ(at(), k % std::ssize(panes));
    }
    QTest::keyClick(window.get(), Qt::Key_F6, Qt::ShiftModifier);
    EXPECT_EQ(at(), std::ssize(panes) - 1);
}

}  // namespace
}  // namespace relascope
