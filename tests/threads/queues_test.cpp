// SPDX-License-Identifier: GPL-3.0-or-later
// The threads of the window: queues of short jobs, long tasks, the mailbox and the control of a
// training. Run under ThreadSanitizer and AddressSanitizer.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <latch>
#include <memory>
#include <numeric>
#include <thread>

#include "app/controllers/job_queue.h"
#include "app/controllers/training_controller.h"
#include "threads/fake_models.h"
#include "train/control.h"

namespace relascope::app {
namespace {

using testing_support::Gate;

bool waitUntil(const std::function<bool()>& holds) {
    return QTest::qWaitFor(holds, 20000);
}

/// All answers to what was posted before have arrived.
bool settled(JobQueue& queue) {
    bool done = false;
    QObject context;
    queue.post(
        &context, [](std::stop_token) { return 0; }, [&](int) { done = true; });
    return waitUntil([&] { return done; });
}

TEST(JobQueue, AnswersArriveInOrderOnTheThreadOfTheQueue) {
    JobQueue queue;
    QObject context;
    const auto here = std::this_thread::get_id();
    std::vector<int> read;
    bool elsewhere = false;
    for (int i = 0; i < 300; ++i)
        queue.post(
            &context,
            [&queue, i](std::stop_token) {
                queue.report([] {});
                return std::vector<int>{i};
            },
            [&](std::vector<int> result) {
                elsewhere = elsewhere || std::this_thread::get_id() != here;
                read.push_back(result.front());
            });
    ASSERT_TRUE(waitUntil([&] { return read.size() == 300; }));
    std::vector<int> wanted(300);
    std::iota(wanted.begin(), wanted.end(), 0);
    EXPECT_EQ(read, wanted);
    EXPECT_FALSE(elsewhere);
    EXPECT_TRUE(waitUntil([&] { return !queue.busy(); }));
}

TEST(JobQueue, AnErrorIsASentenceAndACancelledJobSaysNothing) {
    JobQueue queue;
    QObject context;
    QStringList sentences;
    bool done = false;
    const auto failed = [&](const QString& sentence) { sentences << sentence; };
    queue.post(
        &context, [](std::stop_token) -> int { throw Error("no such file"); },
        [&](int) { done = true; }, failed);
    queue.post(
        &context, [](std::stop_token) -> int { throw Cancelled(); }, [&](int) { done = true; },
        failed);
    ASSERT_TRUE(settled(queue));
    EXPECT_EQ(sentences, QStringList("no such file"));
    EXPECT_FALSE(done);
}

TEST(JobQueue, AnAnswerWithoutItsContextIsDropped) {
    JobQueue queue;
    Gate gate;
    gate.close();
    auto context = std::make_unique<QObject>();
    int called = 0;
    const auto wait = [&gate](std::stop_token) { return gate.pass({}); };
    queue.post(context.get(), wait, [&](bool) { ++called; });
    queue.post(
        context.get(), [](std::stop_token) -> int { throw Error("late"); }, [&](int) { ++called; },
        [&](const QString&) { ++called; });
    ASSERT_TRUE(waitUntil([&] { return gate.waiting() == 1; }));
    context.reset();
    gate.open();
    ASSERT_TRUE(settled(queue));
    EXPECT_EQ(called, 0);
}

TEST(JobQueue, ContextsComeAndGoWhileJobsRun) {
    JobQueue queue;
    std::vector<std::unique_ptr<QObject>> contexts;
    int called = 0;
    for (int i = 0; i < 400; ++i) {
        contexts.push_back(std::make_unique<QObject>());
        queue.post(
            contexts.back().get(), [i](std::stop_token) { return QString::number(i); },
            [&](const QString& text) { called += !text.isEmpty(); });
        if (i % 3 == 0) contexts.erase(contexts.begin() + static_cast<int>(contexts.size()) / 2);
        if (i % 7 == 0) QCoreApplication::processEvents();
    }
    ASSERT_TRUE(settled(queue));
    EXPECT_GT(called, 0);
}

TEST(JobQueue, WhatHasNotStartedIsDroppedAndTheEndStopsTheRest) {
    Gate gate;
    gate.close();
    QObject context;
    bool ran = false;
    {
        JobQueue queue;
        queue.post(
            &context,
            [&gate](std::stop_token stop) {
                return gate.pass([&] { return !stop.stop_requested(); });
            },
            [&](bool) { ran = true; });
        queue.post(
            &context, [&ran](std::stop_token) { return ran = true; }, [](bool) {});
        ASSERT_TRUE(waitUntil([&] { return gate.waiting() == 1; }));
        queue.clear();
    }
    QCoreApplication::processEvents();
    EXPECT_FALSE(ran);
}

TEST(JobQueue, TwoLanesWorkAtOnce) {
    JobQueue one, two;
    QObject context;
    std::latch met(2);
    int done = 0;
    for (JobQueue* queue : {&one, &two})
        queue->post(
            &context,
            [&met](std::stop_token) {
                met.arrive_and_wait();  // each waits for the other
                return true;
            },
            [&](bool) { ++done; });
    EXPECT_TRUE(waitUntil([&] { return done == 2; }));
}

TEST(LongTask, ANewJobDropsTheOneBefore) {
    JobQueue queue;
    LongTask task;
    Gate gate;
    gate.close();
    QStringList done, reported;
    const auto begin = [&](const QString& name) {
        task.run(
            queue, name,
            [&gate, &reported, name](LongJob& job, std::stop_token stop) {
                const auto goOn = job.callback(stop);
                job.report([&reported, name] { reported << name; });
                gate.pass([&] { return goOn(0.5); });
                return name;  // a job that does not look at its stop token
            },
            [&](const QString& result) { done << result; });
    };
    begin("first");
    ASSERT_TRUE(waitUntil([&] { return gate.waiting() == 1 && !reported.isEmpty(); }));
    EXPECT_EQ(task.job()->fraction, 0.5);
    begin("second");
    ASSERT_TRUE(waitUntil([&] { return reported.size() == 2; }));
    EXPECT_TRUE(done.isEmpty());
    gate.open();
    ASSERT_TRUE(waitUntil([&] { return !task.busy(); }));
    ASSERT_TRUE(settled(queue));
    EXPECT_EQ(done, QStringList("second"));
}

TEST(LongTask, CancelEndsTheJobAndDropsWhatItSays) {
    JobQueue queue;
    LongTask task;
    QSignalSpy began(&task, &LongTask::began), ended(&task, &LongTask::ended);
    Gate gate;
    gate.close();
    int said = 0;
    std::atomic<bool> stopped = false;
    task.run(
        queue, "long",
        [&](LongJob& job, std::stop_token stop) {
            const auto goOn = job.callback(stop);
            stopped = !gate.pass([&] { return goOn(0.1); });
            job.report([&] { ++said; });
            throw Error("late");
            return 0;
        },
        [&](int) { ++said; }, [&](const QString&) { ++said; });
    ASSERT_TRUE(waitUntil([&] { return gate.waiting() == 1; }));
    task.abandon();
    EXPECT_FALSE(task.busy());
    ASSERT_TRUE(settled(queue));
    EXPECT_TRUE(stopped);
    EXPECT_EQ(said, 0);
    EXPECT_EQ(began.size(), 1);
    EXPECT_EQ(ended.size(), 1);
    QSignalSpy failed(&task, &LongTask::failed);
    task.run(
        queue, "refused", [](LongJob&, std::stop_token) -> int { throw Error("no"); }, [](int) {});
    ASSERT_TRUE(waitUntil([&] { return failed.size() == 1; }));
    EXPECT_FALSE(task.busy());
}

TEST(LongTask, ItsEndStopsTheJob) {
    JobQueue queue;
    auto task = std::make_unique<LongTask>();
    Gate gate;
    gate.close();
    int said = 0;
    task->run(
        queue, "long",
        [&](LongJob& job, std::stop_token stop) {
            const auto goOn = job.callback(stop);
            gate.pass([&] { return goOn(0.1); });
            job.report([&] { ++said; });
            return 0;
        },
        [&](int) { ++said; });
    ASSERT_TRUE(waitUntil([&] { return gate.waiting() == 1; }));
    task.reset();
    ASSERT_TRUE(settled(queue));
    EXPECT_EQ(said, 0);
}

TEST(Mailbox, NothingIsLostBetweenTheThreads) {
    constexpr std::int64_t runs = 4, steps = 2000;
    Mailbox box;
    std::jthread training([&] {
        for (std::int64_t run = 0; run < runs; ++run) {
            box.begin("runs/" + std::to_string(run));
            for (std::int64_t step = 1; step <= steps; ++step) box.put(Progress{step, steps});
            box.put(ProbeAnswer{static_cast<std::uint64_t>(run + 1), {}, {}, {}});
            box.end();
        }
        box.finish();
    });
    std::vector<std::int64_t> ended;
    std::int64_t last = 0;
    std::uint64_t answer = 0;
    for (bool finished = false; !finished;) {
        const auto post = box.take();
        finished = post.finished;
        for (const auto& run : post.runs) {
            if (run.progress) last = run.progress->step;
            if (run.probe) answer = run.probe->request;
            if (run.ended) ended.push_back(run.path.back() - '0');
        }
    }
    EXPECT_EQ(last, steps) << "the newest";
    EXPECT_EQ(ended, (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(answer, 4U);
}

TEST(Control, StopAndPauseAreOfTheJobAllElseOfTheRun) {
    core::Control control;
    control.pause();
    control.step();
    control.changeOption("train.learning_rate", 1e-3);
    control.setInterventions({});
    control.probe(1, {});
    control.endRun();
    EXPECT_TRUE(control.paused());
    EXPECT_FALSE(control.takeStep());
    EXPECT_TRUE(control.takeEdits().empty());
    EXPECT_FALSE(control.takeTrainingEdits());
    EXPECT_FALSE(control.takeProbe());
    control.stopAfterEpoch();
    EXPECT_FALSE(control.paused()) << "a paused epoch continues to its end";
    control.endRun();
    EXPECT_TRUE(control.stopping());
}

// As between two seeds: it does not matter at which moment Stop comes.
TEST(Control, StopIsNotLostBetweenTwoRuns) {
    for (int round = 0; round < 200; ++round) {
        core::Control control;
        std::latch met(2);
        std::jthread training([&] {
            met.arrive_and_wait();
            for (int run = 0; run < 20 && !control.stopping(); ++run) control.endRun();
        });
        met.arrive_and_wait();
        control.stopAfterEpoch();
        training.join();
        ASSERT_TRUE(control.stopping());
    }
}

}  // namespace
}  // namespace relascope::app
