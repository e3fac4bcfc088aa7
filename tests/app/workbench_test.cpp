// SPDX-License-Identifier: GPL-3.0-or-later
#include <QMenu>
#include <QSignalSpy>
#include <atomic>

#include "app/pages/data_source.h"
#include "files/atomic_file.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "widgets/export/export.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"

namespace relascope {
namespace {

class WorkbenchTest : public WindowTest {};

TEST_F(WorkbenchTest, NothingThereSaysWhatToDoAndStartsTheQuickPreset) {
    EXPECT_EQ(c().selection.runs().size(), 0);
    ASSERT_TRUE(window->workbench()->emptyState()->isVisible());
    click(window->workbench()->emptyState()->button());
    EXPECT_TRUE(c().training.busy());
    EXPECT_EQ(c().training.options().preset, "quick");
    EXPECT_FALSE(window->workbench()->emptyState()->isVisible());
}

TEST_F(WorkbenchTest, ClickingStartTrainsWithCurvesAndRelations) {
    chooseTiny();
    ASSERT_TRUE(window->bar()->startButton()->isEnabled());
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(20));
    const QString path = c().training.run();
    EXPECT_EQ(c().selection.current(), path);
    EXPECT_FALSE(c().runs.records().points(path).empty());
    EXPECT_TRUE(curves()->csv().contains(QStringLiteral("quick-dat-s0")));
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    // The newest weights are followed.
    const auto first = inspector()->result()->step;
    EXPECT_TRUE(waitUntil([&] { return inspector()->result()->step > first; }));
    EXPECT_EQ(inspector()->result()->count(MapKind::Relation, 0), 1);
    EXPECT_FALSE(child<widgets::CapturesTrack>(window->workbench())->steps().empty());
    EXPECT_TRUE(waitUntil([this] { return window->sidebar()->runs()->count() == 1; }));
}

TEST_F(WorkbenchTest, PausedRunsAreLookedIntoStepByStep) {
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    click(window->bar()->startButton());
    ASSERT_TRUE(waitUntil([this] { return c().training.paused(); }));
    ASSERT_TRUE(child<QPushButton>(window->bar(), "Step")->isEnabled());
    ASSERT_TRUE(waitUntil([this] {
        return inspector()->result() && inspector()->result()->step == c().training.info().step;
    }));
    const auto before = c().training.info().step;
    click(child<QPushButton>(window->bar(), "Step"));
    ASSERT_TRUE(waitUntil([&] { return c().training.info().step == before + 1; }));
    EXPECT_TRUE(waitUntil([&] { return inspector()->result()->step == before + 1; }));
    EXPECT_TRUE(c().training.paused());
    click(window->bar()->startButton());
    EXPECT_TRUE(
        waitUntil([&] { return c().training.running() && c().training.info().step > before + 3; }));
}

TEST_F(WorkbenchTest, FinishedRunsAreOpenedAndTheCursorGoesBackInTime) {
    const QString path = finishedRun(12, false);  // captures alone
    ASSERT_TRUE(
        waitUntil([&] { return inspector()->result() && inspector()->result()->step == 12; }));
    // From the disk alone, as on another day.
    window = std::make_unique<MainWindow>(false);
    window->show();
    c().runs.setFolder(folder.path());
    ASSERT_TRUE(openRun(path));
    ASSERT_TRUE(
        waitUntil([&] { return inspector()->result() && inspector()->result()->step == 12; }));
    EXPECT_FALSE(c().runs.records().points(path).empty());
    ASSERT_GE(c().runs.records().captures(path).size(), 5U);
    EXPECT_EQ(child<widgets::CapturesTrack>(window->workbench())->steps(),
              c().runs.records().captures(path));

    Q_EMIT curves()->cursorMoved(3);
    ASSERT_TRUE(waitUntil([&] { return inspector()->result()->step == 3; }));
    EXPECT_EQ(child<widgets::CapturesTrack>(window->workbench())->chosen(),
              std::optional<qint64>(3));
    EXPECT_EQ(inspector()->sourcePane()->samples()->split(), QStringLiteral("captured"));
    EXPECT_EQ(curves()->cursorStep(), std::optional<qint64>(3));
    // Captures are of a few inputs; another one is shown on demand.
    const auto shown = inspector()->result()->sample.origin;
    inspector()->sourcePane()->next();
    EXPECT_TRUE(waitUntil([&] { return inspector()->result()->sample.origin != shown; }));
    Q_EMIT child<widgets::CapturesTrack>(window->workbench())->liveRequested();
    EXPECT_TRUE(waitUntil([&] { return inspector()->result()->step == 12; }));
    EXPECT_EQ(inspector()->sourcePane()->samples()->split(), QStringLiteral("validation"));
}

TEST_F(WorkbenchTest, SamplesAreChosenByNumberChanceAndLabel) {
    finishedRun();
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    Q_EMIT inspector()->sourcePane()->samples()->sampleRequested(QStringLiteral("hexos"), 7);
    ASSERT_TRUE(waitUntil(
        [this] { return inspector()->result()->sample.origin.find(" 7") != std::string::npos; }));
    EXPECT_EQ(c().selection.split(), QStringLiteral("hexos"));
    Q_EMIT inspector()->sourcePane()->samples()->labelRequested(QStringLiteral("hexos"), 1, true);
    ASSERT_TRUE(waitUntil([this] { return c().selection.sample() != 7; }));
    EXPECT_TRUE(waitUntil([this] { return inspector()->result()->sample.label == 1; }));
    c().runInput.chooseRandom(QStringLiteral("stripes"), 0);
    EXPECT_TRUE(waitUntil([this] {
        return c().selection.split() == "stripes" && inspector()->result()->sample.label == 0;
    }));
}

TEST_F(WorkbenchTest, ALabelIsSearchedForBesideTheMapsAndCancelled) {
    // A search among ten million images takes minutes, and finds none with that label.
    const QString run = finishedRun();
    const QString large = folder.filePath("large");
    std::filesystem::copy(run.toStdString(), large.toStdString(),
                          std::filesystem::copy_options::recursive);
    const std::string file = large.toStdString() + "/run.json";
    std::string text = readTextFile(file);
    const std::string size = "\"test_size\": 16";
    ASSERT_NE(text.find(size), std::string::npos) << text;
    text.replace(text.find(size), size.size(), "\"test_size\": 10000000");
    writeTextFile(file, text);
    ASSERT_TRUE(openRun(large));
    ASSERT_TRUE(waitUntil([this] {
        return inspector()->result() && c().runEdits.points() && c().runInput.data() &&
               c().runInput.data()->find("stripes")->info.size == 10'000'000;
    }));
    auto* strip = window->workbench()->findChild<app::JobStrip*>(QStringLiteral("search"));
    strip->setDelay(0);
    const auto begin = [&] {
        Q_EMIT inspector()->sourcePane()->samples()->labelRequested("stripes", 7, true);
        return waitUntil([&] {
            return c().runInput.search().busy() && c().runInput.search().job()->fraction > 0.0;
        });
    };
    ASSERT_TRUE(begin()) << "no example has this label";
    Edit zero;
    zero.point = "blocks.0.rel.hook_r";
    c().runEdits.add({zero}, {});
    EXPECT_TRUE(waitUntil([this] { return inspector()->edited(); })) << "the maps do not wait";
    EXPECT_TRUE(waitUntil([&] { return strip->isVisible(); }));
    click(strip->cancelButton());
    EXPECT_FALSE(c().runInput.search().busy());
    EXPECT_FALSE(strip->isVisible());
    // Another choice ends it, too.
    ASSERT_TRUE(begin());
    Q_EMIT inspector()->sourcePane()->samples()->sampleRequested("hexos", 7);
    EXPECT_FALSE(c().runInput.search().busy());
    EXPECT_TRUE(waitUntil([this] { return inspector()->result()->sample.origin.ends_with(" 7"); }));
    EXPECT_EQ(c().selection.split(), QStringLiteral("hexos"));
}

TEST_F(WorkbenchTest, DroppedPicturesAreFittedAndBadOnesExplained) {
    finishedRun();
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    const QString file = folder.path() + "/photo.png";
    QImage picture(200, 150, QImage::Format_RGB32);
    picture.fill(Qt::red);
    ASSERT_TRUE(picture.save(file));
    Q_EMIT inspector()->imageDropped(file);
    ASSERT_TRUE(waitUntil([this] { return inspector()->result()->sample.origin == "photo.png"; }));
    EXPECT_EQ(inspector()->result()->sample.image.width, 36);

    QSignalSpy said(&c().messages, &Messages::message);
    const QString text = folder.path() + "/notes.txt";
    QFile(text).open(QIODevice::WriteOnly);
    Q_EMIT inspector()->imageDropped(text);
    ASSERT_TRUE(waitUntil([&] { return !said.isEmpty(); }));
    EXPECT_EQ(said.last().at(0).value<MessageLevel>(), MessageLevel::Error);
    EXPECT_TRUE(said.last().at(1).toString().contains(QStringLiteral("notes.txt")));
}

TEST_F(WorkbenchTest, EveryViewIsSavedInEveryForm) {
    finishedRun();
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    int views = 0;
    for (auto* view : window->workbench()->findChildren<ViewMenu*>()) {
        ++views;
        QStringList endings{"png", "svg", "pdf"};
        for (const auto* action : view->menu()->actions())
            if (action->text().startsWith(QLatin1String("CSV"))) endings << "csv";
        for (const auto& ending : endings) {
            const QString path = folder.path() + QString("/view-%1.%2").arg(views).arg(ending);
            view->askPath = [path](const QString&, const QString&, const QString&) { return path; };
            view->save(ending);
            EXPECT_GT(QFileInfo(path).size(), 20) << path.toStdString();
        }
    }
    EXPECT_GE(views, 5);  // curves, sample, map, maps of the layer, the whole inspector
}

}  // namespace
}  // namespace relascope
