// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/training_controller.h"

#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QFileInfo>
#include <QSignalSpy>
#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "app/controllers/examples.h"
#include "app/run_actions.h"
#include "datasets/registry.h"
#include "options/field_text.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "run/run_process.h"
#include "support/failing_calls.h"
#include "support/processes.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "wire/device_queue.h"

namespace relascope {
namespace {

class TrainingTest : public WindowTest {};

TEST(Mailbox, AThousandStepsBecomeOneDelivery) {
    Mailbox box;
    box.begin("runs/a");
    for (std::int64_t step = 1; step <= 1000; ++step) box.put(Progress{step, 1000});
    auto post = box.take();
    ASSERT_EQ(post.runs.size(), 1U);
    EXPECT_EQ(post.runs[0].progress->step, 1000);
    EXPECT_TRUE(box.take().runs.empty());
    // What is said of another run never mixes with what was said of the last one.
    box.put(Progress{1, 1000});
    box.end();
    box.begin("runs/b");
    box.put(Progress{1, 1000});
    post = box.take();
    ASSERT_EQ(post.runs.size(), 2U);
    EXPECT_TRUE(post.runs[0].ended);
    EXPECT_EQ(post.runs[1].path, "runs/b");
}

TEST_F(TrainingTest, EditsOfTheLearningRateAreMarked) {
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    const QString path = c().training.run();
    EXPECT_TRUE(c().experiment.live());
    Q_EMIT window->form()->valueChanged(QStringLiteral("train.learning_rate"), FieldValue(5e-4));
    ASSERT_TRUE(waitUntil([&] { return !c().runs.records().marks(path).empty(); }));
    EXPECT_TRUE(c().runs.records().marks(path).front().text.contains(
        QString::fromStdString(fieldValueText(5e-4))));
    // What needs a restart stays as it is.
    c().experiment.set(QStringLiteral("model.d_model"), std::int64_t{32});
    EXPECT_EQ(c().experiment.options().model.number("d_model"), 16);
    c().training.cancel();
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    EXPECT_DOUBLE_EQ(readRunOptions(path.toStdString()).train.learning_rate, 5e-4);
}

TEST_F(TrainingTest, InterventionsAreTakenIntoTrainingAndMarked) {
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    const QString path = c().training.run();
    Edit zero;
    zero.op = EditOp::Zero, zero.point = "blocks.0.rel.hook_r";
    zero.selection["relation"] = {{0}, {}, {}};
    EditList list;
    list.edits = {zero};

    // Of the inspector alone: in the answer, not in training.
    const auto sample = openData(c().training.options().data).validation->sample(0);
    ProbeAnswer answer;
    QObject::connect(&c().training, &app::TrainingController::probeAnswered, &c().training,
                     [&answer](const ProbeAnswer& given) {
                         if (!answer.base) answer = given;
                     });
    // The window asks, too, and the newest request alone is answered.
    ASSERT_TRUE(waitUntil([&] {
        if (!answer.base) c().training.probe(sample, list);
        return answer.base != nullptr;
    }));
    EXPECT_EQ(answer.error, "");
    EXPECT_NE(answer.base->find(MapKind::Relation, 0, 0)->all(),
              answer.result.find(MapKind::Relation, 0, 0)->all());
    EXPECT_TRUE(c().runs.records().marks(path).empty());

    c().training.setEdits(list);
    ASSERT_TRUE(waitUntil([&] { return c().runs.records().marks(path).size() == 1; }));
    const auto mark = c().runs.records().marks(path).front();
    EXPECT_EQ(mark.text, QStringLiteral("edits in training from here on: layer 1 relation 1 zero"));
    c().training.setEdits({});
    ASSERT_TRUE(waitUntil([&] { return c().runs.records().marks(path).size() == 2; }));
    c().training.cancel();
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    std::vector<QString> read;
    for (const auto& note : core::readEvents(path.toStdString()))
        if (note.level == Note::Level::Edit) read.push_back(QString::fromStdString(note.text));
    ASSERT_EQ(read.size(), 2U) << "the marks of a run that is opened later";
    EXPECT_EQ(read[0], mark.text);
    EXPECT_EQ(read[1], QStringLiteral("no edits in training from here on"));
}

// A request that comes while one run ends and the next has not begun is one to all of them.
TEST_F(TrainingTest, StopBetweenTwoSeedsStopsThemAll) {
    std::vector<std::int64_t> seeds(40);
    std::iota(seeds.begin(), seeds.end(), 0);
    for (const bool atOnce : {false, true})
        for (int delay = 0; delay < 30; delay += 6) {
            SCOPED_TRACE(delay);
            chooseTiny(2);
            c().experiment.set("train.seeds", seeds);
            QStringList begun;
            const auto connection =
                QObject::connect(&c().training, &app::TrainingController::runBegan, window.get(),
                                 [&](const QString& path) { begun << path; });
            click(window->bar()->startButton());
            ASSERT_TRUE(waitUntil([&] { return begun.size() > 1; }));
            // Training continues meanwhile, so that each request comes at another moment.
            std::this_thread::sleep_for(std::chrono::milliseconds(delay));
            atOnce ? c().training.cancel() : c().training.stop();
            ASSERT_TRUE(waitUntil([&] { return !c().training.busy(); }));
            QObject::disconnect(connection);
            // Until the window asked, some more could begin than it has heard of.
            EXPECT_LT(begun.size(), seeds.size());
            const auto last = QFileInfo(begun.front()).dir().filePath(QStringLiteral("seed-39"));
            EXPECT_FALSE(QFileInfo::exists(last));
        }
}

TEST_F(TrainingTest, AProcessThatDoesNotAnswerIsEnded) {
    c().training.setPatience(500, 1500);
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(50));
    const QString run = c().training.run();
    const auto process = core::readRunProcess(run.toStdString());
    ASSERT_TRUE(process);
    ::kill(static_cast<pid_t>(process->pid), SIGSTOP);
    EXPECT_TRUE(waitUntil([&] { return window->bar()->lineText().contains("no step for"); }));
    c().training.cancel();
    QPushButton* end = nullptr;
    ASSERT_TRUE(waitUntil([&] {
        for (auto* button : window->findChildren<QPushButton*>())
            if (button->text() == "End its process...") end = button;
        return end != nullptr;
    }));
    QString asked;
    window->runActions().askEnd = [&](const QString& sentence) {
        asked = sentence;
        return true;
    };
    click(end);
    const auto kept = core::lastWholeCheckpoint(run.toStdString());
    EXPECT_EQ(asked,
              QString("The process of quick-dat-s0 is ended at once. ") +
                  (kept < 0 ? QString("It has no checkpoint yet: all that it trained is lost.")
                            : QString("What it trained after step %1 is lost.").arg(kept)));
    EXPECT_TRUE(waitUntil([&] { return !c().training.busy(); }));
    EXPECT_TRUE(waitUntil([&] { return c().runs.info(run)->state == RunState::Interrupted; }));
    EXPECT_FALSE(core::readMetrics(run.toStdString()).empty()) << "the run stays";
    const auto entries = window->runActions().entries({run});
    const auto entry = std::find_if(entries.begin(), entries.end(), [](const auto& e) {
        return e.kind == RunActions::Kind::EndProcess;
    });
    EXPECT_EQ(entry->reason, "The run is not training");
}

TEST_F(TrainingTest, AStoppedRunIsResumedFromTheRail) {
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    const QString path = c().training.run();
    click(window->bar()->stopButton());
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    ASSERT_TRUE(waitUntil(
        [&] { return c().runs.info(path) && c().runs.info(path)->state == RunState::Stopped; }));
    const auto stopped = c().runs.info(path)->step;
    EXPECT_GT(stopped, 0);
    EXPECT_EQ(stopped % 4, 0);  // 64 images in batches of 16: the epoch was finished
    ASSERT_TRUE(waitUntil([&] { return c().experiment.resumes(); }));
    EXPECT_EQ(window->bar()->startButton()->text(), QStringLiteral("Resume"));
    click(window->bar()->startButton());
    ASSERT_TRUE(
        waitUntil([&] { return c().training.running() && c().training.info().step > stopped; }));
    EXPECT_EQ(c().training.run(), path);
}

TEST_F(TrainingTest, AFailedRunIsResumedWithASmallerBatch) {
    const QString path = finishedRun();
    {
        auto failed = RunFolder::open(path.toStdString());
        failed.info().state = RunState::Failed;
        failed.saveInfo();
    }
    c().runs.refresh();
    ASSERT_TRUE(waitUntil([&] { return c().runs.info(path)->state == RunState::Failed; }));
    c().experiment.showRun(path);
    ASSERT_TRUE(waitUntil([&] { return c().experiment.run() == path; }));
    for (const auto& [batch, resumes] :
         std::vector<std::pair<std::int64_t, bool>>{{8, true}, {16, false}, {32, false}}) {
        c().experiment.set("train.batch_size", batch);
        EXPECT_EQ(c().experiment.resumes(), resumes) << batch;
    }
}

TEST_F(TrainingTest, ARunOfTwoProcessesThatLosesOneIsResumed) {
    chooseTiny();
    c().experiment.set(QStringLiteral("train.device"), std::string("cpu,cpu"));
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    const QString path = c().training.run();
    const auto process = core::readRunProcess(path.toStdString());
    ASSERT_TRUE(process);
    const auto others = testing_support::childrenOf(static_cast<pid_t>(process->pid));
    ASSERT_EQ(others.size(), 1U);
    kill(others.front(), SIGKILL);
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    const RunInfo lost = readRunInfo(path.toStdString());
    EXPECT_EQ(lost.state, RunState::Failed);
    EXPECT_EQ(lost.message.rfind("rank 1 (", 0), 0U) << lost.message;
    ASSERT_TRUE(waitUntil([&] { return c().experiment.resumes(); }));
    EXPECT_EQ(window->bar()->startButton()->text(), QStringLiteral("Resume"));
    click(window->bar()->startButton());
    ASSERT_TRUE(
        waitUntil([&] { return c().training.running() && c().training.info().step > lost.step; }));
    EXPECT_EQ(c().training.run(), path);
    click(window->bar()->cancelButton());
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    window.reset();  // and with it the processes that look into models
    EXPECT_TRUE(waitUntil([] { return testing_support::childrenOf(getpid()).empty(); }))
        << "nothing stays behind";
}

TEST_F(TrainingTest, CancelKeepsACheckpoint) {
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    const QString path = c().training.run();
    click(window->bar()->cancelButton());
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    const RunInfo info = readRunInfo(path.toStdString());
    EXPECT_EQ(info.state, RunState::Interrupted);
    EXPECT_TRUE(std::filesystem::exists(path.toStdString() + "/checkpoints/step-" +
                                        std::to_string(info.step)));
}

TEST_F(TrainingTest, SeveralSeedsAreOneBand) {
    chooseTiny(8);
    c().experiment.set(QStringLiteral("train.seeds"), std::vector<std::int64_t>{3, 4});
    c().experiment.start();
    ASSERT_TRUE(
        waitUntil([this] { return c().selection.runs().size() == 2 && !c().training.busy(); }));
    const auto runs = c().runs.curveRuns(c().selection.runs());
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_FALSE(runs[0].group.isEmpty());
    EXPECT_EQ(runs[0].group, runs[1].group);
    EXPECT_EQ(runs[0].colorIndex, runs[1].colorIndex);
    EXPECT_TRUE(c().runs.name(c().selection.current()).endsWith(QStringLiteral("seed 4")));
}

TEST_F(TrainingTest, ARunOfAnotherProcessIsReadOnFromWhereItWasRead) {
    const QString path = finishedRun();
    const std::string folder = path.toStdString();
    JobQueue jobs;
    app::RunRecords records(jobs);
    QSignalSpy loaded(&records, &app::RunRecords::loaded),
        appended(&records, &app::RunRecords::pointsAppended),
        marked(&records, &app::RunRecords::marksChanged),
        captured(&records, &app::RunRecords::capturesChanged);
    records.load({path});
    ASSERT_TRUE(waitUntil([&] { return loaded.size() == 1; }));
    const auto count = records.points(path).size();
    ASSERT_GT(count, 0U);
    RunInfo info = readRunInfo(folder);
    info.state = RunState::Running;
    std::string line = core::metricToLine(MetricPoint{13}) + '\n';
    core::appendLines(folder + "/metrics.jsonl", line);
    line = core::noteToLine({Note::Level::Edit, 13, "lr 1e-3", {}}) + '\n';
    core::appendLines(folder + "/events.jsonl", line);
    records.follow(info);
    ASSERT_TRUE(waitUntil([&] { return appended.size() == 1 && marked.size() == 1; }));
    EXPECT_EQ(appended[0][1].value<std::vector<MetricPoint>>().size(), 1U);
    EXPECT_EQ(records.points(path).size(), count + 1);
    EXPECT_EQ(records.marks(path).back().text, "lr 1e-3");
    // Once more after its end, for what has no points: kept steps and captures.
    info.state = RunState::Done;
    std::filesystem::remove(folder + "/captures/step-12.safetensors");
    records.follow(info);
    ASSERT_TRUE(waitUntil([&] { return captured.size() == 1; }));
    EXPECT_EQ(loaded.size(), 1) << "nothing was read again";
    EXPECT_EQ(appended.size(), 1);
    // A run that is resumed loses its last points.
    info.state = RunState::Running;
    RunFolder::open(folder).rewindMetrics(4);
    records.follow(info);
    ASSERT_TRUE(waitUntil([&] { return loaded.size() == 2; }));
    EXPECT_LE(records.points(path).back().step, 4);
    EXPECT_EQ(records.marks(path).size(), 1U) << "later events are still read";
}

TEST_F(TrainingTest, TheLastKeptStepIsListedThoughAListingIsUnderWay) {
    const QString path = finishedRun();
    const std::string weights = path.toStdString() + "/weights/";
    JobQueue jobs;
    app::RunRecords records(jobs);
    std::filesystem::rename(weights + "step-12.safetensors", weights + "later");
    records.setLive(path, true);
    while (jobs.busy()) std::this_thread::yield();  // listed, and not yet answered
    std::filesystem::rename(weights + "later", weights + "step-12.safetensors");
    records.setLive({});
    ASSERT_TRUE(waitUntil([&] { return !records.kept(path).empty() && !jobs.busy(); }));
    EXPECT_TRUE(waitUntil([&] { return records.kept(path).back() == 12; }));
}

TEST_F(TrainingTest, AKeptStepThatCannotBeReadIsLookedForOnceMore) {
    const QString path = finishedRun();
    JobQueue jobs;
    app::RunRecords records(jobs);
    records.load({path});
    ASSERT_TRUE(waitUntil([&] { return !records.kept(path).empty(); }));
    const auto all = records.kept(path);
    records.setLive(path, true);
    std::optional<testing_support::FailureScope> failure(
        std::in_place,
        testing_support::FailingCalls{path.toStdString() + "/weights", "", EMFILE, true});
    std::filesystem::last_write_time(path.toStdString() + "/weights/step-12.safetensors",
                                     std::filesystem::file_time_type::clock::now());
    records.setLive({});
    ASSERT_TRUE(waitUntil([&] { return records.kept(path).size() < all.size(); }));
    failure.reset();
    EXPECT_TRUE(waitUntil([&] { return records.kept(path) == all; }, 10000));
}

TEST_F(TrainingTest, PointsOfTheRunInTrainingCopyNoOtherRun) {
    for (int i = 0; i < 6; ++i)
        RunFolder::create(folder.path().toStdString() + "/other-" + std::to_string(i),
                          tinyOptions())
            .saveInfo();
    c().runs.refresh();
    ASSERT_TRUE(waitUntil([this] { return c().runs.rows().size() == 6; }));
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    const auto places = [this] {
        std::vector<const void*> all;
        for (const auto& row : c().runs.rows()) all.push_back(row.info.options.data());
        return all;
    };
    const auto before = places();
    ASSERT_EQ(before.size(), 7U);
    MetricPoint point{90000};
    point.split = Split::Validation;
    point.values = {{"loss", 0.001}, {"accuracy", 0.99}};
    c().runs.livePoints({point});
    EXPECT_EQ(places(), before);
    // Runs that began in the same second have no order.
    const RunInfo& shown = *c().runs.info(c().training.run());
    EXPECT_EQ(shown.step, 90000) << "its row has changed";
    EXPECT_DOUBLE_EQ(shown.kept.value("loss"), 0.001);
}

TEST_F(TrainingTest, WhatCannotBeTrainedSaysSo) {
    chooseTiny();
    c().experiment.set(QStringLiteral("data.path"), std::string("/nowhere/between.npz"));
    QSignalSpy failed(&c().training, &TrainingController::refused);
    c().experiment.start();
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    ASSERT_EQ(failed.size(), 1);
    EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("/nowhere/between.npz")));
    EXPECT_TRUE(c().selection.runs().isEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path().toStdString())) << "no run came of it";
}

TEST_F(TrainingTest, ATrainingSurvivesItsWindowAndIsSteeredByTheNext) {
    c().training.setEndsWithWindow(false);
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    const QString path = c().training.run();
    const auto process = core::readRunProcess(path.toStdString());
    ASSERT_TRUE(process);
    window->confirmClose = [] { return MainWindow::Closing::Continue; };
    window->close();
    window.reset();
    EXPECT_EQ(readRunInfo(path.toStdString()).state, RunState::Running);
    window = std::make_unique<MainWindow>(false);
    c().runs.setFolder(folder.path());
    window->show();
    ASSERT_TRUE(openRun(path));
    ASSERT_TRUE(waitUntil([&] { return c().training.run() == path && c().training.running(); }));
    EXPECT_TRUE(c().training.attached());
    EXPECT_EQ(c().training.options().model.number("d_model"), 16);
    const auto step = c().training.info().step;
    EXPECT_TRUE(trains(step + 20));
    // Every point once, those before and those since.
    ASSERT_TRUE(waitUntil([&] { return c().runs.records().points(path).size() > 20; }));
    std::vector<std::int64_t> steps;
    for (const auto& point : c().runs.records().points(path))
        if (point.split == Split::Train) steps.push_back(point.step);
    for (std::size_t i = 1; i < steps.size(); ++i) ASSERT_LT(steps[i - 1], steps[i]);
    ASSERT_TRUE(waitUntil([&] {
        return inspector()->result() && inspector()->result()->step > step;
    })) << "its maps are live";
    click(window->bar()->startButton());
    ASSERT_TRUE(waitUntil([&] { return c().training.paused(); }));
    EXPECT_EQ(core::readRunProcess(path.toStdString())->pid, process->pid) << "the same process";
    c().experiment.set(QStringLiteral("train.learning_rate"), 5e-4);
    ASSERT_TRUE(waitUntil([&] { return !c().runs.records().marks(path).empty(); }));
    click(window->bar()->cancelButton());
    ASSERT_TRUE(waitUntil([&] { return !c().training.busy(); }));
    EXPECT_EQ(readRunInfo(path.toStdString()).state, RunState::Interrupted);
}

TEST_F(TrainingTest, ARunWaitsForItsDeviceAndCanBeginBesideTheOther) {
    c().training.setEndsWithWindow(false);
    wire::DeviceClaim other({"cpu"}, "between-dat-s0");
    ASSERT_TRUE(other.take());
    const auto waits = [this] {
        return waitUntil([this] {
            return window->bar()->lineText() ==
                   "Waits for cpu: between-dat-s0 trains there. Start begins beside it.";
        });
    };
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(waits()) << window->bar()->lineText().toStdString();
    EXPECT_TRUE(window->bar()->cancelButton()->isEnabled());
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(3));
    click(window->bar()->cancelButton());
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    // Cancelled while it waits no folder is left; and its turn comes with the end of the other.
    const auto runs = [this] {
        return QDir(folder.path()).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    };
    const auto before = runs();
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(waits());
    EXPECT_EQ(runs().size(), before.size() + 1);
    click(window->bar()->cancelButton());
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    EXPECT_EQ(runs(), before);
    click(window->bar()->startButton());
    ASSERT_TRUE(waits());
    other = wire::DeviceClaim({}, "");
    EXPECT_TRUE(trains(3));
}

// Before its door is open, while it reads the data, at its first steps, at a checkpoint.
TEST_F(TrainingTest, KilledAtAnyMomentNothingIsLeftHanging) {
    for (int delay = 0; delay < 1600; delay += 130) {
        SCOPED_TRACE(delay);
        // One whose training has ended may still be on its way out; sessions are others.
        const auto trainings = [] { return testing_support::childrenOf(getpid(), "--start"); };
        ASSERT_TRUE(waitUntil([&] { return trainings().empty(); }));
        chooseTiny();
        c().experiment.set("train.checkpoint_every", std::int64_t{2});
        QSignalSpy failed(&c().training, &TrainingController::failed);
        QSignalSpy refused(&c().training, &TrainingController::refused);
        QString path;
        const auto connection = QObject::connect(&c().training, &TrainingController::runBegan,
                                                 window.get(), [&](const QString& p) { path = p; });
        c().experiment.start();
        // Kept: while the program replaces itself it has no command line.
        std::vector<pid_t> begun;
        ASSERT_TRUE(waitUntil([&] { return !(begun = trainings()).empty(); }));
        QTest::qWait(delay);
        for (const auto child : begun) kill(child, SIGKILL);
        ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
        QObject::disconnect(connection);
        EXPECT_EQ(failed.size() + refused.size(), 1);
        if (path.isEmpty()) {
            EXPECT_TRUE(c().selection.runs().isEmpty() || delay > 0);
            continue;
        }
        const RunInfo info = readRunInfo(path.toStdString());
        EXPECT_EQ(info.state, RunState::Interrupted);
        EXPECT_FALSE(info.message.empty());
        ASSERT_TRUE(waitUntil([&] { return c().experiment.resumes(); }));
    }
    // Of those that were killed before their first step, no folder is left.
    for (const auto& entry : std::filesystem::directory_iterator(folder.path().toStdString()))
        EXPECT_GE(readRunInfo(entry.path().string()).step, 0) << entry.path();
}

TEST_F(TrainingTest, AKilledTrainingSaysHowItEndedAndIsResumed) {
    chooseTiny();
    c().experiment.set("train.checkpoint_every", std::int64_t{5});
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(12));
    const QString path = c().training.run();
    QSignalSpy failed(&c().training, &TrainingController::failed);
    kill(static_cast<pid_t>(core::readRunProcess(path.toStdString())->pid), SIGKILL);
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    ASSERT_EQ(failed.size(), 1);
    EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("ended from outside")) &&
                failed[0][0].toString().contains(QStringLiteral("; the checkpoint of step ")))
        << failed[0][0].toString().toStdString();
    ASSERT_TRUE(waitUntil([&] { return c().experiment.resumes(); }));
    const auto step = readRunInfo(path.toStdString()).step;
    click(window->bar()->startButton());
    EXPECT_TRUE(trains(step + 3));
    EXPECT_EQ(c().training.run(), path);
}

TEST_F(TrainingTest, ARefusedValueTurnsStartOffWithItsSentence) {
    chooseTiny();
    ASSERT_TRUE(window->bar()->startButton()->isEnabled());
    c().experiment.set(QStringLiteral("model.n_heads_sa"),
                       std::int64_t{4});  // 5 heads do not divide 16
    EXPECT_FALSE(window->bar()->startButton()->isEnabled());
    EXPECT_TRUE(window->form()
                    ->row(QStringLiteral("model.d_model"))
                    ->problem()
                    .contains(QStringLiteral("multiple")));
    EXPECT_TRUE(window->bar()->startButton()->toolTip().contains(QStringLiteral("multiple")));
    c().experiment.start();
    EXPECT_FALSE(c().training.busy());
    c().experiment.set(QStringLiteral("model.n_heads_sa"), std::int64_t{1});
    EXPECT_TRUE(window->bar()->startButton()->isEnabled());
}

}  // namespace
}  // namespace relascope
