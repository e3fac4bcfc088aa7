// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli study: planned, killed, gone on with, shared, summed up.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

extern char** environ;

namespace relascope {
namespace {

using testing_support::TemporaryFolder;
namespace fs = std::filesystem;

const std::string kTinyStudy =
    "study pairwise-order --models mlp,corelnet --sizes 64,200 --seeds 2 --set data.dim=4 "
    "--set train.epochs=6 --set train.early_stopping.metric=none --threads 1 --out ";

pid_t start(const std::string& out) {
    const std::string program = std::string(RELASCOPE_BIN) + "/relascope-cli";
    std::vector<std::string> words = {program, "study", "--threads", "1", "--out", out};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (const int stream : {1, 2})
        posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, program.c_str(), &quiet, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&quiet);
    return child;
}

// Cells by state, and whether each run measured every step once.
void expectWhole(const std::string& study) {
    const auto shown = runCli("study --show --json --out " + study);
    ASSERT_EQ(shown.code, 0) << shown.err;
    const auto json = nlohmann::json::parse(shown.out);
    EXPECT_EQ(json["cells"].size(), 8u);
    for (const auto& cell : json["cells"]) {
        EXPECT_EQ(cell["state"], "done") << cell["name"];
        std::ifstream metrics(cell["run"].get<std::string>() + "/metrics.jsonl");
        std::int64_t last = -1, points = 0;
        for (std::string line; std::getline(metrics, line);) {
            const auto point = nlohmann::json::parse(line);
            if (point["split"] != "train") continue;
            EXPECT_GT(point["step"].get<std::int64_t>(), last);
            last = point["step"];
            ++points;
        }
        EXPECT_EQ(points, last) << cell["name"];
    }
    std::size_t folders = 0;
    for (const auto& entry : fs::directory_iterator(study + "/runs"))
        folders += entry.is_directory();
    EXPECT_EQ(folders, 8u);
}

TEST(StudyCli, SurvivesKillsAndEndsWithEveryCellOnce) {
    TemporaryFolder home("study-kill");
    const std::string study = home / "study";
    ASSERT_EQ(runCli(kTinyStudy + study + " --show").code, 0);
    for (int kill = 0; kill < 3; ++kill) {
        const pid_t worker = start(study);
        std::this_thread::sleep_for(std::chrono::milliseconds(700 + 350 * kill));
        ::kill(worker, SIGKILL);
        waitpid(worker, nullptr, 0);
    }
    const pid_t a = start(study), b = start(study);  // two at once finish it
    for (const pid_t worker : {a, b}) {
        int status = 0;
        waitpid(worker, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    // The first to end may have left a cell that the other was at.
    ASSERT_EQ(runCli("study --threads 1 --out " + study).code, 0);
    expectWhole(study);
}

TEST(StudyCli, SumsUpAndRefusesInWords) {
    TemporaryFolder home("study-words");
    const std::string study = home / "study";
    const auto done = runCli(kTinyStudy + study + " --jobs 2 --csv " + (home / "t.csv") +
                             " --latex " + (home / "t.tex"));
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_NE(done.out.find("8 of 8 runs done"), std::string::npos) << done.out;
    EXPECT_TRUE(fs::exists(home / "t.csv"));
    EXPECT_TRUE(fs::exists(home / "t.tex"));
    expectWhole(study);

    const auto other = runCli("study pairwise-order --models mlp --sizes 64 --out " + study);
    EXPECT_EQ(other.code, 1);
    EXPECT_NE(other.err.find("contains a different study: its models are mlp, corelnet, not mlp"),
              std::string::npos)
        << other.err;
    EXPECT_EQ(runCli("study pairwise-odrer --out " + (home / "x")).code, 2);
    EXPECT_EQ(runCli("study pairwise-order --models mpl --out " + (home / "x")).code, 2);
    EXPECT_EQ(runCli("study pairwise-order --models mlp --seeds none --out " + (home / "x")).code,
              2);
    EXPECT_EQ(runCli("study pairwise-order --vary model.hiden=1,2 --out " + (home / "x")).code, 2);
    EXPECT_EQ(runCli("study --models mlp --out " + study).code, 2);
    EXPECT_EQ(runCli("study --shard 3/2 --out " + study).code, 2);
    EXPECT_EQ(runCli("study --out " + (home / "nothing")).code, 1);
    EXPECT_FALSE(fs::exists(home / "x"));
    const auto script = runCli("study --slurm 3 --out " + study);
    EXPECT_NE(script.out.find("--array=1-3"), std::string::npos);
}

}  // namespace
}  // namespace relascope
