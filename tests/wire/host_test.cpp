// SPDX-License-Identifier: GPL-3.0-or-later
// Machines that are reached by a command: its words, paths of the mirror, what a host may and may
// not do, and a mirror of runs that a second session on this machine keeps.
#include "wire/host.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "checkpoint/checkpoint.h"
#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "files/safetensors.h"
#include "options/presets.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "run/run_list.h"
#include "run/run_process.h"
#include "study/study.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/text_format.h"
#include "wire/host_link.h"
#include "wire/run_door.h"
#include "wire/start_study.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using wire::Host;
using wire::HostLink;

/// A host that is this machine in another home, reached by sh.
class HostTest : public ::testing::Test {
protected:
    void SetUp() override {
        fs::create_directories(home / "far/bin");
        fs::create_symlink(RELASCOPE_BIN "/relascope-cli", home / "far/bin/relascope-cli");
        setenv("XDG_CACHE_HOME", (home / "cache").c_str(), 1);
        setenv("RELASCOPE_RUNS", (home / "runs").c_str(), 1);
        host.name = "gpu1";
        host.reach = reach("");
        host.runs = home / "far/runs";
        fs::create_directories(host.runs);
        wire::setHosts({host});
    }
    void TearDown() override {
        wire::setHosts({});
        unsetenv("XDG_CACHE_HOME");
        unsetenv("RELASCOPE_RUNS");
    }
    /// A command that does what it is given, after `first`.
    std::string reach(const std::string& first) const {
        return "env HOME=" + (home / "far") + " PATH=" + (home / "far/bin") +
               ":/usr/bin:/bin sh -c " + shellWord(first + "exec \"$@\"") + " reach";
    }
    static bool until(const std::function<bool()>& holds, int seconds = 30) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return true;
    }
    RunOptions tiny(std::int64_t steps) const {
        RunOptions options = core::presetOptions("quick");
        for (const char* name : {"d_model", "dff"}) options.model.set(name, 16);
        options.data.train_size = 64, options.data.validation_size = options.data.test_size = 16;
        options.train.batch_size = 16;
        options.train.steps = steps;
        options.train.device = "cpu";
        return options;
    }

    testing_support::TemporaryFolder home{"hosts"};
    Host host;
};

TEST_F(HostTest, DividesWordsAsAShellDoes) {
    EXPECT_EQ(wire::wordsOf("ssh  -p 22 'a b'\t\"c \\\" d\"e \\ f", "reach"),
              (std::vector<std::string>{"ssh", "-p", "22", "a b", "c \" de", " f"}));
    EXPECT_TRUE(wire::wordsOf("  ", "reach").empty());
    EXPECT_THROW(wire::wordsOf("ssh 'gpu1", "reach"), OptionError);
    for (const char* name : {"", ".", "..", "a/b"}) {
        Host wrong = host;
        wrong.name = name;
        EXPECT_THROW(wire::checkHost(wrong), OptionError) << name;
    }
    Host wrong = host;
    wrong.runs = "runs";
    EXPECT_THROW(wire::checkHost(wrong), OptionError);
    wrong = host;
    wrong.reach = " ";
    EXPECT_THROW(wire::checkHost(wrong), OptionError);
    EXPECT_NO_THROW(wire::checkHost(host));
}

TEST_F(HostTest, PathsOfTheMirrorAreThoseOfTheHost) {
    const auto local = wire::mirrorPath("gpu1", "/home/a/runs/x");
    EXPECT_EQ(*wire::farPathOf(local), (wire::FarPath{"gpu1", "/home/a/runs/x"}));
    EXPECT_FALSE(wire::farPathOf("/home/a/runs/x"));
    for (const char* path : {"runs", "/a/../../b", ""})
        EXPECT_THROW(wire::mirrorPath("gpu1", path), FileError) << path;
    wire::Json request = {{"weights", {{"path", local}}}, {"files", {local + "/a", "plain"}}};
    EXPECT_EQ(wire::takeFarPaths(request), "gpu1");
    EXPECT_EQ(request["weights"]["path"], "/home/a/runs/x");
    EXPECT_EQ(request["files"][0], "/home/a/runs/x/a");
    EXPECT_EQ(request["files"][1], "plain");
    wire::Json both = {{"a", local}, {"b", wire::mirrorPath("gpu2", "/x")}};
    EXPECT_THROW(wire::takeFarPaths(both), Error);
    wire::Json none = {{"a", "/x"}};
    EXPECT_EQ(wire::takeFarPaths(none), "");
    // Models that are served there.
    EXPECT_EQ(*wire::farPathOf("served:mine@gpu1"), (wire::FarPath{"gpu1", "served:mine"}));
    for (const char* here : {"served:mine", "served:mine@", "served:mine@a/b", "mine@gpu1"})
        EXPECT_FALSE(wire::farPathOf(here)) << here;
    wire::Json asked = {{"words", {"lens", "served:mine@gpu1"}}};
    EXPECT_EQ(wire::takeFarPaths(asked), "gpu1");
    EXPECT_EQ(asked["words"][1], "served:mine");
}

TEST_F(HostTest, QuotesWhatSshLetsAShellDivide) {
    Host far;
    far.name = "gpu1";
    far.reach = "ssh gpu1";
    const auto words = wire::farCommand(far, {"attach", "/runs/it's; rm -rf $HOME"}, "srun -n 1");
    // As sshd does: the words behind the name of the machine, joined, to a shell.
    const auto name = std::find(words.begin(), words.end(), "gpu1");
    ASSERT_NE(name, words.end());
    std::string line;
    for (auto it = name + 1; it != words.end(); ++it) line += *it + " ";
    const std::string out = home / "words";
    const std::string print = home / "far/bin/srun";
    core::writeTextFile(print, "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + shellWord(out) + "\n");
    fs::permissions(print, fs::perms::owner_all);
    const std::string command = "env HOME=" + (home / "far") + " PATH=" + (home / "far/bin") +
                                ":/usr/bin:/bin sh -c " + shellWord(line);
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(core::readTextFile(out), "-n\n1\nrelascope-cli\nattach\n/runs/it's; rm -rf $HOME\n");
}

TEST_F(HostTest, SaysWhyAHostCannotBeReached) {
    wire::Session session;
    const auto sentence = [&] {
        wire::setHosts({host});
        try {
            session.ask("host", {{"host", "gpu1"}});
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    host.reach = reach("echo nobody answers >&2; exit 255; ");
    EXPECT_EQ(sentence(), "gpu1 cannot be reached: nobody answers");
    fs::remove(home / "far/bin/relascope-cli");
    host.reach = reach("");
    EXPECT_EQ(sentence(), "Relascope is not installed on gpu1.");
    host.reach = reach("cat /dev/zero | tr '\\0' x; ");
    EXPECT_EQ(sentence(), "what was received is not a frame of Relascope");
    host.reach = "no-such-program";
    EXPECT_NE(sentence(), "");
    fs::create_symlink(RELASCOPE_BIN "/relascope-cli", home / "far/bin/relascope-cli");
    host.reach = reach("echo Welcome, RSF; echo it is RS; ");  // a start-up file that prints
    EXPECT_EQ(sentence(), "");
    const auto facts = wire::hostFacts(session, home / "runs/not/made", {});
    EXPECT_EQ(facts.runs, home / "runs");
    EXPECT_GT(facts.free, 0) << "of the file system that it will lie in";
}

TEST_F(HostTest, ARunIsStartedWatchedSteeredAndMirrored) {
    std::atomic<int> changes = 0;
    HostLink link(host, [&] { ++changes; });
    ASSERT_TRUE(until([&] { return link.status().state == HostLink::State::Connected; }))
        << link.status().sentence;
    const std::string mirror = link.status().folder;
    EXPECT_EQ(mirror, wire::mirrorPath("gpu1", host.runs));
    EXPECT_TRUE(core::listRuns(mirror).empty());

    wire::StartRequest request;
    request.options = tiny(1'000'000);
    request.folder = mirror;
    auto started = wire::startRun(request, {});
    ASSERT_TRUE(started.door);
    EXPECT_EQ(started.path, mirror + "/quick-dat-s0");
    link.follow({started.path});
    ASSERT_TRUE(until([&] {
        return core::isRunFolder(started.path) && core::isTrained(started.path) &&
               core::readMetrics(started.path).size() > 20;
    }));
    // The metrics of a followed run come more often than its state, which comes with the list.
    ASSERT_TRUE(until([&] { return core::readRunInfo(started.path).state == RunState::Running; }));
    wire::DoorClient client;
    std::atomic<bool> paused = false;
    std::atomic<std::int64_t> step = 0;
    wire::DoorClient::Listener listener;
    listener.progress = [&](Progress p) { step = p.step; };
    listener.state = [&](RunInfo info) { paused = info.state == RunState::Paused; };
    std::jthread watching(
        [&](std::stop_token stop) { client.run(std::move(started.door), listener, stop); });
    ASSERT_TRUE(until([&] { return step > 0; }));
    client.send("pause");
    ASSERT_TRUE(until([&] { return paused.load(); }));
    client.send("cancel");
    ASSERT_TRUE(until([&] { return !core::isTrained(started.path); }));
    const std::string far = wire::farPathOf(started.path)->path;
    ASSERT_TRUE(until([&] {
        return core::readMetrics(started.path).size() == core::readMetrics(far).size() &&
               core::readRunInfo(started.path).state == core::readRunInfo(far).state;
    }));
    EXPECT_EQ(core::readTextFile(started.path + "/metrics.jsonl"),
              core::readTextFile(far + "/metrics.jsonl"));

    // Labels are written there and come back; what is deleted there leaves the mirror.
    wire::Session session;
    wire::writeLabels(session, started.path, {"mine", {"a"}, false});
    EXPECT_EQ(core::readRunLabels(far).name, "mine");
    link.refresh();
    ASSERT_TRUE(until([&] { return core::readRunInfo(started.path).name == "mine"; }));
    const std::string copy = home / "copy";
    wire::fetchRun(started.path, copy, true, {});
    EXPECT_EQ(core::readTextFile(copy + "/metrics.jsonl"),
              core::readTextFile(far + "/metrics.jsonl"));
    EXPECT_EQ(core::lastWholeCheckpoint(copy), core::lastWholeCheckpoint(far));
    EXPECT_FALSE(fs::exists(copy + "/.far"));
    EXPECT_FALSE(core::isTrained(copy));
    const auto trash = core::trashPath(mirror, started.path);
    wire::moveRun(session, started.path, trash);
    EXPECT_TRUE(core::isRunFolder(wire::farPathOf(trash)->path)) << trash;
    link.refresh();
    ASSERT_TRUE(until([&] { return !fs::exists(started.path); }));
}

TEST_F(HostTest, AStudyIsMadeWorkedOnAndMirrored) {
    HostLink link(host, [] {});
    ASSERT_TRUE(until([&] { return link.status().state == HostLink::State::Connected; }));
    const auto wanted = [] { return true; };
    const std::string study = link.status().studies + "/small", far = home / "far/studies/small";
    EXPECT_EQ(link.status().studies, wire::mirrorPath("gpu1", home / "far/studies"));
    StudyPlan plan;
    plan.preset = "pairwise-order", plan.models = {"mlp", "corelnet"}, plan.sizes = {64};
    plan.settings = {{"data.dim", "4"},          {"data.validation_size", "32"},
                     {"data.test_size", "32"},   {"train.steps", "1000000"},
                     {"train.batch_size", "32"}, {"train.early_stopping.metric", "none"}};
    wire::createFarStudy(study, core::planText(plan), wanted);
    EXPECT_EQ(core::readStudy(far).plan, plan);
    EXPECT_EQ(core::readStudy(study).plan, plan) << "it can be shown at once";
    EXPECT_EQ(core::listStudies(link.status().studies), std::vector{study});
    EXPECT_FALSE(wire::isWorkedOn(study));
    StudyPlan other = plan;
    other.seeds = {7};
    EXPECT_THROW(wire::createFarStudy(study, core::planText(other), wanted), FileError);
    EXPECT_THROW(wire::createFarStudy(study, "{", wanted), FileError);

    // The launcher is put before it.
    host.launch = "sh -c 'echo launched >&2; exec \"$@\"' launcher";
    wire::setHosts({host});
    wire::StudyStart start;
    start.study = study, start.jobs = 2;
    EXPECT_FALSE(wire::startStudy(start, wanted)) << "the process is there";
    EXPECT_THROW(wire::startStudy(start, wanted), FileError) << "once";
    link.follow({study});
    ASSERT_TRUE(until([&] { return wire::isWorkedOn(study); }));
    ASSERT_TRUE(until([&] { return core::readStudy(study).count(CellState::Running) == 2; }, 120));
    EXPECT_TRUE(core::readTextFile(study + "/log").starts_with("launched\n"));
    const std::string run = study + "/runs/" + core::readStudy(study).cells[0].name;
    EXPECT_EQ(core::readFarRun(run)->path, far + "/runs/" + fs::path(run).filename().string());
    link.follow({study, run});
    ASSERT_TRUE(until([&] { return core::readMetrics(run).size() > 20; })) << "its curve";
    EXPECT_TRUE(wire::doorOf(run)) << "it can be steered";

    wire::stopStudy(study, wanted);
    ASSERT_TRUE(until([&] { return !wire::isWorkedOn(study); }, 60));
    ASSERT_TRUE(until([&] { return core::readStudy(study).count(CellState::Interrupted) == 2; }));
    EXPECT_NO_THROW(wire::stopStudy(study, wanted)) << "nothing works on it";
    fs::remove_all(far);
    link.refresh();
    EXPECT_TRUE(until([&] { return !fs::exists(study); }));
    EXPECT_EQ(link.status().state, HostLink::State::Connected) << link.status().sentence;
}

TEST_F(HostTest, ACheckpointThereIsOpened) {
    wire::setHosts({host});
    const std::string run = home / "far/runs/x";
    {
        auto folder = core::RunFolder::create(run, tiny(10));
        folder.saveInfo();
    }
    wire::Session session;
    const auto listed = wire::listFolder(session, "gpu1", home / "far", {});
    EXPECT_EQ(listed.path, fs::canonical(home / "far").string());
    ASSERT_EQ(listed.entries.size(), 2u);
    EXPECT_EQ(listed.entries[1].name, "runs");
    EXPECT_TRUE(listed.entries[1].folder);
    EXPECT_EQ(wire::listFolder(session, "gpu1", "", {}).path, listed.path) << "the home folder";
    EXPECT_THROW(wire::listFolder(session, "gpu1", "/nowhere", {}), FileError);
    const auto local = wire::mirrorPath("gpu1", run);
    try {
        wire::openFarCheckpoint(session, local, {});
        FAIL() << "it has no checkpoint";
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("has no checkpoint yet"), std::string::npos)
            << error.what();
    }
    // Weights of a made-up model: the names and values cross, the problems, too.
    fs::create_directories(home / "far/model");
    const std::vector<float> values = {1, 3};
    core::writeSafetensors(
        home / "far/model/model.safetensors",
        {{"a.weight", "F32", {2}, {reinterpret_cast<const std::uint8_t*>(values.data()), 8}}});
    const auto opened =
        wire::openFarCheckpoint(session, wire::mirrorPath("gpu1", home / "far/model"), {});
    const auto here = core::openCheckpoint(home / "far/model");
    EXPECT_EQ(wire::farPathOf(opened.info.path)->path, here.info.path);
    EXPECT_EQ(opened.info.tensors, here.info.tensors);
    EXPECT_EQ(opened.info.problems, here.info.problems);
    EXPECT_EQ(opened.info.files, here.info.files);
    const auto statistics = wire::farTensorStatistics(session, opened.info.path, "a.weight", {});
    EXPECT_EQ(statistics.mean, 2.0);
    EXPECT_EQ(statistics.histogram, core::tensorStatistics(here.info.path, "a.weight").histogram);
}

// Seven hundred with many captures, which have more values than a message may, then five thousand.
TEST_F(HostTest, AListOfThousandsOfRunsArrives) {
    const std::string first = home / "far/runs/r0";
    {
        auto folder = core::RunFolder::create(first, tiny(10));
        folder.saveInfo();
    }
    fs::create_directories(first + "/captures");
    const auto add = [&](int begin, int end, int files) {
        for (int run = begin; run < end; ++run) {
            const std::string path = home / ("far/runs/r" + std::to_string(run));
            fs::create_directories(path + "/captures");
            if (run > 0)
                fs::copy_file(first + "/run.json", path + "/run.json",
                              fs::copy_options::overwrite_existing);
            for (int file = 0; file < files; ++file)
                std::ofstream(path + "/captures/step-" + std::to_string(file) + ".safetensors");
        }
    };
    add(0, 700, 160);
    for (const int runs : {700, 5000}) {
        if (runs > 700) add(700, runs, 0);
        wire::Session session(host, [] { return true; });
        const auto listing = wire::listRuns(session, host.runs, 0, {}, {});
        EXPECT_EQ(listing.runs.size(), static_cast<std::size_t>(runs));
        ASSERT_EQ(listing.changed.size(), static_cast<std::size_t>(runs));
        EXPECT_GT(listing.now, 0);
        const auto names = std::set<std::string>(listing.runs.begin(), listing.runs.end());
        EXPECT_EQ(names.size(), listing.runs.size());
        std::size_t all = 0;
        for (const auto& run : listing.changed) all += run.files.size();
        EXPECT_GE(all, 700U * 160U + static_cast<std::size_t>(runs));
        EXPECT_GE(wire::filesIn(session, host.runs, {}).size(), all);
        // Nothing has changed since: names alone.
        EXPECT_EQ(
            wire::listRuns(session, host.runs, listing.now + 60'000'000'000, {}, {}).changed.size(),
            0U);
    }
}

// Who does not ask for pages, as an earlier version, gets one answer.
TEST_F(HostTest, AListWithoutPagesIsOneAnswer) {
    {
        auto folder = core::RunFolder::create(home / "far/runs/x", tiny(10));
        folder.saveInfo();
    }
    wire::Session session(host, [] { return true; });
    const auto answer =
        session.ask("list", {{"folder", host.runs}, {"since", 0}, {"held", wire::Json::array()}},
                    {}, [](const wire::Json&, const wire::Bytes&) { FAIL(); });
    EXPECT_EQ(answer.message.get<wire::Listing>().changed.size(), 1U);
}

TEST_F(HostTest, ALostConnectionIsTriedAgain) {
    const std::string key = home / "reachable";
    host.reach = reach("[ -e " + key + " ] || { echo no route >&2; exit 255; }; ");
    HostLink link(host, [] {});
    ASSERT_TRUE(until([&] { return link.status().state == HostLink::State::Lost; }));
    EXPECT_EQ(link.status().sentence, "gpu1 cannot be reached: no route");
    core::writeTextFile(key, "");
    link.refresh();
    EXPECT_TRUE(until([&] { return link.status().state == HostLink::State::Connected; }));
}

TEST_F(HostTest, AFailedStartSaysWhy) {
    HostLink link(host, [] {});
    ASSERT_TRUE(until([&] { return link.status().state == HostLink::State::Connected; }));
    wire::StartRequest request;
    request.options = tiny(10);
    request.options.train.device = "cuda:7";
    request.folder = link.status().folder;
    std::string said;
    try {
        auto started = wire::startRun(request, {});
        wire::DoorClient::Listener listener;
        listener.failed = [&](const std::string& sentence) { said = sentence; };
        wire::DoorClient().run(std::move(started.door), listener, {});
    } catch (const Error& error) {
        said = error.what();
    }
    EXPECT_NE(said.find("cuda:7"), std::string::npos) << said;
}

TEST_F(HostTest, ALauncherIsWaitedFor) {
    // As srun waits for a machine; what it prints goes to the log of the run.
    host.launch = "sh -c 'echo waiting for resources; sleep 2; exec \"$@\"' launcher";
    wire::setHosts({host});
    HostLink link(host, [] {});
    ASSERT_TRUE(until([&] { return link.status().state == HostLink::State::Connected; }));
    wire::StartRequest request;
    request.options = tiny(1'000'000);
    request.folder = link.status().folder;
    std::atomic<bool> queued = false;
    std::jthread looks([&](std::stop_token stop) {
        const std::string run = request.folder + "/quick-dat-s0";
        while (!stop.stop_requested() && !queued) {
            link.refresh();
            queued = core::isRunFolder(run) && core::readRunInfo(run).state == RunState::Queued;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    });
    auto started = wire::startRun(request, {});
    looks.request_stop();
    EXPECT_TRUE(queued) << "it is listed while it waits";
    EXPECT_EQ(core::readTextFile(wire::farPathOf(started.path)->path + "/log").substr(0, 22),
              "waiting for resources\n");
    wire::DoorClient client;
    client.send("cancel");
    EXPECT_EQ(client.run(std::move(started.door), {}, {}), wire::DoorClient::End::Ended);

    // One that dies has the last word.
    host.launch = "sh -c 'echo no such partition >&2; exit 1' launcher";
    wire::setHosts({host});
    try {
        wire::startRun(request, {});
        FAIL() << "nothing was started";
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()), "no such partition");
    }
}

// RELASCOPE_KILLS=20 kills at as many moments, evenly from the start of the launcher on.
TEST_F(HostTest, ALauncherThatIsKilledLeavesNothing) {
    using Clock = std::chrono::steady_clock;
    host.launch = "sh -c 'sleep 2; exec \"$@\"' launcher";
    wire::setHosts({host});
    HostLink link(host, [] {});
    ASSERT_TRUE(until([&] { return link.status().state == HostLink::State::Connected; }));
    wire::StartRequest request;
    request.options = tiny(1'000'000);
    request.folder = link.status().folder;
    const std::string run = host.runs + "/quick-dat-s0";
    const char* wanted = std::getenv("RELASCOPE_KILLS");
    const int kills = wanted ? std::atoi(wanted) : 2;
    for (int i = 0; i < kills; ++i) {
        SCOPED_TRACE(i);
        std::int64_t launcher = 0;
        Clock::time_point killed;
        std::jthread killer([&] {
            until([&] {
                const std::string line =
                    fs::exists(run + "/.starting") ? core::readTextFile(run + "/.starting") : "";
                const auto process = core::processFromLine(line);
                launcher = process ? process->pid : 0;
                return launcher > 0;
            });
            std::this_thread::sleep_for(std::chrono::milliseconds(100 + 2500 * i / kills));
            killed = Clock::now();
            if (launcher > 0) ::kill(static_cast<pid_t>(launcher), SIGKILL);
        });
        std::string said;
        try {
            auto started = wire::startRun(request, {});
            EXPECT_EQ(wire::DoorClient().run(std::move(started.door), {}, {}),
                      wire::DoorClient::End::Lost);
            said = "the process of the training has ended without a word";
        } catch (const Error& error) {
            said = error.what();
        }
        killer.join();
        ASSERT_GT(launcher, 0) << said;
        EXPECT_EQ(said, "the process of the training has ended without a word");
        EXPECT_LT(Clock::now() - killed, std::chrono::seconds(2)) << "1 s on an idle machine";
        EXPECT_TRUE(until([&] { return ::kill(-static_cast<pid_t>(launcher), 0) != 0; }, 10))
            << "what it had started is gone";
        EXPECT_TRUE(until([&] { return !fs::exists(run); }, 10)) << "and its folder";
        fs::remove_all(run);
    }

    // One that leaves the training behind, and one that begins none.
    host.launch = "sh -c 'setsid \"$@\" &' launcher";
    wire::setHosts({host});
    auto started = wire::startRun(request, {});
    wire::DoorClient client;
    client.send("cancel");
    EXPECT_EQ(client.run(std::move(started.door), {}, {}), wire::DoorClient::End::Ended);
    host.launch = "sh -c 'exit 0' launcher";
    wire::setHosts({host});
    EXPECT_THROW(wire::startRun(request, {}), Error);
}

// As when the window and the launcher that it had started were killed at once.
TEST_F(HostTest, WhatAKilledLauncherLeftIsEnded) {
    const std::string run = home / "runs/x", file = run + "/.starting";
    { core::RunFolder::create(run, tiny(10)); }
    const wire::ChildProcess gone({"true"}, {});
    ASSERT_EQ(gone.status(std::chrono::seconds(10)), 0);
    std::optional<wire::ChildProcess> left;
    {
        core::FileLock lock(file);
        left.emplace(std::vector<std::string>{"sleep", "1000"},
                     std::vector<std::pair<int, int>>{{lock.descriptor(), wire::kInheritedLock}});
        auto process = core::thisProcess();
        process.pid = gone.id();
        ASSERT_TRUE(lock.write(core::processLine(process)));
    }
    ASSERT_TRUE(core::isTrained(run));
    wire::endRun(run);
    EXPECT_FALSE(core::isTrained(run));
    EXPECT_EQ(left->status(std::chrono::seconds(10)), SIGTERM);
    EXPECT_THROW(wire::endRun(run), Error) << "nothing trains it";
}

TEST_F(HostTest, ARunOfAJobElsewhereIsReachedThroughSlurm) {
    const std::string run = home / "far/runs/x", words = home / "words";
    core::writeTextFile(home / "far/bin/srun",
                        "#!/bin/sh\necho \"$@\" > " + shellWord(words) + "\n");
    fs::permissions(home / "far/bin/srun", fs::perms::owner_all);
    { core::RunFolder::create(run, tiny(10)); }
    core::FileLock lock(run + "/.lock");
    core::RunProcess process = core::thisProcess("/nowhere");
    process.machine = "node7", process.job = "42";
    ASSERT_TRUE(lock.write(core::processLine(process)));
    EXPECT_THROW(wire::farDoor({"gpu1", run}, {}), Error);
    ASSERT_TRUE(until([&] { return fs::exists(words); }));
    EXPECT_TRUE(core::readTextFile(words).starts_with("--overlap --jobid 42 /"))
        << core::readTextFile(words);
    EXPECT_TRUE(core::readTextFile(words).ends_with("relascope-cli attach " + run + "\n"));
}

/// A host whose list of runs is made up, and, if one is given, that of its studies.
std::string lyingHost(const testing_support::TemporaryFolder& home, const wire::Json& listing,
                      const wire::Json& studies = {}) {
    const auto write = [&](const std::string& name, const std::vector<wire::Json>& messages) {
        std::ofstream file(home / name, std::ios::binary);
        for (const auto& message : messages) {
            const auto bytes = wire::frameBytes(message);
            file.write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
        }
        return shellWord(home / name);
    };
    // The requests of a link are numbered from 1 on.
    wire::Json facts = {{"version", "9"}, {"machine", "x"}, {"runs", "/runs"}};
    if (!studies.is_null()) facts["studies"] = "/studies";
    const auto first = write("first", {wire::sessionHello(), {{"id", 1}, {"ok", facts}}});
    const auto second = write("second", {{{"id", 2}, {"ok", listing}}});
    const auto third = write("third", {{{"id", 3}, {"ok", studies}}});
    return "sh -c " +
           shellWord("cat " + first + "; sleep 0.5; cat " + second + "; sleep 0.5; cat " + third +
                     "; sleep 3") +
           " x";
}

TEST_F(HostTest, AHostThatLiesWritesNothingOutsideOfItsMirror) {
    const auto file = [](const std::string& name) {
        return wire::Json{{"name", name}, {"size", 3}, {"time", 1}, {"file", 1}};
    };
    const auto run = [&](const std::string& path, const std::string& name) {
        return wire::Json{{"path", path}, {"held", true}, {"ended", ""}, {"files", {file(name)}}};
    };
    for (const auto& [path, name] :
         {std::pair<std::string, std::string>{"../../../../escaped", "run.json"},
          {"/escaped", "run.json"},
          {"x", "../../escaped"},
          {std::string(1 << 20, 'a'), "run.json"},
          {"x", std::string("run\0.json", 9)}}) {
        host.reach =
            lyingHost(home, {{"now", 1}, {"runs", {path}}, {"changed", {run(path, name)}}});
        HostLink link(host, [] {});
        ASSERT_TRUE(until([&] { return link.status().state == HostLink::State::Lost; }));
        EXPECT_NE(link.status().sentence.find("outside of its folder"), std::string::npos)
            << link.status().sentence.substr(0, 200);
    }
    const wire::Json nothing = {
        {"now", 1}, {"runs", wire::Json::array()}, {"changed", wire::Json::array()}};
    for (const auto& [path, name] : {std::pair{"../../../../escaped", "study.json"},
                                     {"/escaped", "study.json"},
                                     {"x", "../../escaped"}}) {
        host.reach = lyingHost(home, nothing, wire::Json::array({run(path, name)}));
        HostLink link(host, [] {});
        ASSERT_TRUE(until([&] { return link.status().state == HostLink::State::Lost; }));
        EXPECT_NE(link.status().sentence.find("outside of its folder"), std::string::npos)
            << link.status().sentence.substr(0, 200);
    }
    for (const auto& entry : fs::recursive_directory_iterator(home / "cache"))
        EXPECT_TRUE(entry.is_directory()) << entry.path();
    EXPECT_FALSE(fs::exists("/escaped"));
    // Numbers that cannot be, and what is not a list at all.
    for (const wire::Json& wrong : {wire::Json{{"now", "x"}}, wire::Json::array({1, 2}),
                                    wire::Json{{"now", 1}, {"runs", 3}, {"changed", 4}}}) {
        host.reach = lyingHost(home, wrong);
        HostLink link(host, [] {});
        EXPECT_TRUE(until([&] { return link.status().state == HostLink::State::Lost; }));
    }
}

TEST(HostFiles, NamesFromAnotherMachineStayInside) {
    for (const char* path : {"run", "a/run.json", "captures/step-1.safetensors"})
        EXPECT_TRUE(wire::isInside(path)) << path;
    for (const std::string path : {"", "/etc/passwd", "..", "../x", "a/../../x", "./a"})
        EXPECT_FALSE(wire::isInside(path)) << path;
    EXPECT_FALSE(wire::isInside(std::string(1 << 20, 'a')));
    EXPECT_FALSE(wire::isInside(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace relascope
