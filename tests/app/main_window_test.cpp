// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemView>
#include <QComboBox>
#include <QFileInfo>
#include <QFocusEvent>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
#include <cerrno>

#include "app/launch.h"
#include "app/screenshot.h"
#include "run/run_folder.h"
#include "support/failing_calls.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"

namespace relascope {
namespace {

class MainWindowTest : public WindowTest {};

TEST_F(MainWindowTest, KeysSteerTrainingAndInspector) {
    chooseTiny();
    QTest::keyClick(window.get(), Qt::Key_Space);
    ASSERT_TRUE(trains(3));
    QTest::keyClick(window.get(), Qt::Key_Space);
    ASSERT_TRUE(waitUntil([this] { return c().training.paused(); }));
    const auto step = c().training.info().step;
    QTest::keyClick(window.get(), Qt::Key_N);
    EXPECT_TRUE(waitUntil([&] { return c().training.info().step == step + 1; }));
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    QTest::keyClick(window.get(), Qt::Key_3);
    EXPECT_EQ(inspector()->view().kind, MapKind::SensoryAttention);
    QTest::keyClick(window.get(), Qt::Key_1);
    EXPECT_EQ(inspector()->view().kind, MapKind::Relation);
    QTest::keyClick(window.get(), Qt::Key_Up);
    EXPECT_EQ(inspector()->view().layer, 1);
    QTest::keyClick(window.get(), Qt::Key_Down);
    EXPECT_EQ(inspector()->view().layer, 0);
    QTest::keyClick(window.get(), Qt::Key_D);
    EXPECT_TRUE(inspector()->view().reversed);
    EXPECT_EQ(inspector()->view().processing, Processing::Raw);
    EXPECT_TRUE(inspector()->view().robust);
    QTest::keyClick(window.get(), Qt::Key_P);
    EXPECT_EQ(inspector()->view().processing, Processing::Tanh);
    QTest::keyClick(window.get(), Qt::Key_A);
    EXPECT_TRUE(inspector()->view().allLayers);
    QTest::keyClick(window.get(), Qt::Key_T);
    EXPECT_FALSE(inspector()->reading()) << "an image is no text";
    QTest::keyClick(window.get(), Qt::Key_L);
    EXPECT_TRUE(curves()->options().logY);
}

struct Relayouts : QObject {
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::LayoutRequest) {
            ++count;
            last = QString::fromLatin1(watched->metaObject()->className());
        }
        return false;
    }
    int count = 0;
    QString last;
};

// A widget whose layout asks for another one keeps a core at work as long as it is shown.
TEST_F(MainWindowTest, AWindowThatIsLeftAloneLaysOutNothing) {
    const QString run = finishedRun();
    ASSERT_TRUE(openRun(run));
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    for (const PageId id : {PageId::Workbench, PageId::Compare, PageId::Study, PageId::Data,
                            PageId::Checkpoint, PageId::Atlas, PageId::Duel, PageId::Measure})
        for (int width = 1500; width >= 1000; width -= 100) {
            window->resize(width, 860);
            window->showPage(id);
            Relayouts relayouts;
            const auto quiet = [&] {
                relayouts.count = 0;
                QTest::qWait(60);
                return relayouts.count == 0;
            };
            qApp->installEventFilter(&relayouts);
            EXPECT_TRUE(waitUntil(quiet, 8000))
                << static_cast<int>(id) << " at " << width << ": " << relayouts.last.toStdString();
            qApp->removeEventFilter(&relayouts);
        }
}

TEST_F(MainWindowTest, SpacePressesTheFocusedButtonAlsoAfterAMenu) {
    chooseTiny();
    window->showOptions(true);
    QComboBox* box = nullptr;
    for (auto* one : window->findChildren<QComboBox*>())
        if (one->isVisible() && one->isEnabled()) box = one;
    ASSERT_TRUE(box);
    box->setFocus(Qt::TabFocusReason);
    ASSERT_TRUE(box->hasFocus());
    // A menu opens and closes, or another window does.
    for (const auto reason :
         {Qt::PopupFocusReason, Qt::ActiveWindowFocusReason, Qt::MenuBarFocusReason}) {
        QFocusEvent back(QEvent::FocusIn, reason);
        QApplication::sendEvent(box, &back);
        QTest::keyClick(box, Qt::Key_Space);
        EXPECT_FALSE(c().training.busy()) << reason;
        QTest::keyClick(box->view(), Qt::Key_Escape);
    }
}

TEST_F(MainWindowTest, EveryViewOfThePageBecomesAFigure) {
    finishedRun(20);
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    const QString run = QString::fromStdString(c().runs.info(c().selection.current())->name);
    const QStringList files = window->exporter().exportAllViews(folder.filePath("figures"));
    const auto wrote = [&](const QString& name) {
        return files.contains(folder.filePath("figures/" + run + name)) &&
               QFileInfo(folder.filePath("figures/" + run + name)).size() > 100;
    };
    EXPECT_TRUE(wrote("_curves.pdf") && wrote("_curves.png") && wrote("_curves.tex") &&
                wrote("_curves.csv"))
        << files.join('\n').toStdString();
    const auto step = inspector()->result()->step;
    EXPECT_TRUE(wrote(QString("_step%1_layer1_relation1.pdf").arg(step)))
        << files.join('\n').toStdString();
    EXPECT_TRUE(wrote(QString("_step%1_layer1_maps.pdf").arg(step)));
}

TEST_F(MainWindowTest, FitsASmallScreen) {
    const QSize room(1064, 626);  // 1600 x 1000 at 150 %, less the frame and a task bar
    window->fitTo(room);
    EXPECT_LE(window->width(), room.width());
    EXPECT_LE(window->height(), room.height());
    EXPECT_LE(window->minimumHeight(), room.height());
    window->fitTo({5000, 5000});
    EXPECT_LE(window->width(), room.width()) << "never made larger";
}

TEST_F(MainWindowTest, KeysAreTextWhileTyping) {
    chooseTiny();
    auto* search = window->sidebar()->searchField();
    search->setFocus();
    ASSERT_TRUE(waitUntil([&] { return search->hasFocus(); }));
    for (const auto key : {Qt::Key_D, Qt::Key_P, Qt::Key_1, Qt::Key_Space, Qt::Key_L, Qt::Key_N})
        QTest::keyClick(search, key);
    EXPECT_EQ(search->text(), QStringLiteral("dp1 ln"));
    EXPECT_FALSE(c().training.busy());
    EXPECT_FALSE(curves()->options().logY);
}

TEST_F(MainWindowTest, EveryEntrySaysWhatItDoesOrWhyItIsOff) {
    for (const auto* action : window->commands()) {
        EXPECT_FALSE(action->toolTip().isEmpty()) << action->text().toStdString();
        EXPECT_FALSE(action->text().isEmpty());
    }
    EXPECT_GE(window->commands().size(), 35);
}

TEST_F(MainWindowTest, ClosingWhileTrainingAsksAndSavesACheckpoint) {
    chooseTiny();
    c().experiment.start();
    ASSERT_TRUE(trains(3));
    const std::string path = c().training.run().toStdString();
    int asked = 0;
    window->confirmClose = [&] {
        return ++asked > 1 ? MainWindow::Closing::StopFirst : MainWindow::Closing::Stay;
    };
    window->close();
    EXPECT_TRUE(window->isVisible());
    EXPECT_TRUE(c().training.busy());
    window->close();
    EXPECT_TRUE(waitUntil([this] { return !window->isVisible(); }));
    EXPECT_FALSE(c().training.busy());
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(readRunInfo(path).state, RunState::Interrupted);
    EXPECT_FALSE(std::filesystem::is_empty(path + "/checkpoints"));
}

TEST_F(MainWindowTest, ThemesChangeTheWholeWindow) {
    QTest::qWait(50);  // laid out and shown
    window->setTheme(ThemeMode::Dark);
    QTest::qWait(50);  // widgets hear of it by posted events
    const QColor dark = window->grab().toImage().pixelColor(20, 400);
    window->setTheme(ThemeMode::Light);
    QTest::qWait(50);
    const QColor light = window->grab().toImage().pixelColor(20, 400);
    EXPECT_LT(dark.lightness(), 80);
    EXPECT_GT(light.lightness(), 200);
}

TEST_F(MainWindowTest, WhatIsNoRunIsRefusedInWords) {
    QString said;
    QObject::connect(&c().messages, &Messages::message, window.get(),
                     [&](MessageLevel, const QString& sentence) { said = sentence; });
    EXPECT_FALSE(openRun(folder.path()));
    EXPECT_TRUE(said.contains(folder.path()));
}

TEST_F(MainWindowTest, TheSessionComesBack) {
    const QString path = finishedRun();
    window.reset();
    {
        MainWindow first(true);
        first.controllers().runs.setFolder(folder.path());
        first.show();
        ASSERT_TRUE(openRunIn(first, path));
        auto* inspector = first.workbench()->inspector();
        ASSERT_TRUE(waitUntil([&] { return inspector->result() != nullptr; }));
        inspector->stepLayer(1);
        inspector->toggleDirection();
        InspectorView view = inspector->view();
        view.allLayers = true;
        view.order = MapOrder::Spread;
        view.reading = ReadingLayout::Off;
        first.controllers().selection.setView(view);
        first.setTheme(ThemeMode::Dark);
        first.close();
    }
    MainWindow second(true);
    second.controllers().runs.setFolder(folder.path());
    second.show();
    EXPECT_EQ(second.theme(), ThemeMode::Dark);
    EXPECT_EQ(second.opener().recentRuns().value(0), path);
    ASSERT_TRUE(waitUntil([&] { return second.controllers().selection.current() == path; }));
    ASSERT_TRUE(waitUntil([&] { return second.workbench()->inspector()->result() != nullptr; }));
    EXPECT_EQ(second.workbench()->inspector()->view().layer, 1);
    EXPECT_TRUE(second.workbench()->inspector()->view().reversed);
    EXPECT_TRUE(second.workbench()->inspector()->view().allLayers);
    EXPECT_EQ(second.workbench()->inspector()->view().order, MapOrder::Spread);
    EXPECT_EQ(second.workbench()->inspector()->view().reading, ReadingLayout::Off);
    second.setTheme(ThemeMode::Light);
    QSettings().clear();
}

TEST_F(MainWindowTest, TheLookComesBackWithoutARun) {
    window.reset();
    const auto wanted = InspectorView().with(&InspectorView::order, MapOrder::Spread);
    {
        MainWindow first(true);
        first.controllers().runs.setFolder(folder.path());
        first.show();
        ASSERT_TRUE(first.controllers().selection.current().isEmpty());
        first.controllers().selection.setView(wanted);
        first.close();
    }
    MainWindow second(true);
    EXPECT_EQ(second.controllers().selection.view(), wanted);
    QSettings().clear();
}

TEST_F(MainWindowTest, ScreenshotsHaveTheSizeAskedFor) {
    Launch launch;
    launch.screenshot = folder.path() + "/window.png";
    launch.size = {1200, 760};
    launch.train = "quick";
    launch.options = tinyOptions();
    launch.afterSteps = 10;
    Screenshot screenshot(*window, launch);
    bool done = false;
    QObject::connect(&screenshot, &Screenshot::done, window.get(), [&] { done = true; });
    screenshot.begin();
    ASSERT_TRUE(waitUntil([&] { return done; }, 60000));
    EXPECT_EQ(screenshot.exitCode(), 0);
    EXPECT_EQ(QImage(launch.screenshot).size(), launch.size);
    EXPECT_FALSE(c().training.busy());
}

TEST_F(MainWindowTest, ARunWithoutWeightsHasAScreenshot) {
    Launch launch;
    launch.screenshot = folder.path() + "/window.png";
    launch.run = folder.path() + "/short";
    {
        auto run = core::RunFolder::create(launch.run.toStdString(), tinyOptions());
        run.info().state = RunState::Running;  // and killed
        run.saveInfo();
    }
    Screenshot screenshot(*window, launch);
    bool done = false;
    QObject::connect(&screenshot, &Screenshot::done, window.get(), [&] { done = true; });
    screenshot.begin();
    ASSERT_TRUE(waitUntil([&] { return done; }, 30000));
    EXPECT_EQ(screenshot.exitCode(), 0);
    EXPECT_FALSE(QImage(launch.screenshot).isNull());
}

TEST(Launch, WordsOfTheWindowAreRead) {
    int exit = -1;
    auto launch = parseLaunch(
        {"relascope", "train", "quick", "--set", "train.epochs=3", "--seed", "7"}, &exit);
    ASSERT_TRUE(launch && launch->options);
    EXPECT_EQ(launch->options->train.epochs, 3);
    EXPECT_EQ(launch->options->train.seeds, std::vector<std::int64_t>{7});
    // Sizes of the model follow the data, as with relascope-cli.
    launch = parseLaunch({"relascope", "train", "sort-argsort", "--set", "data.longest=12"}, &exit);
    ASSERT_TRUE(launch && launch->options);
    EXPECT_GE(launch->options->model.number("in_block_size"), 12);
    // A checkpoint to start from gives its model.
    const std::string gpt2 = std::string(RELASCOPE_FIXTURES) + "/golden/public/gpt2_tied";
    launch = parseLaunch(
        {"relascope", "train", "text", "--set", QString::fromStdString("train.init_from=" + gpt2)},
        &exit);
    ASSERT_TRUE(launch && launch->options);
    EXPECT_EQ(launch->options->train.init_from, gpt2);
    EXPECT_EQ(launch->options->model.number("d_model"), 32);
    launch = parseLaunch(
        {"relascope", "--screenshot", "a.png", "--size", "800x600", "--theme", "dark"}, &exit);
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->train, QStringLiteral("quick"));
    EXPECT_EQ(launch->size, QSize(800, 600));
    for (const QStringList& bad : {QStringList{"train", "quik"},
                                   {"--size", "huge"},
                                   {"--theme", "pink"},
                                   {"nowhere"},
                                   {"--wrong"},
                                   {"train"}}) {
        exit = -1;
        EXPECT_FALSE(parseLaunch(QStringList{"relascope"} + bad, &exit));
        EXPECT_EQ(exit, 2) << bad.join(' ').toStdString();
    }
    exit = -1;
    EXPECT_FALSE(parseLaunch({"relascope", "--help"}, &exit));
    EXPECT_EQ(exit, 0);
}

}  // namespace
}  // namespace relascope
