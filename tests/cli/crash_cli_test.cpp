// SPDX-License-Identifier: GPL-3.0-or-later
// A crash of the real program.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "app/cli/last_words.h"
#include "cli/command_line.h"
#include "support/processes.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

TEST(CrashCli, ACrashOfATrainingSaysSoAndLeavesARunThatResumes) {
    const TemporaryFolder folder("cli-crash");
    std::filesystem::create_directories(folder.path());
    const std::string run = folder / "run", err = folder / "err";
    const std::string program = std::string(RELASCOPE_BIN) + "/relascope-cli";
    const std::string options =
        "quick --set model.d_model=16 --set model.dff=16 --set data.train_size=64 "
        "--set data.validation_size=32 --set train.batch_size=16 --set train.checkpoint_every=5 "
        "--device cpu --threads 1 --steps 100000000 --out " +
        run;
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        const std::string command =
            "exec " + program + " train " + options + " 2>" + err + " >/dev/null";
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        ::_exit(9);
    }
    ASSERT_GT(child, 0);
    const auto trained = [&] {
        std::error_code error;
        return !std::filesystem::is_empty(run + "/checkpoints", error) && !error;
    };
    for (int i = 0; i < 600 && !trained() && testing_support::lives(child); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ASSERT_TRUE(trained()) << slurp(err);
    ::kill(child, SIGSEGV);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGSEGV);

    const std::string words =
        "invalid memory access (SIGSEGV); if the system keeps core dumps, "
        "'coredumpctl info " +
        std::to_string(child) + "' says where";
    EXPECT_NE(slurp(err).find("relascope-cli: crashed: " + words + "\n"), std::string::npos)
        << slurp(err);
    const auto o = runCli("info " + run + " --json");
    EXPECT_EQ(json(o)["state"], "interrupted") << o.out << o.err;
}

// Further lines of an exception are LibTorch's stack.
TEST(CrashCli, AnExceptionThatNothingCatchesSaysWhatItIs) {
    const auto crash = [] {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        cli::installLastWords("relascope-cli");
        std::thread([] { throw std::runtime_error("no room\nframe #0"); }).join();
    };
    EXPECT_EXIT(crash(), testing::KilledBySignal(SIGABRT),
                "^relascope-cli: crashed: std::runtime_error: no room; if .*' says where\n");
}

}  // namespace
}  // namespace relascope
