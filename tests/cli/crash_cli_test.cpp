// SPDX-License-Identifier: GPL-3.0-or-later
// A crash of the real program.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "cli/command_line.h"
#include "support/processes.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

TEST(CrashCli, ACrashOfATrainingLeavesAReportAndARunThatResumes) {
    const TemporaryFolder folder("cli-crash");
    std::filesystem::create_directories(folder.path());
    const std::string run = folder / "run", state = folder / "state", err = folder / "err";
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
        ::setenv("XDG_STATE_HOME", state.c_str(), 1);
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

    std::vector<std::string> reports;
    for (const auto& entry : std::filesystem::directory_iterator(state + "/relascope"))
        reports.push_back(entry.path().string());
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_NE(reports[0].find("-" + std::to_string(child) + ".txt"), std::string::npos);
    EXPECT_NE(slurp(err).find("relascope-cli: crashed; the report is " + reports[0]),
              std::string::npos)
        << slurp(err);
    const std::string text = slurp(reports[0]);
    for (const char* part :
         {"program: relascope-cli train\n", "sent by a process", "\nrelascope ", "\ncommit ",
          "\nLibTorch 2.", "\ncompiler ", "\nbuild ", "\nstack\n 0  "})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_EQ(text.find(folder.path()), std::string::npos) << text;
    const auto o = runCli("info " + run + " --json");
    EXPECT_EQ(json(o)["state"], "interrupted") << o.out << o.err;
}

}  // namespace
}  // namespace relascope
