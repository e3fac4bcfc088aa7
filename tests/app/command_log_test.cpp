// SPDX-License-Identifier: GPL-3.0-or-later
// The log of commands: what was trained, opened and measured in the window is a script that does it
// again.
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "app/command_log.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/atlas_page.h"
#include "files/program_folder.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "tests/app/window_fixture.h"

namespace relascope {
namespace {

class CommandLogTest : public WindowTest {};

TEST_F(CommandLogTest, IsAScriptThatDoesItAgain) {
    const QString path = finishedRun(12);
    window->showPage(PageId::Atlas);
    auto* page = qobject_cast<AtlasPage*>(window->page(PageId::Atlas));
    auto* atlas = page->tab("atlas");
    auto values = atlas->values();
    values["examples"] = std::int64_t{8};
    values["untrained"] = std::int64_t{0}, values["use_examples"] = std::int64_t{0};
    atlas->setValues(values);
    ASSERT_TRUE(waitUntil([&] { return atlas->missing().isEmpty(); }));
    QSignalSpy grown(&app::commandLog(), &CommandLog::changed);
    atlas->run();
    ASSERT_TRUE(waitUntil([&] { return grown.count() > 0; }, 60000));
    ASSERT_TRUE(openRun(path));

    QTemporaryDir again;
    const QString file = again.filePath(QStringLiteral("again.sh")),
                  copy = again.filePath(QStringLiteral("run"));
    QString error;
    ASSERT_TRUE(ScriptDialog::save(app::commandLog().script(), file, &error))
        << error.toStdString();
    EXPECT_TRUE(QFile::permissions(file).testFlag(QFile::ExeOwner));
    QFile script(file);
    ASSERT_TRUE(script.open(QFile::ReadOnly));
    QString text = QString::fromUtf8(script.readAll());
    script.close();
    // Other tests of this program have logged theirs.
    text = text.mid(text.lastIndexOf(QLatin1String("# Trained")));
    for (const char* part :
         {"relascope-cli train quick", "relascope-cli atlas", "--examples 8", "relascope-cli info"})
        EXPECT_TRUE(text.contains(QLatin1String(part))) << part << "\n" << text.toStdString();
    text.replace(path, copy);
    ASSERT_TRUE(script.open(QFile::WriteOnly));
    script.write(("set -e\n" + text).toUtf8());
    script.close();
    QProcess shell;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PATH"),
                       QString::fromStdString(core::programFolder().string()) + u':' +
                           environment.value(QStringLiteral("PATH")));
    shell.setProcessEnvironment(environment);
    shell.setProcessChannelMode(QProcess::MergedChannels);
    shell.start(QStringLiteral("/bin/sh"), {file});
    ASSERT_TRUE(shell.waitForFinished(120000));
    EXPECT_EQ(shell.exitCode(), 0) << shell.readAll().toStdString();
    // The run of the script is the run of the window.
    EXPECT_EQ(core::readRunOptions(copy.toStdString()), core::readRunOptions(path.toStdString()));
    const auto first = core::readMetrics(path.toStdString()),
               second = core::readMetrics(copy.toStdString());
    ASSERT_EQ(first.size(), second.size());
    EXPECT_EQ(first.back().value("loss"), second.back().value("loss"));
}

}  // namespace
}  // namespace relascope
