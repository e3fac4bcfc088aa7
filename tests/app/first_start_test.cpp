// SPDX-License-Identifier: GPL-3.0-or-later
// The first start and the end: the tour, names in the list of checkpoints, where studies are kept,
// errors that go, and a process that always ends.
#include <QLabel>
#include <QMenu>
#include <QSet>
#include <QSettings>
#include <QSignalSpy>
#include <QTabBar>
#include <chrono>
#include <thread>

#include "app/controllers/study_controller.h"
#include "app/edits_tab.h"
#include "app/example_run.h"
#include "app/help.h"
#include "app/inspector_editing.h"
#include "app/launch.h"
#include "app/opener.h"
#include "app/pages/data_source.h"
#include "files/atomic_file.h"
#include "run/run_folder.h"
#include "run/run_list.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "widgets/bar/status_strip.h"
#include "widgets/checkpoint/config_view.h"
#include "widgets/tour/tour_overlay.h"

namespace relascope {
namespace {

class TourTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        QSettings().remove(QStringLiteral("tour"));
    }
};

TEST_F(TourTest, PointsAtThePartsOfTheWindow) {
    window->resize(1440, 900);
    TourOverlay* tour = showTour(*window);
    ASSERT_TRUE(tour);
    EXPECT_EQ(showTour(*window), tour) << "one is enough";
    ASSERT_EQ(tour->steps(), 8) << "seven parts and the picture; without the example no shapes";
    const auto next = [&] {
        return QRect(tour->nextButton()->mapTo(window.get(), QPoint()), tour->nextButton()->size());
    };
    const QRect stays = next();
    EXPECT_FALSE(child<QPushButton>(tour, "Back")->isEnabled());
    auto* workbench = window->workbench();
    const std::pair<QWidget*, bool> parts[] = {
        {workbench->inspector(), true},  // a relation is cut
        {workbench->inspector(), true},   {workbench->curves(), true},
        {workbench->learnButton(), true}, {window->bar(), false},
        {window->sidebar(), false},       {window->findChild<QTabBar*>(), false}};
    for (int i = 0; i < 7; ++i) {
        if (i > 0) QTest::mouseClick(tour->nextButton(), Qt::LeftButton);
        ASSERT_EQ(tour->step(), i);
        const auto [widget, usable] = parts[i];
        const QRect part(widget->mapTo(window.get(), QPoint(0, 0)), widget->size());
        EXPECT_EQ(tour->highlighted(), part) << i;
        EXPECT_TRUE(tour->rect().contains(tour->card())) << i;
        EXPECT_EQ(next(), stays) << i;
        const QPoint inside(part.left() + 4, part.top() + 4);
        EXPECT_EQ(window->childAt(inside) == tour, !usable) << "what the step is about can be used";
        EXPECT_FALSE(tour->findChild<RelationPrimer*>());
    }
    QTest::mouseClick(tour->nextButton(), Qt::LeftButton);
    EXPECT_TRUE(tour->findChild<RelationPrimer*>());
    EXPECT_TRUE(tour->highlighted().isEmpty());
    window->resize(1100, 760);
    EXPECT_TRUE(waitUntil([&] { return tour->size() == window->size(); }));
    EXPECT_TRUE(tour->rect().contains(tour->card()));
    QTest::keyClick(tour, Qt::Key_Left);
    EXPECT_EQ(tour->step(), 6);
    QSignalSpy ended(tour, &TourOverlay::ended);
    QTest::keyClick(tour, Qt::Key_Right);
    QTest::mouseClick(tour->nextButton(), Qt::LeftButton);
    EXPECT_EQ(ended.count(), 1);
    EXPECT_TRUE(waitUntil([&] { return !window->findChild<TourOverlay*>(); }));
}

// The run that comes with the program, and what the tour ends with.
class ExampleTest : public TourTest {
protected:
    QString example() { return c().runs.folder() + QStringLiteral("/example"); }
    double occurs() {
        const auto* result = window->workbench()->inspector()->result();
        return result && result->probabilities.size() == 2 ? result->probabilities[1] : -1.0;
    }
};

TEST_F(ExampleTest, IsCopiedOnceAndNeverBesideRuns) {
    copyExampleRun(c().runs.folder().toStdString());
    const RunInfo info = core::readRunInfo(example().toStdString());
    EXPECT_EQ(info.name, "Example run");
    EXPECT_EQ(widgets::runStateLine(info), "done \u00b7 comes with Relascope");
    EXPECT_TRUE(readRunOptions(example().toStdString()).model == presetOptions("quick").model)
        << "to be made anew: resources/example/make.sh";
    core::writeTextFile(example().toStdString() + "/labels.json", "{}");
    copyExampleRun(c().runs.folder().toStdString());
    EXPECT_EQ(core::readRunLabels(example().toStdString()).name, "");
    std::filesystem::rename(example().toStdString(), c().runs.folder().toStdString() + "/mine");
    copyExampleRun(c().runs.folder().toStdString());
    EXPECT_FALSE(std::filesystem::exists(example().toStdString()));
}

TEST_F(ExampleTest, OpensOnTheFirstStartUntilThereIsAnOwnRun) {
    const QByteArray usual = qgetenv("RELASCOPE_RUNS");
    const QString runs = folder.path() + QStringLiteral("/first");
    qputenv("RELASCOPE_RUNS", runs.toUtf8());
    QSettings().clear();
    const auto start = [&] {
        window.reset();
        window = std::make_unique<MainWindow>(true);
        window->show();
    };
    start();
    const QString path = example();
    EXPECT_EQ(path, runs + QStringLiteral("/example"));
    EXPECT_TRUE(waitUntil([&] { return c().selection.current() == path && occurs() >= 0.0; }));
    window->close();
    core::moveRun(path.toStdString(), runs.toStdString() + "/mine");
    copyExampleRun(runs.toStdString());  // nothing, beside a run
    start();
    EXPECT_TRUE(waitUntil([&] { return c().runs.info(runs + QStringLiteral("/mine")); }));
    EXPECT_FALSE(c().runs.info(path)) << "deleted, it does not come back";
    window->close();
    std::filesystem::copy(runs.toStdString() + "/mine", path.toStdString(),
                          std::filesystem::copy_options::recursive);
    QSettings().setValue(QStringLiteral("1/runs"), QStringList(path));
    start();
    window->opener().openCheckpoint(path);
    EXPECT_TRUE(waitUntil(
        [&] { return c().selection.current().endsWith("/mine") && c().checkpoint.info(); }));
    EXPECT_FALSE(window->findChild<ConfigView*>()->rows().empty()) << "that of its run.json";
    window->showPage(PageId::Measure);
    EXPECT_EQ(window->inspectedPage(), PageId::Checkpoint) << "not the run that is restored behind";
    window->close();
    QSettings().clear();
    qputenv("RELASCOPE_RUNS", usual);
}

TEST_F(ExampleTest, TheTourBeginsWithTwoShapesThatAreMadeTheSame) {
    copyExampleRun(c().runs.folder().toStdString());
    window->resize(1440, 900);
    // As on the first start, where the run is read after the tour has begun.
    TourOverlay* tour = showTour(*window);
    ASSERT_EQ(tour->steps(), 9);
    window->opener().openRun(example());
    ASSERT_TRUE(waitUntil([&] { return c().selection.current() == example(); }));
    const auto sample = [&] { return c().selection.sample(); };
    ASSERT_TRUE(waitUntil([&] { return sample() == 3 && occurs() >= 0.0 && occurs() < 0.1; }));
    auto& editing = window->edits().editing();
    ASSERT_TRUE(waitUntil([&] { return editing.sameDisabledReason().isEmpty(); }));
    auto* same = child<QPushButton>(window->workbench()->inspector(), "Make them the same");
    ASSERT_TRUE(same && same->isEnabled());
    click(same);
    EXPECT_TRUE(waitUntil([&] { return occurs() > 0.9; })) << occurs();
    EXPECT_EQ(window->findChild<TourOverlay*>(), tour) << "it stays while the part is used";
}

TEST_F(TourTest, IsShownOnceAndInHelp) {
    EXPECT_FALSE(window->findChild<TourOverlay*>()) << "never without being asked";
    TourOverlay* tour = showTourOnFirstStart(*window);
    ASSERT_TRUE(tour);
    QTest::keyClick(tour, Qt::Key_Escape);
    EXPECT_TRUE(waitUntil([&] { return !window->findChild<TourOverlay*>(); }));
    EXPECT_FALSE(showTourOnFirstStart(*window));
    for (QAction* action : window->commands())
        if (action->text() == "Tour") action->trigger();
    ASSERT_TRUE(window->findChild<TourOverlay*>());
    QTest::mouseClick(child<QPushButton>(window->findChild<TourOverlay*>(), "Skip"),
                      Qt::LeftButton);
    EXPECT_TRUE(waitUntil([&] { return !window->findChild<TourOverlay*>(); }));
}

TEST_F(TourTest, TheVariantIsSaidInASentence) {
    ASSERT_TRUE(c().experiment.choosePreset("relational-games-same", "predinet"));
    QLabel* about = nullptr;
    for (auto* label : window->form()->findChildren<QLabel*>())
        if (label->accessibleName() == "About the variant") about = label;
    ASSERT_TRUE(about);
    EXPECT_TRUE(about->text().startsWith("PrediNet"));
    ASSERT_TRUE(c().experiment.choosePreset("relational-games-same", "dat"));
    EXPECT_TRUE(about->text().startsWith("Dual attention"));
}

TEST_F(TourTest, AnErrorGoesWhenTheNextActionSucceeds) {
    EXPECT_FALSE(openRun("/nonexistent"));
    EXPECT_NE(window->errorBanner()->sentence(), "");
    c().messages.ok("Wrote a file");
    EXPECT_NE(window->errorBanner()->sentence(), "") << "it is not overwritten";
    const QString run = finishedRun();
    EXPECT_EQ(window->errorBanner()->sentence(), "") << "a start has succeeded";
    EXPECT_NE(window->status()->message(), "");
}

TEST(CheckpointTitles, AreDifferent) {
    const QStringList titles = checkpointTitles(
        {"/models/DAT-small/model.safetensors", "/models/DAT-large/model.safetensors",
         "/old/DAT-small/model.safetensors", "/models/vit", "/models/vit/model.safetensors",
         "/runs/text-dat-s0/checkpoints/step-300", "/more/text-dat-s0/checkpoints/step-300",
         "/w/net.pt"});
    EXPECT_EQ(titles[0], "models/DAT-small");
    EXPECT_EQ(titles[1], "DAT-large");
    EXPECT_EQ(titles[2], "old/DAT-small");
    EXPECT_EQ(titles[5], "runs/text-dat-s0, step-300");
    EXPECT_EQ(titles[7], "net.pt");
    EXPECT_EQ(QSet<QString>(titles.begin(), titles.end()).size(), titles.size());
}

TEST(StudiesFolder, IsBesideTheRuns) {
    const QByteArray runs = qgetenv("RELASCOPE_RUNS"), studies = qgetenv("RELASCOPE_STUDIES");
    qputenv("RELASCOPE_RUNS", "/somewhere/else/runs");
    EXPECT_EQ(StudyController().folder(), QString::fromUtf8(studies));
    qunsetenv("RELASCOPE_STUDIES");
    EXPECT_EQ(StudyController().folder(), "/somewhere/else/studies");
    qputenv("RELASCOPE_RUNS", runs);
    qputenv("RELASCOPE_STUDIES", studies);
}

TEST(ExitGuardDeathTest, EndsAProcessThatHangs) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            endProcessWithin(std::chrono::milliseconds(50), 0);
            for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
        },
        ::testing::ExitedWithCode(0), "did not stop");
}

}  // namespace
}  // namespace relascope
