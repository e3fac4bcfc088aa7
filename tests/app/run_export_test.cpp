// SPDX-License-Identifier: GPL-3.0-or-later
// Run > Export: what the window writes for other programs.
#include "app/run_export.h"

#include <QMenu>
#include <QSignalSpy>

#include "app/run_actions.h"
#include "files/atomic_file.h"
#include "run/run_export.h"
#include "tests/app/window_fixture.h"

namespace relascope {
namespace {

class RunExportTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        ASSERT_TRUE(out.isValid());
        exporter().askFile = [this](const QString&, const QString& suggested, const QString&) {
            asked = suggested;
            return to;
        };
    }
    RunExport& exporter() { return window->runActions().exporter(); }
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
    static std::string read(const QString& path) { return readTextFile(path.toStdString()); }

    QTemporaryDir out;
    QString to, asked;
};

TEST_F(RunExportTest, TheRunMenuWritesWhatTheCommandLineWrites) {
    const QString run = finishedRun();
    ASSERT_TRUE(waitUntil([&] { return c().selection.current() == run; }));
    to = at("points");
    EXPECT_EQ(pressed(command(QStringLiteral("Export points as CSV..."))),
              QString("Wrote %1.csv").arg(to));
    EXPECT_EQ(asked, QFileInfo(run).fileName() + QStringLiteral(".csv"));
    EXPECT_EQ(read(to + QStringLiteral(".csv")), metricsCsv(run.toStdString()));
    EXPECT_EQ(read(to + QStringLiteral(".csv")).rfind("split,step,epoch", 0), 0U);

    to = at("all.json");
    EXPECT_EQ(pressed(command(QStringLiteral("Export as JSON..."))), QString("Wrote %1").arg(to));
    EXPECT_EQ(read(to), runJson(run.toStdString()));
}

TEST_F(RunExportTest, OneRunIsWrittenAtATime) {
    const QString a = finishedRun(6), b = finishedRun(7);
    ASSERT_NE(a, b);
    ASSERT_TRUE(waitUntil([&] { return window->sidebar()->runs()->count() == 2; }));
    const auto menu = window->runActions().menu({a, b});
    for (const auto* text : {"Export points as CSV...", "Export as JSON..."}) {
        const QAction* one = entry(menu->actions(), QString::fromLatin1(text));
        ASSERT_NE(one, nullptr);
        EXPECT_FALSE(one->isEnabled());
        EXPECT_EQ(one->toolTip(), "Choose one run");
    }
    // By the menu bar, with the mouse.
    QAction* action = command(QStringLiteral("Export as JSON..."));
    ASSERT_NE(action, nullptr);
    to = at("second.json");
    auto* exports = qobject_cast<QMenu*>(action->parent());
    ASSERT_NE(exports, nullptr);
    EXPECT_EQ(exports->title(), "Export");
    QSignalSpy heard(&c().messages, &Messages::message);
    exports->popup(QPoint(60, 60));
    QTest::mouseClick(exports, Qt::LeftButton, Qt::NoModifier,
                      exports->actionGeometry(action).center());
    ASSERT_TRUE(waitUntil([&] { return !heard.isEmpty(); }));
    EXPECT_EQ(heard.last()[1].toString(), "Wrote " + to);
}

TEST_F(RunExportTest, WithoutARunTheMenuSaysWhy) {
    for (const auto* text : {"Export points as CSV...", "Export as JSON..."}) {
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
    for (const auto* text : {"Export points as CSV...", "Export as JSON..."}) {
        const QString said = pressed(command(QString::fromLatin1(text)));
        EXPECT_TRUE(said.contains(at("file"))) << text << ": " << said.toStdString();
        EXPECT_FALSE(exporter().task().busy());
    }
    // Nothing is chosen: nothing happens.
    QSignalSpy said(&c().messages, &Messages::message);
    to.clear();
    command(QStringLiteral("Export points as CSV..."))->trigger();
    EXPECT_FALSE(exporter().task().busy());
    EXPECT_TRUE(said.isEmpty());
}

}  // namespace
}  // namespace relascope
