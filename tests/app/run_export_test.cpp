// SPDX-License-Identifier: GPL-3.0-or-later
// Run > Export: what the window writes for other programs, and its pictures of maps.
#include "app/run_export.h"

#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QSignalSpy>
#include <cmath>

#include "app/cli/capture_thread.h"
#include "app/pages/data_source.h"
#include "app/run_actions.h"
#include "files/atomic_file.h"
#include "run/capture_maps.h"
#include "run/captures.h"
#include "run/run_export.h"
#include "tests/app/window_fixture.h"
#include "widgets/inspector/view_maps.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

class RunExportTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        ASSERT_TRUE(out.isValid());
        exporter().askFolder = [this](const QString&, const QString&) { return to; };
        exporter().askFile = [this](const QString&, const QString& suggested, const QString&) {
            asked = suggested;
            return to;
        };
    }
    RunExport& exporter() { return window->runActions().exporter(); }
    JobStrip* strip() { return window->findChild<JobStrip*>(QStringLiteral("runExport")); }
    QString at(const QString& name) const { return out.filePath(name); }
    /// An entry of the Run menu, or of the menu of a run, with those of its submenus.
    static QAction* entry(const QList<QAction*>& actions, const QString& text) {
        for (QAction* action : actions) {
            if (action->text() == text) return action;
            if (!action->menu()) continue;
            if (QAction* inside = entry(action->menu()->actions(), text)) return inside;
        }
        return nullptr;
    }
    QAction* command(const QString& text) { return entry(window->commands(), text); }
    /// Presses the entry and waits for what is said; empty if it cannot be pressed.
    QString pressed(QAction* action) {
        if (!action || !action->isEnabled()) return {};
        QSignalSpy said(&c().messages, &Messages::message);
        action->trigger();
        EXPECT_TRUE(waitUntil([&] { return !said.isEmpty(); }));
        return said.isEmpty() ? QString() : said.last()[1].toString();
    }
    /// The event file of a run in a folder.
    static QString eventFile(const QString& folder, const QString& run) {
        const auto files = QDir(folder + u'/' + QFileInfo(run).fileName())
                               .entryList({QStringLiteral("events.out.tfevents.*.relascope")});
        return files.size() == 1 ? folder + u'/' + QFileInfo(run).fileName() + u'/' + files.first()
                                 : QString();
    }
    static std::string read(const QString& path) { return readTextFile(path.toStdString()); }

    QTemporaryDir out;
    QString to, asked;
};

TEST_F(RunExportTest, TheRunMenuWritesWhatTheCommandLineWrites) {
    const QString run = finishedRun();
    ASSERT_TRUE(waitUntil([&] { return c().selection.current() == run; }));
    to = at("board");
    const QString said = pressed(command(QStringLiteral("Export for TensorBoard...")));
    const QString file = eventFile(to, run);
    ASSERT_FALSE(file.isEmpty()) << said.toStdString();
    EXPECT_EQ(said, QString("Wrote %1; tensorboard --logdir %2 shows it").arg(file, to));
    const auto again = exportTensorBoard(run.toStdString(), at("again").toStdString());
    EXPECT_GT(again.images, 20);
    EXPECT_EQ(read(file), readTextFile(again.path));

    to = at("points");
    EXPECT_EQ(pressed(command(QStringLiteral("Export points as CSV..."))),
              QString("Wrote %1.csv").arg(to));
    EXPECT_EQ(asked, QFileInfo(run).fileName() + QStringLiteral(".csv"));
    EXPECT_EQ(read(to + QStringLiteral(".csv")), metricsCsv(run.toStdString()));
    EXPECT_EQ(read(to + QStringLiteral(".csv")).rfind("split,step,epoch", 0), 0U);

    to = at("all.json");
    EXPECT_EQ(pressed(command(QStringLiteral("Export as JSON..."))), QString("Wrote %1").arg(to));
    EXPECT_EQ(read(to), runJson(run.toStdString()));
    EXPECT_FALSE(strip()->isVisible());
}

TEST_F(RunExportTest, SelectedRunsGoToTensorBoardTogether) {
    const QString a = finishedRun(6), b = finishedRun(7);
    ASSERT_NE(a, b);
    ASSERT_TRUE(waitUntil([&] { return window->sidebar()->runs()->count() == 2; }));
    to = at("board");
    const auto menu = window->runActions().menu({a, b});
    const QString said =
        pressed(entry(menu->actions(), QStringLiteral("Export 2 runs for TensorBoard...")));
    EXPECT_EQ(said, QString("Wrote 2 runs into %1; tensorboard --logdir %1 shows them").arg(to));
    EXPECT_FALSE(eventFile(to, a).isEmpty());
    EXPECT_FALSE(eventFile(to, b).isEmpty());
    for (const auto* text : {"Export points as CSV...", "Export as JSON..."}) {
        const QAction* one = entry(menu->actions(), QString::fromLatin1(text));
        ASSERT_NE(one, nullptr);
        EXPECT_FALSE(one->isEnabled());
        EXPECT_EQ(one->toolTip(), "Choose one run");
    }
    // The same by the menu bar, with the mouse.
    c().selection.setRuns({a, b});
    QAction* action = command(QStringLiteral("Export 2 runs for TensorBoard..."));
    ASSERT_NE(action, nullptr);
    to = at("second");
    auto* exports = qobject_cast<QMenu*>(action->parent());
    ASSERT_NE(exports, nullptr);
    EXPECT_EQ(exports->title(), "Export");
    QSignalSpy heard(&c().messages, &Messages::message);
    exports->popup(QPoint(60, 60));
    QTest::mouseClick(exports, Qt::LeftButton, Qt::NoModifier,
                      exports->actionGeometry(action).center());
    ASSERT_TRUE(waitUntil([&] { return !heard.isEmpty(); }));
    EXPECT_TRUE(heard.last()[1].toString().startsWith("Wrote 2 runs into " + to));
    c().selection.setRuns({a});
    EXPECT_NE(command(QStringLiteral("Export for TensorBoard...")), nullptr);
}

TEST_F(RunExportTest, WithoutARunTheMenuSaysWhy) {
    for (const auto* text :
         {"Export for TensorBoard...", "Export points as CSV...", "Export as JSON..."}) {
        const QAction* action = command(QString::fromLatin1(text));
        ASSERT_NE(action, nullptr) << text;
        EXPECT_FALSE(action->isEnabled());
        EXPECT_EQ(action->toolTip(), "Choose a run first");
    }
}

TEST_F(RunExportTest, AFolderThatCannotBeWrittenIsSaidInASentence) {
    const QString run = finishedRun(4);
    ASSERT_TRUE(waitUntil([&] { return c().selection.current() == run; }));
    writeTextFile(at("file").toStdString(), "");
    to = at("file/inside");
    for (const auto* text :
         {"Export for TensorBoard...", "Export points as CSV...", "Export as JSON..."}) {
        const QString said = pressed(command(QString::fromLatin1(text)));
        EXPECT_TRUE(said.contains(at("file"))) << text << ": " << said.toStdString();
        EXPECT_FALSE(exporter().task().busy());
    }
    // Nothing is chosen: nothing happens.
    QSignalSpy said(&c().messages, &Messages::message);
    to.clear();
    command(QStringLiteral("Export for TensorBoard..."))->trigger();
    command(QStringLiteral("Export points as CSV..."))->trigger();
    EXPECT_FALSE(exporter().task().busy());
    EXPECT_TRUE(said.isEmpty());
}

TEST_F(RunExportTest, ALongExportShowsItsProgressAndCanBeCancelled) {
    const QString run = finishedRun(4);
    ASSERT_TRUE(waitUntil([&] { return c().selection.current() == run; }));
    const std::string captures = run.toStdString() + "/captures/step-";
    for (int step = 10; step < 2000; ++step)
        std::filesystem::copy_file(captures + "4.safetensors",
                                   captures + std::to_string(step) + ".safetensors");
    strip()->setDelay(0);
    to = at("board");
    command(QStringLiteral("Export for TensorBoard..."))->trigger();
    ASSERT_TRUE(waitUntil([&] { return strip()->isVisible() && strip()->bar()->value() > 0; }));
    const QAction* action = command(QStringLiteral("Export for TensorBoard..."));
    EXPECT_FALSE(action->isEnabled());
    EXPECT_EQ(action->toolTip(), "Wait until the export has ended");
    QSignalSpy said(&c().messages, &Messages::message);
    click(strip()->cancelButton());
    EXPECT_FALSE(strip()->isVisible());
    EXPECT_TRUE(action->isEnabled());
    // The next export comes after the end of this one, which has left no file.
    to = at("points.csv");
    EXPECT_EQ(pressed(command(QStringLiteral("Export points as CSV..."))),
              QString("Wrote %1").arg(to));
    EXPECT_TRUE(QDir(at("board/") + QFileInfo(run).fileName()).isEmpty());
    EXPECT_EQ(said.size(), 1) << said.first()[1].toString().toStdString();
}

TEST_F(RunExportTest, ACaptureThatCannotBeReadIsNamed) {
    const QString run = finishedRun(4);
    ASSERT_TRUE(waitUntil([&] { return c().selection.current() == run; }));
    writeTextFile(run.toStdString() + "/captures/step-2.safetensors", "x");
    to = at("board");
    QSignalSpy said(&c().messages, &Messages::message);
    const QString text = pressed(command(QStringLiteral("Export for TensorBoard...")));
    EXPECT_TRUE(text.startsWith("Wrote ")) << text.toStdString();
    EXPECT_TRUE(text.contains("without the images of step 2: ")) << text.toStdString();
    EXPECT_EQ(said.last()[0].value<MessageLevel>(), MessageLevel::Warning);
}

TEST_F(RunExportTest, ItsPicturesAreThoseOfTheInspector) {
    const std::string captures = finishedRun(8).toStdString() + "/captures";
    window->setTheme(ThemeMode::Light);
    int sheets = 0;
    CaptureSheets(captures, 8).draw([&](const MapSheet& sheet) {
        const auto sample = sheets / 6;  // two layers with three kinds of maps
        const auto result = std::make_shared<const ProbeResult>(loadCapture(captures, 8, sample));
        ViewMaps maps;
        maps.setResult(result);
        InspectorView view;
        view.kind = sheet.name.starts_with("relations")    ? MapKind::Relation
                    : sheet.name.starts_with("relational") ? MapKind::RelationalAttention
                                                           : MapKind::SensoryAttention;
        view.layer = sheets % 2;
        EXPECT_TRUE(sheet.name.ends_with("layer " + std::to_string(view.layer + 1) + "/" +
                                         result->sample.origin))
            << sheet.name;
        const ColorScale scale = maps.scale(view);
        EXPECT_EQ(scale.limits(), sheet.limits) << sheet.name;
        const int count = maps.count(view.kind, view.layer);
        EXPECT_EQ(count, sheet.maps);
        const int across = static_cast<int>(std::ceil(std::sqrt(count)));
        int wrong = 0;
        for (view.index = 0; view.index < count; ++view.index) {
            const QImage cells = cellImage(maps.values(view), scale);
            const int square = (kLeastSide + cells.width() - 1) / cells.width();
            const int left = view.index % across * (cells.width() * square + kSheetGap),
                      top = view.index / across * (cells.height() * square + kSheetGap);
            for (int y = 0; y < cells.height() * square; ++y)
                for (int x = 0; x < cells.width() * square; ++x) {
                    const auto at = sheet.image.index(top + y, left + x, 0);
                    const auto* pixel = sheet.image.pixels.data() + at;
                    wrong +=
                        qRgb(pixel[0], pixel[1], pixel[2]) != cells.pixel(x / square, y / square);
                }
        }
        EXPECT_EQ(wrong, 0) << sheet.name;
        ++sheets;
        return true;
    });
    EXPECT_EQ(sheets, 24) << "of four captured images";
}

// What a resumed run repeats is drawn once: the capture that it writes again.
TEST_F(RunExportTest, CapturesOfRepeatedStepsAreForgotten) {
    const std::string run = finishedRun(8).toStdString();
    const auto always = [] { return true; };
    cli::CaptureThread thread(run);
    for (const std::int64_t step : {1, 2, 3, 4, 5}) thread.add(step, 100.0);
    thread.forgetAfter(2);
    thread.add(3, 200.0);
    std::string records;
    auto drawn = thread.take();
    records += drawn.records;
    records += thread.finish().records;
    CaptureRecords wanted(run + "/captures");
    EXPECT_EQ(records, wanted.of(1, 100.0, always) + wanted.of(2, 100.0, always) +
                           wanted.of(3, 200.0, always));
    thread.add(99, 300.0);
    const auto missing = thread.finish();
    EXPECT_TRUE(missing.records.empty());
    ASSERT_EQ(missing.remarks.size(), 1U);
    thread.add(4, 300.0);  // not waited for
}

}  // namespace
}  // namespace relascope
