// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of another machine in the window: listed under its name, trained there, looked into, named,
// fetched and deleted. The machine is this one in another home, reached by sh.
#include <QComboBox>
#include <QListWidget>
#include <QMenu>
#include <QSettings>

#include "app/pages/checkpoint_details.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/far_file_dialog.h"
#include "app/pages/new_study_dialog.h"
#include "app/pages/study_page.h"
#include "app/run_actions.h"
#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "run/run_list.h"

#include "tests/app/far_machine.h"
#include "tests/app/study_fixture.h"
#include "tests/app/window_fixture.h"
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
        far.emplace(root, "gpu1");
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString(root + "/cache"));
        WindowTest::SetUp();
        c().runs.setFolder(folder.filePath("runs"));
        c().hosts.setHosts({far->host()});
    }
    void TearDown() override {
        if (c().training.busy()) c().training.cancel();
        EXPECT_TRUE(waitUntil([this] { return !c().training.busy(); }));
        c().hosts.setHosts({});
        WindowTest::TearDown();
        QSettings().clear();
        qunsetenv("XDG_CACHE_HOME");
    }
    void connectHost() {
        far->setReachable(true);
        c().hosts.refresh();
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
    std::optional<FarMachine> far;
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
    EXPECT_TRUE(fs::exists(far->runs() + "/quick-dat-s0/run.json"));
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
    EXPECT_TRUE(waitUntil([&] { return fs::exists(far->runs() + "/quick-dat-s0/labels.json"); }));
    window->runActions().perform(RunActions::Kind::Fetch, {run});
    const QString copy = c().runs.folder() + "/gpu1/quick-dat-s0";
    ASSERT_TRUE(waitUntil([&] { return c().runs.info(copy) != nullptr; }));
    EXPECT_EQ(c().runs.name(copy), "mine");
    c().runs.setLabels(copy, {});
    EXPECT_EQ(c().runs.name(copy), QString::fromUtf8("gpu1 \u00b7 quick-dat-s0"));
    EXPECT_EQ(core::readTextFile(copy.toStdString() + "/metrics.jsonl"),
              core::readTextFile(far->runs() + "/quick-dat-s0/metrics.jsonl"));
    const auto moved = c().runs.trash({run});
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_TRUE(waitUntil([&] { return !fs::exists(far->runs() + "/quick-dat-s0"); }));
    EXPECT_TRUE(waitUntil([&] { return headings().isEmpty(); }));
    c().runs.move({{moved[0].to, moved[0].from}});
    EXPECT_TRUE(waitUntil([&] { return c().runs.info(run) != nullptr; })) << "taken back";
}

TEST_F(HostsTest, AStudyIsTrainedThere) {
    connectHost();
    c().study.setFolder(folder.filePath("studies"));
    window->showPage(PageId::Study);
    auto* page = window->studyPage();
    ASSERT_TRUE(waitUntil([&] { return c().study.mirrors().contains("gpu1"); }));
    page->ask = [&](NewStudyDialog& dialog) {
        EXPECT_EQ(dialog.machine()->currentText(), "this computer");
        auto* preset = dialog.findChild<QComboBox*>();
        preset->setCurrentIndex(preset->findData("pairwise-order"));
        auto* models = dialog.findChild<QListWidget*>();
        for (int i = 0; i < models->count(); ++i)
            models->item(i)->setCheckState(i == 0 ? Qt::Checked : Qt::Unchecked);
        for (const auto& [key, value] : tinyStudy(100000).settings) {
            auto* row = dialog.settings()->add();
            row->key()->setText(QString::fromStdString(key));
            row->values()->setText(QString::fromStdString(value));
        }
        dialog.machine()->setCurrentIndex(1);
        EXPECT_TRUE(waitUntil([&] { return dialog.ready(); }))
            << dialog.problems().join('|').toStdString();
        click(dialog.startButton());
        return dialog.result() == QDialog::Accepted;
    };
    page->newStudy();
    ASSERT_TRUE(waitUntil([this] { return c().study.reading() != nullptr; }));
    const QString study = c().study.path();
    EXPECT_EQ(HostsController::hostOf(study), "gpu1");
    EXPECT_EQ(page->chooser()->currentText(), QString::fromUtf8("gpu1 \u00b7 pairwise-order"));
    EXPECT_FALSE(fs::exists(root + "/studies/pairwise-order")) << "nothing is made here";
    ASSERT_TRUE(waitUntil([this] { return c().study.reading()->running > 0; }, 60000));
    EXPECT_EQ(page->startButton()->text(), "Stop study");
    EXPECT_TRUE(c().study.workedOn().isEmpty()) << "this computer is free";
    EXPECT_EQ(c().study.workedOn("gpu1"), study);
    EXPECT_FALSE(page->notHereReason().isEmpty());
    // A run of it, looked into there.
    const auto& runs = c().study.reading()->runs;
    const auto training = std::find_if(
        runs.begin(), runs.end(), [](const auto& run) { return run.state == CellState::Running; });
    ASSERT_NE(training, runs.end());
    const QString run = training->path;
    Q_EMIT page->runRequested(run);
    EXPECT_TRUE(waitUntil([&] { return c().training.busy() && c().training.run() == run; }));
    ASSERT_TRUE(waitUntil([&] { return c().runs.records().points(run).size() > 20; }));
    EXPECT_TRUE(c().study.opened().isEmpty());
    window->showPage(PageId::Study);
    click(page->startButton());
    EXPECT_TRUE(c().study.ending(study));
    ASSERT_TRUE(waitUntil([&] { return !c().study.works(study); }, 60000));
    ASSERT_TRUE(waitUntil([this] { return c().study.reading()->interrupted > 0; }));
    EXPECT_EQ(page->startButton()->text(), "Resume");
    // While the machine is away its studies are shown, and cannot be started.
    far->cut();
    ASSERT_TRUE(waitUntil([&] { return !page->startButton()->isEnabled(); }));
    EXPECT_TRUE(page->startButton()->toolTip().startsWith("gpu1 is not connected"));
    EXPECT_GT(c().study.reading()->interrupted, 0u);
}

TEST_F(HostsTest, ACheckpointThereIsChosenAndLookedInto) {
    connectHost();
    const std::string name = "vidat_relational_games_mixed";
    far->add(RELASCOPE_FIXTURES "/golden/" + name, "models");
    auto* page = qobject_cast<CheckpointPage*>(window->page(PageId::Checkpoint));
    EXPECT_EQ(page->hosts(), QStringList{"gpu1"});
    page->askOnHost = [&](const QString& host) {
        FarFileDialog dialog(host, FarFileDialog::Choice::Either, {}, window.get());
        dialog.show();
        EXPECT_TRUE(waitUntil([&] { return dialog.list()->count() > 0; }));
        EXPECT_EQ(dialog.field()->text(), QString::fromStdString(fs::canonical(far->home())));
        const auto enter = [&](const QString& folder) {
            const auto found = dialog.list()->findItems(folder, Qt::MatchExactly);
            ASSERT_EQ(found.size(), 1);
            dialog.list()->setCurrentItem(found.first());
            EXPECT_EQ(dialog.chooseButton()->text(), "Open");
            QTest::keyClick(dialog.list(), Qt::Key_Return);
            EXPECT_TRUE(waitUntil([&] { return dialog.field()->text().endsWith(u'/' + folder); }));
        };
        enter("models");
        enter(QString::fromStdString(name));
        QTest::keyClick(&dialog, Qt::Key_Backspace);
        EXPECT_TRUE(waitUntil([&] { return dialog.field()->text().endsWith("/models"); }));
        dialog.field()->setText("/nowhere");
        QTest::keyClick(dialog.field(), Qt::Key_Return);
        EXPECT_TRUE(waitUntil([&] { return dialog.field()->text().endsWith("/models"); }))
            << "it is said that there is none";
        enter(QString::fromStdString(name));
        click(dialog.folderButton());
        EXPECT_EQ(dialog.result(), QDialog::Accepted);
        return dialog.path();
    };
    page->openOn("gpu1");
    ASSERT_TRUE(waitUntil([this] { return c().checkpoint.info().has_value(); }));
    EXPECT_EQ(HostsController::hostOf(c().checkpoint.path()), "gpu1");
    EXPECT_TRUE(page->head()->files().startsWith(QString::fromUtf8("gpu1 \u00b7 config.json")));
    EXPECT_TRUE(waitUntil([this] { return c().checkpoint.numbers().complete(); }));
    c().checkpoint.load();
    ASSERT_TRUE(waitUntil([&] { return page->inspector()->result() != nullptr; }, 60000));
    bool verified = false;
    QObject::connect(&c().checkpoint, &CheckpointController::verified, window.get(),
                     [&](const VerifyReport& report) { verified = report.ok; });
    c().checkpoint.verify();
    EXPECT_TRUE(waitUntil([&] { return verified; }, 60000));
    EXPECT_EQ(page->errorSentence(), "");
    for (const auto& entry : fs::recursive_directory_iterator(root + "/cache"))
        EXPECT_NE(entry.path().extension(), ".safetensors") << "weights stay there";
    // It is among the recent ones, also after the next start.
    EXPECT_FALSE(c().checkpoint.recent().list().front().missing);
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
    far->cut();
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
    far->setReachable(true);
    click(now);
    EXPECT_TRUE(waitUntil([&] { return !now->isVisible(); }));
    EXPECT_TRUE(samples->isEnabled());
    EXPECT_FALSE(inspector()->findChild<QWidget*>("away")->isVisible());
    EXPECT_TRUE(waitUntil([&] { return c().training.busy(); })) << "it trains on";
}

TEST_F(HostsTest, ALauncherThatNeverStartsIsCancelled) {
    auto launched = far->host();
    launched.launch = "sh -c 'sleep 1000' x";
    c().hosts.setHosts({launched});
    connectHost();
    chooseTiny();
    c().experiment.setHost("gpu1");
    c().experiment.start();
    const std::string run = far->runs() + "/quick-dat-s0";
    ASSERT_TRUE(waitUntil([&] { return core::FileLock::isHeld(run + "/.starting"); }));
    EXPECT_TRUE(c().training.preparing());
    click(window->bar()->cancelButton());
    EXPECT_TRUE(waitUntil([&] { return !c().training.busy(); }));
    EXPECT_TRUE(waitUntil([&] { return !fs::exists(run); })) << "nothing was trained";
}

}  // namespace
}  // namespace relascope
