// SPDX-License-Identifier: GPL-3.0-or-later
// One run of several processes: started here or by a launcher, killed, stopped, resumed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command_line.h"
#include "support/processes.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

extern char** environ;

namespace relascope {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

const std::string kTrainTiny =
    "train quick --seed 0 --threads 1 --set model.d_model=16 --set model.dff=16 "
    "--set data.train_size=400 --set data.validation_size=60 --set train.batch_size=40 "
    "--set data.test_size=50 ";

bool waitUntil(const std::function<bool()>& done, double seconds = 60.0) {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    while (!done()) {
        if (Clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

// A process of relascope-cli that is not waited for.
class Process {
public:
    Process(const std::string& arguments, const std::string& errors,
            const std::map<std::string, std::string>& variables = {}) {
        std::vector<std::string> words = {std::string(RELASCOPE_BIN) + "/relascope-cli"}, all;
        std::istringstream split(arguments);
        for (std::string word; split >> word;) words.push_back(word);
        for (char** v = environ; *v; ++v) all.emplace_back(*v);
        for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
        const auto pointers = [](std::vector<std::string>& texts) {
            std::vector<char*> p;
            for (auto& text : texts) p.push_back(text.data());
            p.push_back(nullptr);
            return p;
        };
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&files, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                         0600);
        EXPECT_EQ(posix_spawn(&m_process, words[0].c_str(), &files, nullptr, pointers(words).data(),
                              pointers(all).data()),
                  0);
        posix_spawn_file_actions_destroy(&files);
    }
    ~Process() {
        if (m_process <= 0) return;
        kill(m_process, SIGKILL);
        end();
    }
    void send(int signal) const { kill(m_process, signal); }
    pid_t id() const { return m_process; }
    // The exit code, or 128 + the signal.
    int end() {
        int status = 0;
        waitpid(m_process, &status, 0);
        m_process = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    pid_t m_process = 0;
};

std::map<std::pair<int, std::string>, double> lossesOf(const std::string& run) {
    std::map<std::pair<int, std::string>, double> all;
    std::ifstream file(run + "/metrics.jsonl");
    for (std::string line; std::getline(file, line);) {
        const auto json = Json::parse(line, nullptr, false);
        if (json.is_object()) all[{json["step"], json["split"]}] = json["loss"];
    }
    return all;
}

int stepsOf(const std::string& run) {
    const auto losses = lossesOf(run);
    return losses.empty() ? 0 : losses.rbegin()->first.first;
}

Json infoOf(const std::string& run) {
    return Json::parse(slurp(run + "/run.json"), nullptr, false);
}

class Ranks : public testing::Test {
protected:
    Ranks() { fs::create_directories(m_home.path()); }
    std::string path(const std::string& name) const { return m_home / name; }
    void expectNear(const std::string& a, const std::string& b, double bound) const {
        const auto first = lossesOf(path(a)), second = lossesOf(path(b));
        ASSERT_GT(first.size(), 8u);
        for (const auto& [key, loss] : first) {
            const auto other = second.find(key);
            ASSERT_NE(other, second.end()) << key.second << " " << key.first;
            EXPECT_NEAR(other->second, loss, bound) << key.second << " " << key.first;
        }
    }
    void run(const std::string& name, const std::string& more) const {
        const auto o = runCli(kTrainTiny + more + " --out " + path(name));
        ASSERT_EQ(o.code, 0) << o.err;
    }
    // Starts a long run of two ranks, lets it train, and gives its second process.
    pid_t begin(std::unique_ptr<Process>& process, const std::string& name,
                const std::string& more = "") {
        process = std::make_unique<Process>(
            kTrainTiny + "--epochs 1000 --ranks 2 --set train.checkpoint_every=5 " + more +
                " --out " + path(name),
            path(name + ".err"));
        EXPECT_TRUE(waitUntil([&] { return stepsOf(path(name)) >= 8; }))
            << slurp(path(name + ".err"));
        const auto children = childrenOf(process->id());
        EXPECT_EQ(children.size(), 1u);
        return children.empty() ? -1 : children[0];
    }
    void expectResumes(const std::string& name) {
        EXPECT_EQ(infoOf(path(name))["format"], 1);
        const int steps = stepsOf(path(name)) + 5;
        const auto o = runCli("train --threads 1 --steps " + std::to_string(steps) + " --resume " +
                              path(name));
        EXPECT_EQ(o.code, 0) << o.err;
        EXPECT_EQ(infoOf(path(name))["state"], "done");
        EXPECT_EQ(infoOf(path(name))["facts"]["ranks"], "2");
    }

    TemporaryFolder m_home{"rank_cli"};
};

TEST_F(Ranks, TrainAsOneProcessDoes) {
    const std::string none = "--set model.dropout_rate=0 --epochs 3";
    run("one", none);
    run("two", none + " --ranks 2");
    run("three", none + " --devices cpu,cpu,cpu --set train.sharded_moments=true");
    expectNear("one", "two", 1e-6);
    expectNear("one", "three", 2e-6);
    const auto facts = infoOf(path("three"))["facts"];
    EXPECT_EQ(facts["ranks"], "3");
    EXPECT_EQ(facts["rank_devices"], "cpu, cpu, cpu");
    EXPECT_EQ(infoOf(path("two"))["device"], "cpu, cpu");
    EXPECT_NE(slurp(path("three") + "/ranks/2.log").find("rank 2 ("), std::string::npos);
    EXPECT_FALSE(fs::exists(path("three") + "/ranks/0.log"));
}

TEST_F(Ranks, WithDropoutAResumedRunIsTheSameToTheLastBit) {
    for (const std::string more : {"", "--set train.sharded_moments=true "}) {
        const std::string whole = more.empty() ? "whole" : "sharded", cut = whole + "-cut";
        run(whole, more + "--ranks 2 --steps 24");
        run(whole + "-again", more + "--ranks 2 --steps 24");
        expectNear(whole, whole + "-again", 0.0);
        run(cut, more + "--ranks 2 --steps 13");
        const auto o = runCli("train --threads 1 --steps 24 --resume " + path(cut));
        ASSERT_EQ(o.code, 0) << o.err;
        expectNear(whole, cut, 0.0);
        EXPECT_EQ(slurp(path(whole) + "/checkpoints/step-24/model.safetensors"),
                  slurp(path(cut) + "/checkpoints/step-24/model.safetensors"));
    }
    const auto o = runCli("train --threads 1 --ranks 1 --steps 30 --resume " + path("whole"));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("resumed with one process instead of 2 ranks"), std::string::npos);
}

TEST_F(Ranks, OfEachLauncherByItsVariables) {
    using Variables = std::map<std::string, std::string>;
    const std::vector<std::pair<std::string, std::function<Variables(int)>>> launchers = {
        {"mpirun",
         [](int r) {
             return Variables{{"OMPI_COMM_WORLD_RANK", std::to_string(r)},
                              {"OMPI_COMM_WORLD_SIZE", "2"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(r)},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                              {"PMIX_NAMESPACE", "test-" + std::to_string(getpid())}};
         }},
        {"srun",
         [](int r) {
             return Variables{
                 {"SLURM_PROCID", std::to_string(r)},  {"SLURM_STEP_NUM_TASKS", "2"},
                 {"SLURM_STEP_NUM_NODES", "1"},        {"SLURM_STEP_ID", "0"},
                 {"SLURM_LOCALID", std::to_string(r)}, {"SLURM_JOB_ID", std::to_string(getpid())}};
         }},
        {"torchrun",
         [](int r) {
             return Variables{{"RANK", std::to_string(r)},
                              {"WORLD_SIZE", "2"},
                              {"LOCAL_RANK", std::to_string(r)},
                              {"MASTER_ADDR", "127.0.0.1"},
                              {"MASTER_PORT", std::to_string(20000 + getpid() % 20000)}};
         }},
    };
    run("ranks", "--ranks 2 --steps 12");
    for (const auto& [name, variables] : launchers) {
        const auto arguments = kTrainTiny + "--steps 12 --out " + path(name);
        Process second(arguments, path(name + "1.err"), variables(1)),
            first(arguments, path(name + "0.err"), variables(0));
        EXPECT_EQ(first.end(), 0) << slurp(path(name + "0.err"));
        EXPECT_EQ(second.end(), 0) << slurp(path(name + "1.err"));
        expectNear("ranks", name, 0.0);
    }
    // Two runs, one after the other, by the same processes.
    const auto arguments = kTrainTiny + "--steps 6 --set train.seeds=0,1 --out " + path("seeds");
    std::string both = arguments;
    both.replace(both.find("--seed 0 "), 9, "");
    Process second(both, path("seeds1.err"), launchers[1].second(1)),
        first(both, path("seeds0.err"), launchers[1].second(0));
    EXPECT_EQ(first.end(), 0) << slurp(path("seeds0.err"));
    EXPECT_EQ(second.end(), 0) << slurp(path("seeds1.err"));
    EXPECT_EQ(infoOf(path("seeds/seed-1"))["state"], "done");
}

TEST_F(Ranks, AKilledRankEndsTheRunInASentence) {
    std::unique_ptr<Process> process;
    const auto second = begin(process, "run");
    ASSERT_GT(second, 0);
    kill(second, SIGKILL);
    EXPECT_EQ(process->end(), 1);
    const auto info = infoOf(path("run"));
    EXPECT_EQ(info["state"], "failed");
    const auto message = info["message"].get<std::string>();
    EXPECT_EQ(message.rfind("rank 1 (", 0), 0u) << message;
    EXPECT_NE(message.find("its process was killed by signal 9"), std::string::npos) << message;
    EXPECT_NE(message.find("; the checkpoint of step " + std::to_string(int(info["step"])) +
                           " is complete"),
              std::string::npos)
        << message;
    EXPECT_NE(slurp(path("run.err")).find(message), std::string::npos);
    expectResumes("run");
}

TEST_F(Ranks, AStoppedRankIsLostAfterTheTimeout) {
    std::unique_ptr<Process> process;
    const auto second = begin(process, "run", "--rank-timeout 2");
    ASSERT_GT(second, 0);
    kill(second, SIGSTOP);
    EXPECT_EQ(process->end(), 1);
    const auto message = infoOf(path("run"))["message"].get<std::string>();
    EXPECT_EQ(message.rfind("rank 1 (", 0), 0u) << message;
    EXPECT_NE(message.find(" was lost at step "), std::string::npos) << message;
    EXPECT_FALSE(lives(second)) << "nothing stays behind";
    expectResumes("run");
}

TEST_F(Ranks, NothingStaysBehindAKilledRank0) {
    std::unique_ptr<Process> process;
    const auto second = begin(process, "run");
    ASSERT_GT(second, 0);
    process->send(SIGKILL);
    EXPECT_EQ(process->end(), 128 + SIGKILL);
    EXPECT_TRUE(waitUntil([&] { return !lives(second); }, 5.0));
    expectResumes("run");
}

// In every phase: start, data, joining, steps, evaluations and checkpoints, which follow each other
// quickly here.
TEST_F(Ranks, MayBeKilledAtAnyMoment) {
    for (int turn = 0; turn < 8; ++turn) {
        const auto name = std::to_string(turn);
        Process process(kTrainTiny +
                            "--epochs 1000 --ranks 2 --set train.checkpoint_every=1 --set "
                            "train.evaluate_every=1 --out " +
                            path(name),
                        path(name + ".err"));
        std::this_thread::sleep_for(std::chrono::milliseconds(60 + turn * turn * 50));
        const auto children = childrenOf(process.id());
        const bool first = turn % 2 == 1 || children.empty();
        kill(first ? process.id() : children[0], SIGKILL);
        const auto begin = Clock::now();
        EXPECT_NE(process.end(), 0) << turn;
        EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20)) << turn;
        for (const auto child : children)
            EXPECT_TRUE(waitUntil([&] { return !lives(child); }, 5.0)) << turn;
        if (!fs::exists(path(name) + "/run.json")) continue;  // it had not begun
        const auto o = runCli("train --threads 1 --steps " +
                              std::to_string(stepsOf(path(name)) + 2) + " --resume " + path(name));
        EXPECT_EQ(o.code, 0) << turn << ": " << o.err;
    }
}

TEST_F(Ranks, RanksOfALauncherEndWithoutRank0) {
    const auto variables = [](int r) {
        return std::map<std::string, std::string>{
            {"RANK", std::to_string(r)},
            {"WORLD_SIZE", "2"},
            {"MASTER_ADDR", "127.0.0.1"},
            {"MASTER_PORT", std::to_string(20000 + (getpid() + 7) % 20000)}};
    };
    const auto arguments = kTrainTiny + "--epochs 10000 --out " + path("run");
    Process second(arguments, path("1.err"), variables(1)),
        first(arguments, path("0.err"), variables(0));
    ASSERT_TRUE(waitUntil([&] { return stepsOf(path("run")) >= 3; })) << slurp(path("0.err"));
    first.send(SIGKILL);
    EXPECT_EQ(second.end(), 1);
    EXPECT_NE(slurp(path("1.err")).find("rank 1 ends: "), std::string::npos);
    EXPECT_NE(slurp(path("run") + "/ranks/1.log").find("failed"), std::string::npos);
}

TEST_F(Ranks, AnInterruptedRunIsResumedWithTheSameLosses) {
    std::unique_ptr<Process> process;
    const auto second = begin(process, "run");
    process->send(SIGINT);
    EXPECT_EQ(process->end(), 130);
    EXPECT_EQ(infoOf(path("run"))["state"], "interrupted");
    EXPECT_FALSE(lives(second));
    const int step = infoOf(path("run"))["step"];
    const auto o = runCli("train --threads 1 --steps " + std::to_string(step + 8) + " --resume " +
                          path("run"));
    ASSERT_EQ(o.code, 0) << o.err;
    run("whole", "--ranks 2 --steps " + std::to_string(step + 8));
    const auto cut = lossesOf(path("run")), whole = lossesOf(path("whole"));
    for (int s = 1; s <= step + 8; ++s)
        EXPECT_EQ(cut.at({s, "train"}), whole.at({s, "train"})) << s;
}

TEST_F(Ranks, ALostRunIsResumedAsOftenAsAsked) {
    std::unique_ptr<Process> process;
    auto second = begin(process, "run", "--restarts 1");
    ASSERT_GT(second, 0);
    kill(second, SIGKILL);
    const pid_t parent = process->id();
    ASSERT_TRUE(waitUntil([&] {
        const auto children = childrenOf(parent);
        return children.size() == 1 && children[0] != second;
    })) << slurp(path("run.err"));
    const int before = stepsOf(path("run"));
    ASSERT_TRUE(waitUntil([&] { return stepsOf(path("run")) >= before + 3; }));
    EXPECT_NE(slurp(path("run.err")).find("; the run is resumed"), std::string::npos);
    kill(childrenOf(parent)[0], SIGKILL);
    EXPECT_EQ(process->end(), 1) << "one restart was asked for";
}

TEST_F(Ranks, RefusesWhatCannotBe) {
    const auto out = " --out " + path("never");
    expectRefused(kTrainTiny + "--devices cpu,cuda:0" + out, 2, "mixes the CPU and CUDA devices");
    expectRefused(kTrainTiny + "--devices cpu,cpu --device cpu" + out, 2, "give one");
    expectRefused(kTrainTiny + "--devices cpu,cpu --ranks 3" + out, 2, "3 contradicts --devices");
    expectRefused(kTrainTiny + "--rendezvous node1:5" + out, 2, "none of their variables is set");
    for (const char* empty : {"--devices", "--device", "--rendezvous"})
        expectRefused(kTrainTiny + empty + " ''" + out, 2, "is empty");
    expectRefused("rank", 2, "is started by `train --ranks` alone");
    EXPECT_FALSE(fs::exists(path("never")));
}

TEST_F(Ranks, AnErrorBeforeTheFirstStepLeavesNothing) {
    const auto o =
        runCli(kTrainTiny + "--ranks 2 --edit \"layer 9 relation 1 zero\" --out " + path("never"));
    EXPECT_NE(o.code, 0);
    EXPECT_NE(o.err.find("layer"), std::string::npos) << o.err;
    EXPECT_FALSE(fs::exists(path("never")));
}

}  // namespace
}  // namespace relascope
