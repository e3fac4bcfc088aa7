// SPDX-License-Identifier: GPL-3.0-or-later
#include <filesystem>
#include <utility>

#include "files/command_line.h"
#include "study/slurm_script.h"
#include "study/study.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

std::string absolutePath(const std::string& path) {
    return fs::absolute(path).lexically_normal().string();
}

/// The lines for an array whose tasks each train the cells that no other task has claimed.
std::string workers(const std::string& path, const SlurmJob& job, const std::string& program) {
    return "#!/bin/bash\n"
           "#SBATCH --job-name=relascope-study\n"
           "#SBATCH --array=1-" +
           std::to_string(job.tasks) + "\n" +
           (job.gpusPerNode > 0
                ? "#SBATCH --gpus-per-node=" + std::to_string(job.gpusPerNode) + "\n"
                : std::string()) +
           "#SBATCH --cpus-per-task=2\n"
           "#SBATCH --mem=8G\n"
           "#SBATCH --time=24:00:00\n"
           "#SBATCH --signal=B:TERM@60\n"
           "# Each task trains runs that no other task trains; a task that is killed or requeued "
           "resumes its runs.\n"
           "exec " +
           quotedWord(program) + " study --out " + shellWord(absolutePath(path)) +
           " --threads \"${SLURM_CPUS_PER_TASK:-2}\"\n";
}

/// `options`: of the cell, or of one that differs in size or seed.
std::vector<std::string> argumentsOf(const StudyPlan& plan, const StudyCell& cell,
                                     const RunOptions& options) {
    std::vector<std::string> words = {plan.preset, "--model", cell.model, "--seed",
                                      std::to_string(cell.seed)};
    const auto set = [&](const std::string& key, const std::string& value) {
        words.insert(words.end(), {"--set", key + "=" + value});
    };
    set("train.keep_mib", "0");  // as in cellOptions()
    auto settings = plan.settings;
    for (std::size_t i = 0; i < plan.vary.size(); ++i)
        settings.emplace_back(plan.vary[i].key, cell.values.at(i));
    for (const auto& [key, value] : settings)
        if (RunOptions::field(key).present(options)) set(key, value);
    if (!plan.sizes.empty()) set("data.train_size", std::to_string(cell.size));
    if (!plan.sameData) set("data.seed", std::to_string(cell.seed));
    return words;
}

/// A run of several processes is not claimed: the array gives each its job.
std::string oneRunEach(const StudyInfo& study, const SlurmJob& job, const std::string& program) {
    const auto perNode = std::to_string(job.ranks() / job.nodes);
    std::string text =
        "#!/bin/bash\n"
        "#SBATCH --job-name=relascope-study\n"
        "#SBATCH --array=1-" +
        std::to_string(study.cells.size()) + "%" + std::to_string(job.tasks) +
        "\n"
        "#SBATCH --nodes=" +
        std::to_string(job.nodes) +
        "\n"
        "#SBATCH --ntasks-per-node=" +
        perNode + "\n" +
        (job.gpusPerNode > 0 ? "#SBATCH --gpus-per-node=" + perNode + "\n" : std::string()) +
        "#SBATCH --cpus-per-task=2\n"
        "#SBATCH --mem-per-cpu=4G\n"
        "#SBATCH --time=24:00:00\n"
        // Not B: the processes that srun has started get the signal and save, not this script.
        "#SBATCH --signal=TERM@60\n"
        "# Each job trains one run with " +
        std::to_string(job.ranks()) +
        " processes; a job that is killed or requeued resumes its run.\n"
        "case \"$SLURM_ARRAY_TASK_ID\" in\n";
    RunOptions options;
    for (std::size_t i = 0; i < study.cells.size(); ++i) {
        const auto& cell = study.cells[i];
        text += std::to_string(i + 1) + ") run=" + shellWord(cell.name) + " new=(";
        // Sizes and seeds follow each other; making the options takes most of the time.
        if (i == 0 || cell.model != study.cells[i - 1].model ||
            cell.values != study.cells[i - 1].values)
            options = cellOptions(study.plan, cell);
        const auto arguments = argumentsOf(study.plan, cell, options);
        for (std::size_t k = 0; k < arguments.size(); ++k)
            text += (k == 0 ? "" : " ") + shellWord(arguments[k]);
        text += ") ;;\n";
    }
    return text +
           "*) echo \"the study has no run $SLURM_ARRAY_TASK_ID\" >&2; exit 2 ;;\n"
           "esac\n"
           "run=" +
           shellWord(absolutePath(study.path) + "/runs") +
           "/\"$run\"\n"
           "grep -qs '\"state\": \"done\"' \"$run/run.json\" && exit 0\n"
           "if [ -e \"$run/run.json\" ]; then what=(--resume \"$run\"); else what=(\"${new[@]}\" "
           "--out \"$run\"); fi\n"
           "# On the first node, at a port by the number of the job: two jobs on a node have two.\n"
           "first=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
           "port=$((20000 + SLURM_JOB_ID % 12000))\n"
           "# A process that is lost is reported by the others, which then end.\n"
           "exec srun --kill-on-bad-exit=0 --cpus-per-task=\"${SLURM_CPUS_PER_TASK:-2}\" " +
           shellWord(program) +
           " train \"${what[@]}\" --rendezvous \"$first:$port\" --threads "
           "\"${SLURM_CPUS_PER_TASK:-2}\"\n";
}

}  // namespace

std::vector<std::string> cellArguments(const StudyPlan& plan, const StudyCell& cell) {
    return argumentsOf(plan, cell, cellOptions(plan, cell));
}

std::string slurmScript(const StudyInfo& study, const SlurmJob& job, const std::string& program) {
    const auto atLeast = [](int least, const char* field, int value) {
        if (value < least)
            throw OptionError(field,
                              std::to_string(value) + " is less than " + std::to_string(least));
    };
    atLeast(1, "--slurm", job.tasks);
    atLeast(1, "--slurm-nodes", job.nodes);
    atLeast(0, "--slurm-gpus", job.gpusPerNode);
    if (job.ranks() == 1) return workers(study.path, job, program);
    if (study.cells.empty())
        throw OptionError("--slurm-nodes", "the study has no runs; read it first");
    return oneRunEach(study, job, program);
}

}  // namespace relascope::core
