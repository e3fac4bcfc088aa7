// SPDX-License-Identifier: GPL-3.0-or-later
// The dialog of other machines: what is typed, what is refused, and what a test of one shows.
#include "app/pages/hosts_dialog.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <QCheckBox>
#include <QCompleter>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QTest>
#include <QToolButton>
#include <cstdlib>
#include <filesystem>

#include "app/controllers/hosts_controller.h"
#include "app/pages/data_source.h"
#include "app/pages/host_check.h"
#include "files/atomic_file.h"
#include "options/builtin_resources.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "tests/widgets/child.h"
#include "types/text_format.h"
#include "widgets/help/document_viewer.h"
#include "widgets/theme/controls.h"
#include "wire/child_process.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;

TEST(SshHosts, AreNamesWithoutPatterns) {
    EXPECT_EQ(sshHosts(QStringLiteral("# Host none\n"
                                      "Host gpu1 gpu2 \"gpu 3\"\n"
                                      "  HostName 192.0.2.1\n"
                                      "host=login\n"
                                      "HOST *.example.org !bad ne?t cluster # a remark\n"
                                      "Host gpu1 -oProxyCommand=x\n"
                                      "Host *\n"
                                      "HostKeyAlias a\n"
                                      "Match host b\n"
                                      "\tHost\tlast\r\n")),
              (QStringList{"gpu1", "gpu2", "gpu 3", "login", "cluster", "last"}));
    EXPECT_TRUE(sshHosts({}).isEmpty());
}

class HostsDialogTest : public ::testing::Test {
protected:
    void SetUp() override {
        fs::create_directories(home / "far/bin");
        fs::create_directories(home / "far/runs");
        fs::create_directories(home / "here/.ssh");
        fs::create_symlink(RELASCOPE_BIN "/relascope-cli", home / "far/bin/relascope-cli");
        core::writeTextFile(home / "here/.ssh/config", "Host gpu1 login\nHost *\n");
        oldHome = std::getenv("HOME") ? std::getenv("HOME") : "";
        setenv("HOME", (home / "here").c_str(), 1);
        setenv("XDG_CACHE_HOME", (home / "cache").c_str(), 1);
        open();
    }
    void TearDown() override {
        dialog.reset();
        hosts->setHosts({});
        hosts.reset();
        setenv("HOME", oldHome.c_str(), 1);
        unsetenv("XDG_CACHE_HOME");
    }
    void open() {
        dialog.reset();
        dialog = std::make_unique<HostsDialog>(*hosts);
        dialog->show();
    }
    QString reach(const std::string& first = {}) const {
        return QString::fromStdString("env HOME=" + (home / "far") + " PATH=" + (home / "far/bin") +
                                      ":/usr/bin:/bin sh -c " + shellWord(first + "exec \"$@\"") +
                                      " reach");
    }
    QLineEdit* edit(const char* name) { return child<QLineEdit>(*dialog, name); }
    void type(const char* name, const QString& text) {
        edit(name)->setFocus();
        edit(name)->selectAll();
        text.isEmpty() ? QTest::keyClick(edit(name), Qt::Key_Delete)
                       : QTest::keyClicks(edit(name), text);
    }
    void press(const char* button) {
        for (auto* found : dialog->findChildren<QAbstractButton*>())
            if (found->isVisible() && found->isEnabled() &&
                (found->text() == QLatin1String(button) ||
                 found->accessibleName() == QLatin1String(button)))
                return QTest::mouseClick(found, Qt::LeftButton);
        ADD_FAILURE() << "no button " << button;
    }
    void add(const QString& name, const QString& reach = {}) {
        press("Add a machine");
        type("Name", name);
        if (!reach.isEmpty()) type("Reach", reach);
    }
    QStringList problems() {
        QStringList all;
        for (auto* note : dialog->findChildren<FieldNote*>())
            if (note->isProblem()) all << note->text();
        return all;
    }
    QStringList tested() {
        press("Test");
        EXPECT_TRUE(QTest::qWaitFor([&] { return !dialog->check()->busy(); }, 20000));
        return dialog->check()->lines();
    }
    bool offersInstallation() {
        return child<QPushButton>(*dialog, "Install it there (150 MB)")->isVisible();
    }

    testing_support::TemporaryFolder home{"hosts-dialog"};
    std::string oldHome;
    std::unique_ptr<HostsController> hosts = std::make_unique<HostsController>();
    std::unique_ptr<HostsDialog> dialog;
};

TEST_F(HostsDialogTest, AMachineIsAddedByItsName) {
    add(QStringLiteral("gpu1"));
    EXPECT_EQ(edit("Reach")->text(), "ssh gpu1");
    auto* completion = edit("Reach")->completer()->model();
    ASSERT_EQ(completion->rowCount(), 2);
    EXPECT_EQ(completion->index(1, 0).data().toString(), "ssh login");
    type("Reach", reach());
    type("Name", QStringLiteral("gpu2"));  // the own command stays
    EXPECT_EQ(edit("Reach")->text(), reach());
    auto* views = child<QCheckBox>(*dialog, "Also for views");
    EXPECT_FALSE(views->isEnabled());
    type("Launch", QStringLiteral("env A=1"));
    views->click();
    type("Folder of runs", QString::fromStdString(home / "far/runs"));
    press("Save");
    EXPECT_EQ(dialog->result(), QDialog::Accepted);
    ASSERT_EQ(hosts->hosts().size(), 1U);
    EXPECT_EQ(hosts->hosts()[0],
              (wire::Host{"gpu2", reach().toStdString(), "env A=1", true, home / "far/runs"}));
    // Its connection shows in the list as it changes.
    open();
    auto* item = child<QListWidget>(*dialog, "Machines")->item(0);
    EXPECT_TRUE(QTest::qWaitFor(
        [&] { return item->data(Qt::AccessibleTextRole).toString() == "gpu2, connected"; }, 20000));
    EXPECT_EQ(edit("Launch")->text(), "env A=1");
    press("Remove this machine");
    press("Save");
    EXPECT_TRUE(hosts->hosts().empty());
}

TEST_F(HostsDialogTest, ProblemsStandAtTheirFields) {
    add(QStringLiteral("gpu1"), reach());
    add(QStringLiteral("gpu1"), reach());
    press("Save");
    EXPECT_EQ(problems(), QStringList{"Another machine has this name"});
    child<QListWidget>(*dialog, "Machines")->setCurrentRow(1);
    type("Name", QStringLiteral("a/b"));
    press("Save");
    EXPECT_EQ(problems(), QStringList{"'a/b' cannot be a name"});
    type("Name", QStringLiteral("gpu2"));
    EXPECT_TRUE(problems().isEmpty());
    type("Launch", QStringLiteral("srun 'a"));
    press("Test");
    EXPECT_EQ(problems(), QStringList{"A ' is not closed"});
    type("Launch", {});
    type("Folder of runs", QStringLiteral("runs"));
    press("Save");
    EXPECT_EQ(problems(), QStringList{"'runs' must be an absolute path there"});
    type("Folder of runs", {});
    type("Reach", {});
    press("Save");
    EXPECT_EQ(problems(), QStringList{"A command is needed, such as: ssh gpu2"});
    EXPECT_TRUE(hosts->hosts().empty());
    press("Cancel");
    EXPECT_EQ(dialog->result(), QDialog::Rejected);
    EXPECT_TRUE(hosts->hosts().empty());
}

TEST_F(HostsDialogTest, ATestShowsEachStage) {
    add(QStringLiteral("gpu1"), reach());
    type("Folder of runs", QString::fromStdString(home / "far/runs"));
    const QStringList lines = tested();
    ASSERT_EQ(lines.size(), 4) << lines.join('|').toStdString();
    EXPECT_EQ(lines[0], "Connected");
    EXPECT_TRUE(lines[1].startsWith(
        QStringLiteral("Relascope %1 on ").arg(QLatin1String(core::builtin::version()))));
    EXPECT_TRUE(lines[2].startsWith("Device")) << lines[2].toStdString();
    EXPECT_TRUE(lines[3].startsWith(
        QString::fromStdString("Folder of runs: " + (home / "far/runs") + ", no runs yet, ")));
    EXPECT_TRUE(lines[3].endsWith("iB free")) << lines[3].toStdString();
    EXPECT_FALSE(offersInstallation());
    EXPECT_TRUE(hosts->hosts().empty());  // nothing is saved by it
    type("Reach", reach("echo nobody answers >&2; exit 255; "));
    EXPECT_TRUE(dialog->check()->lines().isEmpty());
    EXPECT_EQ(tested(), QStringList{"gpu1 cannot be reached: nobody answers"});
    EXPECT_FALSE(offersInstallation());
}

TEST_F(HostsDialogTest, OldVersionsAreRemoved) {
    add(QStringLiteral("gpu1"), reach());
    tested();
    auto* remove = dialog->check()->removeOldButton();
    EXPECT_FALSE(remove->isVisible());
    const fs::path versions = home / "far/.local/share/relascope";
    for (const char* name : {"0.4.0/bin", "0.5.0/bin", "0.5.1.part", "notes"})
        fs::create_directories(versions / name);
    for (const char* name : {"0.4.0", "0.5.0"})
        fs::copy_file("/bin/sleep", versions / name / "bin/relascope-cli");
    const wire::ChildProcess running({versions / "0.4.0/bin/relascope-cli", "1000"}, {});
    tested();
    ASSERT_TRUE(remove->isVisible());
    EXPECT_FALSE(offersInstallation());
    press("Remove old versions");
    EXPECT_TRUE(QTest::qWaitFor([&] { return !dialog->check()->busy(); }, 20000));
    EXPECT_EQ(dialog->check()->lines().last(), "Removed: 0.5.0, 0.5.1.part");
    EXPECT_FALSE(remove->isVisible());
    EXPECT_FALSE(fs::exists(versions / "0.5.0"));
    EXPECT_TRUE(fs::exists(versions / "0.4.0")) << "it runs";
    EXPECT_TRUE(fs::exists(versions / "notes")) << "it is no version";
    ::kill(running.id(), SIGKILL);
}

TEST_F(HostsDialogTest, WhereItIsMissingItIsInstalled) {
    fs::remove(home / "far/bin/relascope-cli");
    add(QStringLiteral("gpu1"), reach());
    EXPECT_EQ(tested(), QStringList{"Relascope is not installed on gpu1."});
    EXPECT_TRUE(offersInstallation());
    press("How");
    EXPECT_TRUE(dialog->findChild<DocumentViewer*>());
    dialog->check()->install = [](const wire::Host&, const std::function<bool(double)>&) {
        throw Error("no room on gpu1");
    };
    press("Install it there (150 MB)");
    ASSERT_TRUE(QTest::qWaitFor([&] { return !dialog->check()->busy(); }));
    EXPECT_EQ(dialog->check()->lines().last(), "no room on gpu1");
    dialog->check()->install = [this](const wire::Host& host,
                                      const std::function<bool(double)>& progress) {
        EXPECT_EQ(host.reach, reach().toStdString());
        EXPECT_TRUE(progress(0.5));
        fs::create_symlink(RELASCOPE_BIN "/relascope-cli", home / "far/bin/relascope-cli");
    };
    press("Install it there (150 MB)");
    EXPECT_TRUE(QTest::qWaitFor([&] { return dialog->check()->lines().size() == 4; }, 20000));
    EXPECT_FALSE(offersInstallation());
}

TEST_F(HostsDialogTest, AnotherVersionIsNamed) {
    const std::string program = home / "far/bin/relascope-cli";
    fs::remove(program);
    // A session of another version says hello, and answers what the mirror asks.
    core::writeTextFile(program,
                        "#!/usr/bin/python3\n"
                        "import os, subprocess, sys\n"
                        "real = subprocess.Popen(['" RELASCOPE_BIN
                        "/relascope-cli'] + "
                        "sys.argv[1:], stdout=subprocess.PIPE)\n"
                        "while data := os.read(real.stdout.fileno(), 65536):\n"
                        "    sys.stdout.buffer.write(data.replace(b'" +
                            std::string(core::builtin::version()) + "', b'0.1.2'))\n" +
                            "    sys.stdout.buffer.flush()\n");
    fs::permissions(program, fs::perms::owner_all);
    add(QStringLiteral("gpu1"), reach());
    const QStringList lines = tested();
    ASSERT_EQ(lines.size(), 3) << lines.join('|').toStdString();
    EXPECT_TRUE(lines[1].startsWith("Relascope 0.1.2 on ")) << lines[1].toStdString();
    EXPECT_EQ(lines[2],
              QStringLiteral("gpu1 has Relascope 0.1.2, this is %1: its runs can only be watched "
                             "until %1 is installed beside it.")
                  .arg(QLatin1String(core::builtin::version())));
    EXPECT_TRUE(offersInstallation());
}

TEST_F(HostsDialogTest, ATestIsCancelled) {
    add(QStringLiteral("gpu1"), reach("sleep 5; "));
    press("Test");
    ASSERT_TRUE(dialog->check()->busy());
    EXPECT_FALSE(child<QPushButton>(*dialog, "Save")->isEnabled());
    EXPECT_TRUE(QTest::qWaitFor([&] { return dialog->check()->strip()->isVisible(); }));
    QTest::mouseClick(dialog->check()->strip()->cancelButton(), Qt::LeftButton);
    EXPECT_FALSE(dialog->check()->busy());
    EXPECT_EQ(dialog->check()->lines(), QStringList{"Cancelled"});
    EXPECT_TRUE(child<QPushButton>(*dialog, "Save")->isEnabled());
}

}  // namespace
}  // namespace relascope
