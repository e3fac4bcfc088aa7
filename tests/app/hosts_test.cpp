// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of another machine in the window: listed under its name, trained there, looked into, named,
// fetched and deleted. The machine is this one in another home, reached by sh.
#include <signal.h>
#include <unistd.h>

#include <QMenu>
#include <QSettings>

#include "app/run_actions.h"
#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "run/run_list.h"
#include "support/processes.h"
#include "tests/app/window_fixture.h"
#include "types/text_format.h"
#include "widgets/bar/devices_chip.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/lists/sidebar.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;

class HostsTest : public WindowTest {
protected:
    void SetUp() override {
        root = folder.path().toStdString();
        fs::create_directories(root + "/far/bin");
        fs::create_directories(root + "/far/runs");
        fs::create_symlink(RELASCOPE_BIN "/relascope-cli", root + "/far/bin/relascope-cli");
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString(root + "/cache"));
        WindowTest::SetUp();
        c().runs.setFolder(folder.filePath("runs"));
        c().hosts.setHosts({host(root + "/far/reachable")});
    }
    void TearDown() override {
        if (c().training.busy()) c().training.cancel();
        EXPECT_TRUE(waitUntil([this] { return !c().training.busy(); }));
        c().hosts.setHosts({});
        WindowTest::TearDown();
        QSettings().clear();
        qunsetenv("XDG_CACHE_HOME");
    }
    /// Reachable while that file is there.
    wire::Host host(const std::string& key) const {
        return {
            "gpu1",
            "env HOME=" + root + "/far PATH=" + root + "/far/bin:/usr/bin:/bin sh -c " +
                shellWord("[ -e " + key + " ] || { echo no route >&2; exit 255; }; exec \"$@\"") +
                " reach",
            {},
            false,
            root + "/far/runs"};
    }
    void connectHost() {
        core::writeTextFile(root + "/far/reachable", "");
        c().hosts.look();
        ASSERT_TRUE(waitUntil([this] { return c().experiment.hosts().contains("gpu1"); }));
    }
    Sidebar* sidebar() { return window->findChild<Sidebar*>(); }
    QStringList headings() {
        QStringList all;
        for (int i = 0; i < sidebar()->runs()->count(); ++i)
            if (const QString heading =
                    sidebar()->runs()->item(i)->data(RunDelegate::Heading).toString();
                !heading.isEmpty())
                all << heading;
        return all;
    }
    std::string root;
};

TEST_F(HostsTest, SaysWhatIsNotConnectedAndTriesAgain) {
    QString warned;
    QObject::connect(&c().hosts, &HostsController::lost, window.get(),
                     [&](const QString& sentence) { warned = sentence; });
    ASSERT_TRUE(waitUntil([&] { return !warned.isEmpty(); }));
    EXPECT_EQ(warned, "gpu1 cannot be reached: no route; it is tried again");
    EXPECT_TRUE(
        c().hosts.statusText("gpu1").startsWith("gpu1 cannot be reached: no route; trying"));
    chooseTiny();
    c().experiment.setHost("gpu1");
    EXPECT_TRUE(c().experiment.disabledReason().startsWith("gpu1 is not connected"));
    connectHost();
    EXPECT_TRUE(waitUntil([this] { return c().experiment.disabledReason().isEmpty(); }));
}

TEST_F(HostsTest, ARunIsTrainedThereAndLookedInto) {
    connectHost();
    chooseTiny(100000);
    // The machine is chosen at the device.
    auto* chip = window->bar()->deviceChip();
    ASSERT_TRUE(waitUntil([&] { return !chip->menu()->isEmpty(); }));
    for (QAction* action : chip->menu()->actions())
        if (action->text() == "gpu1") action->trigger();
    EXPECT_EQ(c().experiment.host(), "gpu1");
    EXPECT_TRUE(waitUntil(
        [&] { return window->bar()->deviceText() == QString::fromUtf8("gpu1 \u00b7 cpu"); }));
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(20));
    const QString run = c().training.run();
    EXPECT_EQ(HostsController::hostOf(run), "gpu1");
    EXPECT_EQ(run.section('/', -1), "quick-dat-s0");
    EXPECT_TRUE(fs::exists(root + "/far/runs/quick-dat-s0/run.json"));
    EXPECT_FALSE(fs::exists(root + "/runs/quick-dat-s0")) << "nothing trains here";
    ASSERT_TRUE(waitUntil([&] { return c().runs.records().points(run).size() > 20; }));
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; })) << "live maps";
    EXPECT_EQ(headings(), QStringList{"gpu1"});
    c().training.pause();
    ASSERT_TRUE(waitUntil([this] { return c().training.paused(); }));
    c().training.cancel();
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }, 40000));
    // The weights that were kept there, by a session there.
    ASSERT_TRUE(waitUntil([&] { return !c().runs.records().kept(run).empty(); }));
    const auto kept = c().runs.records().kept(run).front();
    c().selection.setStep(kept);
    EXPECT_TRUE(waitUntil([&] { return inspector()->result()->step == kept; }));

    RunLabels labels;
    labels.name = "mine";
    c().runs.setLabels(run, labels);
    EXPECT_TRUE(waitUntil([&] { return fs::exists(root + "/far/runs/quick-dat-s0/labels.json"); }));
    window->runActions().perform(RunActions::Kind::Fetch, {run});
    const QString copy = c().runs.folder() + "/gpu1/quick-dat-s0";
    ASSERT_TRUE(waitUntil([&] { return c().runs.info(copy) != nullptr; }));
    EXPECT_EQ(c().runs.name(copy), "mine");
    c().runs.setLabels(copy, {});
    EXPECT_EQ(c().runs.name(copy), QString::fromUtf8("gpu1 \u00b7 quick-dat-s0"));
    EXPECT_EQ(core::readTextFile(copy.toStdString() + "/metrics.jsonl"),
              core::readTextFile(root + "/far/runs/quick-dat-s0/metrics.jsonl"));
    const auto moved = c().runs.trash({run});
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_TRUE(waitUntil([&] { return !fs::exists(root + "/far/runs/quick-dat-s0"); }));
    EXPECT_TRUE(waitUntil([&] { return headings().isEmpty(); }));
    c().runs.move({{moved[0].to, moved[0].from}});
    EXPECT_TRUE(waitUntil([&] { return c().runs.info(run) != nullptr; })) << "taken back";
}

TEST_F(HostsTest, WhatIsShownStaysWhileTheMachineIsAway) {
    connectHost();
    chooseTiny();
    c().experiment.setHost("gpu1");
    c().experiment.start();
    ASSERT_TRUE(trains(20));
    ASSERT_TRUE(waitUntil([&] { return inspector()->result() != nullptr; }));
    auto* samples = inspector()->sourcePane()->samples();
    EXPECT_TRUE(samples->isEnabled());
    fs::remove(root + "/far/reachable");
    for (const pid_t session : testing_support::childrenOf(::getpid())) ::kill(session, SIGKILL);
    QPushButton* now = nullptr;
    for (auto* button : window->findChildren<QPushButton*>())
        if (button->text() == "Now") now = button;
    ASSERT_TRUE(now);
    ASSERT_TRUE(waitUntil([&] { return now->isVisible(); }));
    const auto line = [&] { return now->parentWidget()->findChild<ElidedLabel*>()->text(); };
    EXPECT_TRUE(waitUntil([&] {
        return line().startsWith("gpu1 cannot be reached: no route; trying again in");
    })) << line().toStdString();
    EXPECT_FALSE(samples->isEnabled());
    const QString run = c().training.run();
    EXPECT_TRUE(waitUntil([&] { return !c().training.busy(); }, 40000)) << "not watched any more";
    c().runs.refresh();
    QTest::qWait(300);
    EXPECT_GE(c().runs.info(run)->step, 20) << "as it was heard of last";
    EXPECT_NE(inspector()->result(), nullptr);
    EXPECT_TRUE(inspector()->findChild<QWidget*>("away")->isVisible());
    auto* chip = window->bar()->deviceChip();
    EXPECT_TRUE(waitUntil([&] { return chip->text() == "gpu1"; }));
    EXPECT_EQ(chip->menu()->actions().size(), 3) << "the head, this computer, gpu1";
    core::writeTextFile(root + "/far/reachable", "");
    click(now);
    EXPECT_TRUE(waitUntil([&] { return !now->isVisible(); }));
    EXPECT_TRUE(samples->isEnabled());
    EXPECT_FALSE(inspector()->findChild<QWidget*>("away")->isVisible());
    EXPECT_TRUE(waitUntil([&] { return c().training.busy(); })) << "it trains on";
}

TEST_F(HostsTest, ALauncherThatNeverStartsIsCancelled) {
    auto launched = host(root + "/far/reachable");
    launched.launch = "sh -c 'sleep 1000' x";
    c().hosts.setHosts({launched});
    connectHost();
    chooseTiny();
    c().experiment.setHost("gpu1");
    c().experiment.start();
    const std::string run = root + "/far/runs/quick-dat-s0";
    ASSERT_TRUE(waitUntil([&] { return core::FileLock::isHeld(run + "/.starting"); }));
    EXPECT_TRUE(c().training.preparing());
    click(window->bar()->cancelButton());
    EXPECT_TRUE(waitUntil([&] { return !c().training.busy(); }));
    EXPECT_TRUE(waitUntil([&] { return !fs::exists(run); })) << "nothing was trained";
}

}  // namespace
}  // namespace relascope
