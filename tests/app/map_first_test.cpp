// SPDX-License-Identifier: GPL-3.0-or-later
// The Workbench with the map on top: room at every size, one subject, findings, buttons below the
// map, and keys after any click.
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTreeWidget>

#include "analysis/scan/scan.h"
#include "app/controllers/inspector_edits.h"
#include "app/edits_tab.h"
#include "app/inspector_editing.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/atlas_page.h"
#include "app/pages/data_source.h"
#include "tests/app/window_fixture.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/analysis/scan/findings_bar.h"
#include "widgets/curves/curve_plot.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/maps/map_view.h"

namespace relascope {
namespace {

using Fill = WorkbenchPage::Fill;

class MapFirstTest : public WindowTest {
protected:
    WorkbenchPage* page() { return window->workbench(); }
    widgets::MapView* map() { return inspector()->mapPane()->map(); }
    QPushButton* button(const QString& text) {
        for (auto* one : inspector()->findChildren<QPushButton*>())
            if (one->text().startsWith(text)) return one;
        return nullptr;
    }
    bool shown() {
        return waitUntil([this] { return inspector()->result() != nullptr; });
    }
};

TEST_F(MapFirstTest, InputAndMapHaveMostOfThePageAtEverySize) {
    finishedRun();
    ASSERT_TRUE(shown());
    page()->findings()->setSentence(QStringLiteral("a finding"));
    window->fitTo({960, 600});  // 1440 x 900 at 150 %
    for (const auto& [size, least] : {std::pair{QSize(1440, 900), 400},
                                      {QSize(1280, 720), 270},
                                      {QSize(1024, 640), 220},
                                      {QSize(960, 600), 220}}) {
        window->resize(size);
        QTest::qWait(50);
        ASSERT_EQ(window->size(), size);
        const QRect cells = map()->cellGeometry().map();
        SCOPED_TRACE(testing::Message()
                     << page()->height() << " page, " << inspector()->height() << " inspector, "
                     << inspector()->mapPane()->height() << " map, " << curves()->height()
                     << " curves, " << page()->head()->height() << " head");
        EXPECT_GE(cells.width(), least) << size.width();
        EXPECT_GE(cells.height(), least) << size.width();
        const auto area = [](const QWidget* widget) { return widget->width() * widget->height(); };
        const QWidget* source = inspector()->sourcePane();
        // Both panes, and the small maps in their place where they cost the map no height.
        EXPECT_GE(area(source) + area(inspector()->mapPane()) +
                      (inspector()->smallMaps()->isVisible() ? area(inspector()->smallMaps()) : 0),
                  area(page()) * 60 / 100)
            << size.width();
    }
    EXPECT_FALSE(page()->findings()->isVisible()) << "the map comes first on a low page";
}

TEST_F(MapFirstTest, AMapOrTheCurvesFillThePage) {
    finishedRun();
    ASSERT_TRUE(shown());
    const int before = map()->cellGeometry().map().height();
    QTest::keyClick(window.get(), Qt::Key_F);
    EXPECT_EQ(page()->filled(), Fill::Map);
    QTest::qWait(50);
    EXPECT_GT(map()->cellGeometry().map().height(), before);
    EXPECT_FALSE(curves()->isVisible());
    QTest::keyClick(window.get(), Qt::Key_Escape);
    EXPECT_EQ(page()->filled(), Fill::Nothing);
    EXPECT_TRUE(curves()->isVisible());
    QTest::mouseDClick(map(), Qt::LeftButton, {}, map()->cellRect(0, 0).center());
    EXPECT_EQ(page()->filled(), Fill::Map);
    QTest::mouseDClick(map(), Qt::LeftButton, {}, map()->cellRect(0, 0).center());
    EXPECT_EQ(page()->filled(), Fill::Nothing);
    for (auto* plot : curves()->accuracyPlot()->findChildren<QWidget*>())
        QTest::keyClick(plot, Qt::Key_Home);
    EXPECT_EQ(page()->filled(), Fill::Nothing) << "it resets the zoom";
    QTest::keyClick(window.get(), Qt::Key_F, Qt::ShiftModifier);
    EXPECT_EQ(page()->filled(), Fill::Curves);
    EXPECT_FALSE(map()->isVisible());
    QTest::qWait(50);
    EXPECT_TRUE(curves()->lossPlot()->isVisible() && curves()->accuracyPlot()->isVisible());
    QTest::keyClick(window.get(), Qt::Key_Escape);
    EXPECT_TRUE(map()->isVisible());
    QTest::qWait(50);
    EXPECT_FALSE(curves()->lossPlot()->isVisible()) << "a low strip has one plot";
}

TEST_F(MapFirstTest, OneLineNamesTheRunAndItsWeights) {
    const QString path = finishedRun();
    ASSERT_TRUE(shown());
    ASSERT_TRUE(waitUntil([&] { return page()->head()->subText().startsWith("step 12"); }));
    EXPECT_EQ(page()->head()->title(), c().runs.name(path));
    EXPECT_TRUE(page()->head()->subText().contains("seed 0"));
    // The options stay those of the new run until those of the run are asked for.
    ASSERT_TRUE(waitUntil([&] { return c().experiment.run().isEmpty(); }));
    c().experiment.choosePreset(QStringLiteral("relational-games-same"));
    c().selection.setCurrent({});
    c().selection.setRuns({});
    Q_EMIT window->sidebar()->runsSelected({path});
    EXPECT_EQ(c().selection.current(), path);
    EXPECT_TRUE(window->bar()->newRunText().startsWith("Same, ")) << "what Start begins";
    EXPECT_FALSE(page()->runOptionsButton()->isChecked());
    click(page()->runOptionsButton());
    ASSERT_TRUE(waitUntil([&] { return c().experiment.run() == path; }));
    EXPECT_FALSE(window->form()->collapsed());
    EXPECT_EQ(c().experiment.options().preset, "quick");
    click(page()->runOptionsButton());
    EXPECT_TRUE(c().experiment.run().isEmpty());
    EXPECT_EQ(c().experiment.options().preset, "relational-games-same");
    // The menu of the new run chooses another experiment.
    Q_EMIT window->bar()->newRunMenu()->aboutToShow();
    for (auto* family : window->bar()->newRunMenu()->actions())
        if (family->menu())
            for (auto* entry : family->menu()->actions())
                if (entry->text() == QStringLiteral("Match pattern")) entry->trigger();
    EXPECT_EQ(c().experiment.options().preset, "relational-games-match-pattern");
}

TEST_F(MapFirstTest, TwoObjectsAreMadeTheSameAndARelationIsTakenOut) {
    finishedRun();
    ASSERT_TRUE(shown());
    auto view = inspector()->view();
    view.kind = MapKind::Relation, view.layer = view.index = 0, view.source = 2, view.target = 2;
    c().selection.setView(view);
    EXPECT_FALSE(button("Make them the same")->isEnabled()) << "it is one object";
    QTest::mouseClick(map(), Qt::LeftButton, {}, map()->cellRect(2, 7).center());
    ASSERT_TRUE(button("Make them the same")->isEnabled());
    const float own = map()->values().at(2, 2);
    EXPECT_NE(map()->values().at(2, 7), own);
    click(button("Make them the same"));
    EXPECT_TRUE(waitUntil([&] {
        return inspector()->edited() && std::abs(map()->values().at(2, 7) - own) < 1e-3F;
    })) << map()->values().at(2, 7)
        << " in place of " << own;
    click(button("Undo"));
    EXPECT_TRUE(waitUntil([&] { return !inspector()->edited(); }));
    click(button("Take this relation out"));
    ASSERT_TRUE(waitUntil([&] { return inspector()->edited(); }));
    EXPECT_EQ(map()->values().at(2, 7), 0.0F);
    ASSERT_TRUE(button("Bring it back"));
    click(button("Bring it back"));
    EXPECT_TRUE(waitUntil([&] { return !inspector()->edited(); }));
    // Attention is no value of a pair.
    QTest::keyClick(window.get(), Qt::Key_2);
    EXPECT_FALSE(button("Make them the same")->isEnabled());
    EXPECT_TRUE(button("Take this head out"));
}

TEST_F(MapFirstTest, WhatItLearnedStandsAboveTheMapAndIsKept) {
    const QString path = finishedRun();
    ASSERT_TRUE(shown());
    EXPECT_FALSE(page()->findings()->isVisible());
    EXPECT_FALSE(AtlasPage::hasKeptScan(path));
    window->resize(1440, 900);
    QTest::qWait(50);
    auto* strip = page()->head()->findChild<JobStrip*>();
    ASSERT_TRUE(strip);
    strip->setDelay(0);
    click(page()->learnButton());
    EXPECT_TRUE(page()->findings()->isVisible());
    bool progress = false;
    const auto seen = [&] { return progress = progress || strip->cancelButton()->isVisible(); };
    ASSERT_TRUE(waitUntil(seen, 30000));
    strip->hide();
    QTest::qWait(20);
    const int high = inspector()->height();
    strip->show();
    QTest::qWait(20);
    EXPECT_EQ(inspector()->height(), high) << "progress costs the map no height";
    ASSERT_TRUE(waitUntil([&] { return AtlasPage::hasKeptScan(path); }, 90000));
    ASSERT_TRUE(waitUntil([&] { return page()->learnButton()->isEnabled(); }));
    // The field of the page Atlas keeps what the user chose.
    auto* scan = qobject_cast<AtlasPage*>(window->page(PageId::Atlas))->tab("scan");
    EXPECT_TRUE(scan->values().empty());
    EXPECT_FALSE(page()->findings()->sentence().isEmpty());
    EXPECT_EQ(page()->findings()->scan().passes, 3);
    // Another run has findings of its own.
    c().selection.setCurrent({});
    EXPECT_FALSE(page()->findings()->isVisible());
    // On another day it is there at once.
    window = std::make_unique<MainWindow>(false);
    window->show();
    window->resize(1440, 900);
    c().runs.setFolder(folder.path());
    ASSERT_TRUE(openRun(path));
    EXPECT_TRUE(waitUntil([&] { return page()->findings()->scan().passes == 3; }, 60000));
    Q_EMIT page()->findings()->moreRequested();
    EXPECT_EQ(window->currentPage(), PageId::Atlas);
}

TEST_F(MapFirstTest, ARunThatIsDoneIsScannedByItself) {
    window->resize(1440, 900);
    page()->setScansAtEnd(true);
    const QString path = finishedRun();
    EXPECT_TRUE(waitUntil([&] { return AtlasPage::hasKeptScan(path); }, 60000));
    EXPECT_TRUE(waitUntil([&] { return page()->findings()->isVisible(); }));
    EXPECT_TRUE(waitUntil([&] { return page()->learnButton()->isEnabled(); }));
    // The page Atlas opens it, too, and keeps its options.
    window = std::make_unique<MainWindow>(false);
    window->show();
    c().runs.setFolder(folder.path());
    auto* atlas = qobject_cast<AtlasPage*>(window->page(PageId::Atlas));
    auto* tab = atlas->tab("scan");
    ASSERT_TRUE(openRun(path));
    ASSERT_TRUE(waitUntil([&] { return !tab->view()->isEmpty(); }, 60000));
    EXPECT_TRUE(tab->values().empty());
}

TEST_F(MapFirstTest, AScanOfTheUsersOwnLengthIsOpenedAgain) {
    const QString path = finishedRun();
    ASSERT_TRUE(shown());
    window->showPage(PageId::Atlas);
    auto* atlas = qobject_cast<AtlasPage*>(window->page(PageId::Atlas));
    atlas->showTab("scan");
    ASSERT_TRUE(waitUntil([&] { return !atlas->scanTask().busy(); }));
    atlas->tab("scan")->runButton()->click();  // 60 seconds
    ASSERT_TRUE(waitUntil([&] { return AtlasPage::hasKeptScan(path); }, 90000));
    window = std::make_unique<MainWindow>(false);
    window->resize(1440, 900);
    window->show();
    c().runs.setFolder(folder.path());
    ASSERT_TRUE(openRun(path));
    EXPECT_TRUE(waitUntil([&] { return page()->findings()->scan().passes == 3; }, 60000));
}

TEST_F(MapFirstTest, SpacePausesAfterAClickOnStart) {
    chooseTiny();
    click(window->bar()->startButton());
    QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : window.get(),
                    Qt::Key_Space);
    ASSERT_TRUE(trains(3));
    EXPECT_FALSE(QApplication::activePopupWidget());
    QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : window.get(),
                    Qt::Key_Space);
    EXPECT_TRUE(waitUntil([this] { return c().training.paused(); }));
    EXPECT_FALSE(QApplication::activePopupWidget());
}

TEST_F(MapFirstTest, EnterTakesTheFirstHitOfTheFilter) {
    auto* search = window->sidebar()->searchField();
    search->setFocus();
    QTest::keyClicks(search, "pairw");
    QTest::keyClick(search, Qt::Key_Return);
    EXPECT_EQ(c().experiment.options().preset, "pairwise-order");
    EXPECT_EQ(window->sidebar()->experiments()->currentItem()->text(0), "Pairwise order");
    QTest::keyClick(search, Qt::Key_Escape);
    EXPECT_TRUE(search->text().isEmpty());
}

}  // namespace
}  // namespace relascope
