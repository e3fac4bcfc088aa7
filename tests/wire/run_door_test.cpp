// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/run_door.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <thread>

#include "files/file_lock.h"
#include "options/presets.h"
#include "run/run_folder.h"
#include "run/run_process.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "wire/start_run.h"
#include "wire/types.h"

namespace relascope {
namespace {

using namespace std::chrono_literals;
using testing_support::TemporaryFolder;
using wire::DoorClient;
using wire::Json;
using wire::RunDoor;

bool waitUntil(const std::function<bool()>& holds) {
    for (int i = 0; i < 1000; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

// A window that notes what it hears.
class Watcher {
public:
    explicit Watcher(const std::string& socket) {
        m_thread = std::jthread([this, socket](std::stop_token stop) {
            DoorClient::Listener listener;
            listener.hello = [this](const std::string& run) { add([&] { hello = run; }); };
            listener.waiting = [this](const std::string& held) { add([&] { waiting = held; }); };
            listener.preparing = [this](double value) { add([&] { fraction = value; }); };
            listener.state = [this](RunInfo news) { add([&] { info = std::move(news); }); };
            listener.progress = [this](Progress news) { add([&] { progress = news; }); };
            listener.answer = [this](ProbeAnswer news) { add([&] { answers.push_back(news); }); };
            listener.failed = [this](const std::string& text) {
                add([&] { failures.push_back(text); });
            };
            try {
                const auto result = client.run(wire::connectTo(socket), listener, stop);
                add([&] { end = result; });
            } catch (const std::exception& error) {
                add([&] { problem = error.what(); });
            }
        });
    }
    /// Whether it comes to hold within ten seconds.
    bool hears(const std::function<bool()>& holds) {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, 10s, holds);
    }
    void leave() { m_thread.request_stop(); }

    DoorClient client;
    std::string hello, waiting, problem;
    double fraction = -1.0;
    RunInfo info;
    Progress progress;
    std::vector<ProbeAnswer> answers;
    std::vector<std::string> failures;
    std::optional<DoorClient::End> end;

private:
    void add(const std::function<void()>& change) {
        std::lock_guard lock(m_mutex);
        change();
        m_changed.notify_all();
    }
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::jthread m_thread;
};

struct OpenDoor {
    core::Control control;
    std::stop_source stop;
    std::optional<RunDoor> door{std::in_place, control, stop};

    void state(RunState state) {
        RunInfo info;
        info.path = "/runs/a", info.state = state;
        door->take(RunChanged{info});
    }
};

// A window asks for something while the job ends: what it cannot send any more hides nothing.
TEST(RunDoor, TheLastWordsOfAJobThatIsGoneAreHeard) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    {
        wire::Connection job((wire::Descriptor(ends[1])));
        job.send(wire::frameBytes({{"m", "failed"}, {"text", "the disk is full"}}));
        job.send(wire::frameBytes({{"m", "ended"}}));
        ASSERT_TRUE(job.write());
    }
    DoorClient client;
    client.send("pause");
    std::string failure;
    DoorClient::Listener listener;
    listener.failed = [&](const std::string& sentence) { failure = sentence; };
    EXPECT_EQ(client.run(wire::Descriptor(ends[0]), listener, {}), DoorClient::End::Ended);
    EXPECT_EQ(failure, "the disk is full");
}

TEST(RunDoor, SeveralWindowsHearOfARunAndSteerIt) {
    OpenDoor run;
    run.door->begin("/runs/a");
    Watcher one(run.door->socket());
    ASSERT_TRUE(one.hears([&] { return one.hello == "/runs/a"; }));
    EXPECT_TRUE(waitUntil([&] { return run.control.isWatched(); }));
    run.door->waiting("cpu: b trains there");
    ASSERT_TRUE(one.hears([&] { return one.waiting == "cpu: b trains there"; }));
    one.client.send("begin");
    EXPECT_TRUE(waitUntil([&] { return run.control.begins(); }));
    run.door->preparing(0.5);
    ASSERT_TRUE(one.hears([&] { return one.fraction == 0.5; }));
    run.state(RunState::Running);
    run.door->take(Progress{7, 10});
    ASSERT_TRUE(one.hears([&] { return one.progress.step == 7; }));
    // One that comes later learns where the run is.
    Watcher two(run.door->socket());
    ASSERT_TRUE(
        two.hears([&] { return two.info.state == RunState::Running && two.progress.step == 7; }));
    two.client.send("pause");
    EXPECT_TRUE(waitUntil([&] { return run.control.paused(); }));
    run.state(RunState::Paused);
    for (auto* window : {&one, &two})
        EXPECT_TRUE(window->hears([&] { return window->info.state == RunState::Paused; }));
    one.client.send("step");
    EXPECT_TRUE(waitUntil([&] { return run.control.takeStep(); }));
    one.client.send("resume");
    EXPECT_TRUE(waitUntil([&] { return !run.control.paused(); }));
    one.client.change("train.learning_rate", "0.0005");
    std::vector<std::pair<std::string, FieldValue>> changes;
    EXPECT_TRUE(waitUntil([&] { return !(changes = run.control.takeEdits()).empty(); }));
    EXPECT_EQ(changes[0].first, "train.learning_rate");
    EXPECT_EQ(std::get<double>(changes[0].second), 5e-4);
    one.client.change("train.learning_rate", "fast");
    EXPECT_TRUE(one.hears([&] { return one.failures.size() == 1; }));
    EXPECT_TRUE(two.failures.empty()) << "it did not ask";
    EditList edits;
    edits.edits.resize(1);
    edits.edits[0].point = "blocks.0.rel.hook_r";
    one.client.setEdits(edits);
    EXPECT_TRUE(waitUntil([&] {
        const auto taken = run.control.takeTrainingEdits();
        return taken && taken->edits == edits.edits;
    }));
    one.leave();
    EXPECT_TRUE(one.hears([&] { return one.end == DoorClient::End::Left; }));
    EXPECT_FALSE(run.stop.stop_requested()) << "the run continues";
    two.client.send("stop");
    EXPECT_TRUE(waitUntil([&] { return run.control.stopping(); }));
    two.client.send("cancel");
    EXPECT_TRUE(waitUntil([&] { return run.stop.stop_requested(); }));
    const std::string socket = run.door->socket();
    run.door.reset();
    EXPECT_TRUE(two.hears([&] { return two.end == DoorClient::End::Ended; }));
    EXPECT_FALSE(std::filesystem::exists(socket));
}

TEST(RunDoor, EachWindowGetsTheAnswerToItsOwnNewestProbe) {
    OpenDoor run;
    Watcher one(run.door->socket()), two(run.door->socket());
    ProbeSample sample;
    sample.label = 1;
    one.client.probe(5, sample, {}, true);
    ASSERT_TRUE(waitUntil([&] { return run.control.hasRequests(); }));
    one.client.probe(6, sample, {}, false);
    sample.label = 2;
    two.client.probe(5, sample, {}, false);
    std::vector<core::LiveProbe> asked;
    ASSERT_TRUE(waitUntil([&] {
        std::this_thread::sleep_for(50ms);
        while (auto request = run.control.takeProbe()) asked.push_back(std::move(*request));
        return asked.size() >= 2;
    }));
    for (const auto& request : asked) {
        ProbeAnswer answer;
        answer.request = request.number;
        answer.result.sample = request.sample;
        run.door->take(answer);
    }
    ASSERT_TRUE(one.hears([&] { return !one.answers.empty(); }));
    ASSERT_TRUE(two.hears([&] { return !two.answers.empty(); }));
    EXPECT_EQ(one.answers.back().request, 6U);
    EXPECT_EQ(one.answers.back().result.sample.label, 1);
    EXPECT_EQ(two.answers.back().request, 5U);
    EXPECT_EQ(two.answers.back().result.sample.label, 2);
}

TEST(RunDoor, WhoDoesNotKeepToTheMessagesIsLetGo) {
    OpenDoor run;
    run.state(RunState::Running);
    const auto isLetGo = [&](const wire::Bytes& bytes) {
        const auto socket = wire::connectTo(run.door->socket());
        EXPECT_TRUE(socket);
        wire::Connection connection(wire::connectTo(run.door->socket()));
        connection.send(bytes);
        connection.write();
        return waitUntil([&] { return !connection.read([](const wire::Frame&) {}); });
    };
    const std::string http = "GET / HTTP/1.1\r\n\r\n";
    EXPECT_TRUE(isLetGo(wire::Bytes(http.begin(), http.end())));
    EXPECT_TRUE(isLetGo(wire::frameBytes({{"m", "pause"}}))) << "before hello";
    EXPECT_TRUE(isLetGo(wire::frameBytes({{"x", 1}})));
    EXPECT_FALSE(run.control.paused());
    // Every message, cut at every byte and then closed.
    const wire::Bytes hello = wire::frameBytes({{"m", "hello"}, {"protocol", core::kDoorProtocol}});
    for (const auto& message :
         std::vector<Json>{{{"m", "pause"}}, {{"m", "probe"}, {"request", 1}}}) {
        const wire::Bytes bytes = wire::frameBytes(message);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            wire::Connection connection(wire::connectTo(run.door->socket()));
            connection.send(hello);
            connection.send(wire::Bytes(bytes.begin(), bytes.begin() + static_cast<long>(size)));
            ASSERT_TRUE(connection.write());
        }
    }
    EXPECT_FALSE(run.control.paused());
    Watcher window(run.door->socket());
    EXPECT_TRUE(window.hears([&] { return window.info.state == RunState::Running; }))
        << "others are served as before";
}

TEST(RunDoor, ASilentWindowHoldsOneOfEachKind) {
    OpenDoor run;
    wire::Connection silent(wire::connectTo(run.door->socket()));
    silent.send(wire::frameBytes({{"m", "hello"}, {"protocol", core::kDoorProtocol}}));
    ASSERT_TRUE(silent.write());
    ASSERT_TRUE(waitUntil([&] { return run.control.isWatched(); }));
    const auto began = std::chrono::steady_clock::now();
    for (std::int64_t step = 0; step < 200000; ++step) run.door->take(Progress{step, 200000});
    EXPECT_LT(std::chrono::steady_clock::now() - began, 20s) << "nobody waits for it";
    Watcher window(run.door->socket());
    EXPECT_TRUE(window.hears([&] { return window.progress.step == 199999; }));
    // And when it reads again, it has the newest, and not all of them.
    std::int64_t last = 0, count = 0;
    EXPECT_TRUE(waitUntil([&] {
        silent.read([&](const wire::Frame& frame) {
            ++count;
            if (frame.message.at("m") == "progress") last = frame.message.at("step");
        });
        return last == 199999;
    }));
    EXPECT_LT(count, 100000);
}

TEST(RunDoor, AJobOfATestEndsWithItsWindow) {
    OpenDoor run;
    run.door->endWithFirst();
    {
        Watcher window(run.door->socket());
        ASSERT_TRUE(waitUntil([&] { return run.control.isWatched(); }));
        EXPECT_FALSE(run.stop.stop_requested());
    }
    EXPECT_TRUE(waitUntil([&] { return run.stop.stop_requested(); }));
}

TEST(RunDoor, OneWhoseSocketWasDeletedOpensAnother) {
    const TemporaryFolder folder("door");
    std::filesystem::create_directories(folder.path());
    OpenDoor run;
    const std::string path = folder.path() + "/run";
    auto files = core::RunFolder::create(path, core::presetOptions("quick"));
    files.setDoor(run.door->socket());
    run.door->begin(path);
    ASSERT_TRUE(wire::doorOf(path));
    std::filesystem::remove(run.door->socket());
    ASSERT_FALSE(wire::doorOf(path));
    EXPECT_TRUE(waitUntil([&] { return wire::doorOf(path).get() >= 0; }));
    EXPECT_EQ(core::readRunProcess(path)->pid, getpid());
}

TEST(RuntimeFolder, IsOfItsOwnerAlone) {
    const TemporaryFolder folder("runtime");
    std::filesystem::create_directories(folder.path());
    const char* before = std::getenv("XDG_RUNTIME_DIR");
    const std::string kept = before ? before : "";
    setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
    const std::string made = wire::runtimeFolder();
    EXPECT_EQ(made, folder.path() + "/relascope");
    struct stat facts {};
    ASSERT_EQ(stat(made.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0700U);
    chmod(made.c_str(), 0755);
    EXPECT_THROW(wire::runtimeFolder(), FileError);
    std::filesystem::remove(made);
    std::filesystem::create_symlink(folder.path(), made);
    EXPECT_THROW(wire::runtimeFolder(), FileError);
    before ? setenv("XDG_RUNTIME_DIR", kept.c_str(), 1) : unsetenv("XDG_RUNTIME_DIR");
}

TEST(RunProcess, ItsLineIsReadBackAndDamagedOnesAreNot) {
    const auto process = core::thisProcess("/run/user/0/relascope/run-1.sock");
    EXPECT_EQ(core::processFromLine(core::processLine(process)), process);
    for (const char* line : {"", "{", "[]", "{}", "{\"pid\":\"x\"}", "{\"pid\":-1}", "\xff"})
        EXPECT_FALSE(core::processFromLine(line)) << line;
}

TEST(RunProcess, SaysHowAProcessEnded) {
    auto process = core::thisProcess();
    process.pid = 1;
    EXPECT_EQ(core::howItEnded(process, 812), "the process was ended from outside at step 812");
    process.oomKills -= 2;
    EXPECT_EQ(core::howItEnded(process, 812),
              "the process ended at step 812, probably for want of memory (the system ended 2 "
              "processes meanwhile)");
    // The log may hold the last words of earlier processes, too.
    const TemporaryFolder run("crashed-run");
    std::filesystem::create_directories(run.path());
    const std::string ending = "; if the system keeps core dumps, 'coredumpctl info ";
    std::ofstream log(run / "log");
    log << "Training\nrelascope-cli: crashed: std::bad_alloc" << ending << "71' says where\n"
        << std::flush;
    EXPECT_EQ(core::howItEnded(process, 812, run.path()), core::howItEnded(process, 812));
    log << "relascope-cli: crashed: X: y" << ending << "1' says where\n" << std::flush;
    EXPECT_EQ(core::howItEnded(process, 812, run.path()),
              "the program crashed at step 812: X: y" + ending + "1' says where");
    process.boot = "another";
    EXPECT_EQ(core::howItEnded(process, 812), "the computer was restarted while the run trained");
    process.machine = "node7";
    EXPECT_EQ(core::howItEnded(process, 812), "the process on node7 has ended at step 812");
}

TEST(RunProcess, ARunWithoutItsProcessSaysSo) {
    const TemporaryFolder folder("ended");
    std::filesystem::create_directories(folder.path());
    const std::string path = folder.path() + "/run";
    {
        auto run = core::RunFolder::create(path, core::presetOptions("quick"));
        run.info().state = RunState::Running;
        run.info().step = 3;
        run.saveInfo();
        EXPECT_EQ(core::readRunInfo(path).state, RunState::Running);
        EXPECT_EQ(core::readRunProcess(path)->pid, getpid());
    }
    const RunInfo info = core::readRunInfo(path);
    EXPECT_EQ(info.state, RunState::Interrupted);
    EXPECT_EQ(info.message, "the process was ended from outside at step 3");
    const core::FileLock starting(path + "/.starting");
    EXPECT_EQ(core::readRunInfo(path).state, RunState::Running) << "it is about to";
}

TEST(StartRun, AStartFileThatIsDamagedIsNamed) {
    const TemporaryFolder folder("start");
    std::filesystem::create_directories(folder.path());
    const auto problem = [&](const std::string& text) -> std::string {
        std::ofstream(folder.path() + "/start.json", std::ios::trunc) << text;
        try {
            wire::readStart(folder.path());
        } catch (const FileError& error) {
            return error.what();
        }
        return {};
    };
    for (const char* text : {"", "[]", "{}", "{\"format\":\"other\"}",
                             "{\"format\":\"relascope-start/1\",\"options\":\"{}\"}",
                             "{\"format\":\"relascope-start/1\",\"options\":3}"})
        EXPECT_NE(problem(text).find("start.json"), std::string::npos) << text;
}

TEST(StartRun, WhatCannotBeTrainedLeavesNoFolder) {
    const TemporaryFolder folder("start2");
    std::filesystem::create_directories(folder.path());
    wire::StartRequest request;
    request.options = core::presetOptions("quick");
    request.options.train.batch_size = 0;
    request.folder = folder.path() + "/runs";
    EXPECT_THROW(wire::startRun(request, {}), OptionError);
    EXPECT_FALSE(std::filesystem::exists(request.folder));
    // Its door would be in a folder of somebody else.
    request.options = core::presetOptions("quick");
    const std::string place = folder.path() + "/run/relascope";
    std::filesystem::create_directories(place);
    std::filesystem::permissions(place, std::filesystem::perms::all);
    const char* before = std::getenv("XDG_RUNTIME_DIR");
    const std::string kept = before ? before : "";
    setenv("XDG_RUNTIME_DIR", (folder.path() + "/run").c_str(), 1);
    EXPECT_THROW(wire::startRun(request, {}), FileError);
    before ? setenv("XDG_RUNTIME_DIR", kept.c_str(), 1) : unsetenv("XDG_RUNTIME_DIR");
    EXPECT_FALSE(std::filesystem::exists(request.folder));
}

// A run that takes a moment, of a model that is hardly one.
wire::StartRequest tinyRequest(const std::string& folder) {
    wire::StartRequest request;
    request.options = core::presetOptions("quick");
    auto& options = request.options;
    options.model.set("d_model", 16);
    options.model.set("dff", 16);
    options.data.train_size = 64;
    options.data.validation_size = options.data.test_size = 16;
    options.train.batch_size = 16;
    options.train.steps = 1000000;
    options.train.device = "cpu";
    request.folder = folder;
    request.threads = 1;
    request.endsWithWindow = true;
    return request;
}

TEST(StartRun, TwoStartsAtTheSameMomentAreTwoRuns) {
    const TemporaryFolder folder("two");
    std::array<std::string, 2> paths;
    {
        std::array<wire::StartedRun, 2> runs;
        {
            std::vector<std::jthread> threads;
            for (auto& run : runs)
                threads.emplace_back(
                    [&] { run = wire::startRun(tinyRequest(folder.path() + "/runs"), {}); });
        }
        for (std::size_t i = 0; i < 2; ++i) {
            ASSERT_TRUE(runs[i].door);
            paths[i] = runs[i].path;
            EXPECT_TRUE(core::isTrained(paths[i]));
            EXPECT_THROW(
                {
                    auto again = tinyRequest("");
                    again.resume = paths[i];
                    wire::startRun(again, {});
                },
                FileError)
                << "it is trained";
        }
        EXPECT_NE(paths[0], paths[1]);
    }
    // Their only connections are closed: they end.
    for (const auto& path : paths)
        EXPECT_TRUE(waitUntil([&] { return !core::isTrained(path); })) << path;
}

TEST(StartRun, SeveralSeedsAreOneProcessThatNamesEachRun) {
    const TemporaryFolder folder("seeds");
    auto request = tinyRequest(folder.path() + "/runs");
    request.options.train.steps = 4;
    request.options.train.seeds = {3, 4};
    auto started = wire::startRun(request, {});
    EXPECT_EQ(std::filesystem::path(started.path).filename(), "seed-3");
    std::vector<std::string> runs;
    DoorClient client;
    DoorClient::Listener listener;
    listener.failed = [](const std::string& text) { ADD_FAILURE() << text; };
    listener.state = [&](RunInfo info) {
        if (runs.empty() || runs.back() != info.path) runs.push_back(info.path);
    };
    EXPECT_EQ(client.run(std::move(started.door), listener, {}), DoorClient::End::Ended);
    ASSERT_EQ(runs.size(), 2U);
    for (const auto& run : runs) EXPECT_EQ(core::readRunInfo(run).state, RunState::Done) << run;
    EXPECT_EQ(core::readRunInfo(runs[1]).seed, 4);
}

}  // namespace
}  // namespace relascope
