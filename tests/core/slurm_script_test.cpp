// SPDX-License-Identifier: GPL-3.0-or-later
// Studies on a cluster: the scripts, and what they run, with srun and scontrol played by scripts.
#include "study/slurm_script.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "files/atomic_file.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "study/study.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/error.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

StudyInfo studyOf(const std::string& path, const StudyPlan& plan) {
    return {.path = path, .plan = plan, .cells = studyCells(plan)};
}

StudyPlan smallPlan() {
    return {.preset = "pairwise-order",
            .models = {"mlp", "corelnet"},
            .sizes = {64, 128},
            .seeds = {0, 3},
            .vary = {{"train.learning_rate", {"0.001", "0.01"}}},
            .settings = {{"train.epochs", "2"}}};
}

bool isShell(const std::string& script) {
    TemporaryFolder home("slurm-syntax");
    makeDirectories(home.path());
    writeTextFile(home / "job.sh", script);
    return std::system(("bash -n '" + (home / "job.sh") + "'").c_str()) == 0;
}

TEST(SlurmScript, OfOneProcessIsAWorker) {
    const auto study = studyOf("/data/it's here", smallPlan());
    const std::string script = slurmScript(study, {.tasks = 4}, "/opt/relascope-cli");
    EXPECT_EQ(script,
              "#!/bin/bash\n"
              "#SBATCH --job-name=relascope-study\n"
              "#SBATCH --array=1-4\n"
              "#SBATCH --cpus-per-task=2\n"
              "#SBATCH --mem=8G\n"
              "#SBATCH --time=24:00:00\n"
              "#SBATCH --signal=B:TERM@60\n"
              "# Each task trains runs that no other task trains; a task that is killed or "
              "requeued resumes its runs.\n"
              "exec /opt/relascope-cli study --out '/data/it'\\''s here' --threads "
              "\"${SLURM_CPUS_PER_TASK:-2}\"\n");
    EXPECT_TRUE(isShell(script));
    auto gpu = slurmScript(study, {.tasks = 4, .gpusPerNode = 1}, "/opt/relascope-cli");
    const std::string line = "#SBATCH --gpus-per-node=1\n";
    ASSERT_NE(gpu.find(line), std::string::npos);
    EXPECT_EQ(gpu.erase(gpu.find(line), line.size()), script) << "and nothing else";
}

TEST(SlurmScript, OfSeveralProcessesAsksForNodesAndGpus) {
    const auto study = studyOf("/data/it's here", smallPlan());
    const auto script =
        slurmScript(study, {.tasks = 3, .nodes = 2, .gpusPerNode = 4}, "/opt/it's/relascope-cli");
    for (const char* line :
         {"#SBATCH --array=1-16%3\n", "#SBATCH --nodes=2\n", "#SBATCH --ntasks-per-node=4\n",
          "#SBATCH --gpus-per-node=4\n", "#SBATCH --signal=TERM@60\n", "with 8 processes"})
        EXPECT_NE(script.find(line), std::string::npos) << line << script;
    EXPECT_TRUE(isShell(script)) << script;
    const auto cpus = slurmScript(study, {.nodes = 2}, "/opt/relascope-cli");
    EXPECT_EQ(cpus.find("gpus"), std::string::npos);
    EXPECT_NE(cpus.find("#SBATCH --ntasks-per-node=1\n"), std::string::npos);
    EXPECT_TRUE(isShell(cpus));
    EXPECT_THROW(slurmScript(study, {.tasks = 0}, "x"), OptionError);
    EXPECT_THROW(slurmScript(study, {.nodes = 0}, "x"), OptionError);
    EXPECT_THROW(slurmScript(study, {.gpusPerNode = -1}, "x"), OptionError);
    EXPECT_THROW(slurmScript({.path = "/data"}, {.nodes = 2}, "x"), OptionError);
}

RunOptions optionsOf(const std::vector<std::string>& arguments) {
    RunSettings settings{.preset = arguments.at(0)};
    for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
        const auto &name = arguments[i], &value = arguments[i + 1];
        if (name == "--model")
            settings.model = value;
        else if (name == "--seed")
            settings.seed = std::stoll(value);
        else if (name == "--set")
            settings.set.push_back(value);
        else
            ADD_FAILURE() << name;
    }
    return runOptions(settings);
}

TEST(SlurmScript, TrainsEveryRunWithTheOptionsOfTheStudy) {
    for (const bool sameData : {false, true}) {
        auto plan = smallPlan();
        plan.sameData = sameData;
        // An option that only one of the two models has.
        plan.vary.push_back({"model.relation_softmax", {"false", "true"}});
        for (const auto& cell : studyCells(plan))
            EXPECT_TRUE(optionsOf(cellArguments(plan, cell)) == cellOptions(plan, cell))
                << cell.name;
    }
    for (const auto& preset : presets())
        for (const auto& variant : preset.variants) {
            const StudyPlan plan{.preset = preset.name, .models = {variant}, .seeds = {2}};
            const auto cells = studyCells(plan);
            EXPECT_TRUE(optionsOf(cellArguments(plan, cells[0])) == cellOptions(plan, cells[0]))
                << preset.name << " " << variant;
        }
}

// Runs the script as Slurm would: what srun is given, a word a line.
std::vector<std::string> run(const TemporaryFolder& home, const std::string& script, int task,
                             int* exit = nullptr) {
    const auto program = [&](const std::string& name, const std::string& text) {
        writeTextFile(home / ("bin/" + name), text);
        chmod((home / ("bin/" + name)).c_str(), 0755);
    };
    makeDirectories(home / "bin");
    program("srun", "#!/bin/bash\nprintf '%s\\n' \"$@\"\n");
    program("scontrol",
            "#!/bin/bash\n[ \"$*\" = 'show hostnames node[7-8]' ] && printf 'node7\\nnode8\\n'\n");
    writeTextFile(home / "job.sh", script);
    const std::string command =
        "PATH='" + (home / "bin") + "':\"$PATH\" SLURM_ARRAY_TASK_ID=" + std::to_string(task) +
        " SLURM_JOB_ID=123456 SLURM_JOB_NODELIST='node[7-8]' SLURM_CPUS_PER_TASK=5 bash '" +
        (home / "job.sh") + "' 2>/dev/null";
    std::vector<std::string> words;
    FILE* pipe = popen(command.c_str(), "r");
    char line[1024];
    while (pipe && std::fgets(line, sizeof line, pipe)) {
        words.emplace_back(line);
        words.back().pop_back();
    }
    const int status = pclose(pipe);
    if (exit) *exit = WEXITSTATUS(status);
    return words;
}

TEST(SlurmScript, StartsTheProcessesOfOneRunWithSrun) {
    TemporaryFolder home("slurm folder");
    const auto plan = smallPlan();
    const auto study = studyOf(home / "study", plan);
    const auto script = slurmScript(study, {.nodes = 2, .gpusPerNode = 1}, "/opt/a b/cli");
    const auto words = run(home, script, 4);
    const std::string folder = home / ("study/runs/" + study.cells[3].name);
    std::vector<std::string> expected = {"--kill-on-bad-exit=0", "--cpus-per-task=5",
                                         "/opt/a b/cli", "train"};
    const auto arguments = cellArguments(plan, study.cells[3]);
    expected.insert(expected.end(), arguments.begin(), arguments.end());
    // 20000 + 123456 % 12000
    for (const auto& word :
         {std::string("--out"), folder, std::string("--rendezvous"), std::string("node7:23456"),
          std::string("--threads"), std::string("5")})
        expected.push_back(word);
    EXPECT_EQ(words, expected);

    makeDirectories(folder);
    writeTextFile(folder + "/run.json", "{\n  \"state\": \"interrupted\"\n}\n");
    const auto again = run(home, script, 4);
    expected.erase(expected.begin() + 4,
                   expected.begin() + 4 + static_cast<long>(arguments.size()));
    expected[4] = "--resume";
    EXPECT_EQ(again, expected);

    writeTextFile(folder + "/run.json", "{\n  \"state\": \"done\"\n}\n");
    int exit = -1;
    EXPECT_TRUE(run(home, script, 4, &exit).empty()) << "a run that is done";
    EXPECT_EQ(exit, 0);
    EXPECT_TRUE(run(home, script, 17, &exit).empty());
    EXPECT_EQ(exit, 2) << "the study has 16 runs";
}

TEST(SlurmScript, OfManyRunsIsWrittenAtOnce) {
    StudyPlan plan = smallPlan();
    for (std::int64_t seed = 10; seed < 135; ++seed) plan.seeds.push_back(seed);
    const auto study = studyOf("/data/many", plan);
    ASSERT_EQ(study.cells.size(), 1016u);
    const auto start = std::chrono::steady_clock::now();
    const auto script = slurmScript(study, {.nodes = 2}, "/opt/relascope-cli");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 0.2) << "the window writes it at each change of a number";
    EXPECT_TRUE(isShell(script));
}

}  // namespace
}  // namespace relascope
