// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "answers/answer_text.h"
#include "answers/runs_answer.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/plain_output.h"
#include "checkpoint/series.h"
#include "options/published.h"
#include "run/run_folder.h"
#include "run/run_list.h"
#include "run/run_notes.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

namespace fs = std::filesystem;

std::string absolutePath(const std::string& place) {
    auto path = fs::absolute(place).lexically_normal().string();
    if (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

ComparedRun compared(const RunInfo& info, std::string note) {
    auto run = core::comparedRun(info, core::publishedResults(info));
    run.note = std::move(note);
    return run;
}

/// The runs of a folder as the page Compare lists them: the best first, without the hidden ones.
std::vector<ComparedRun> runsInFolder(const std::string& folder) {
    const auto notes = core::readRunNotes(folder).runs;
    std::vector<ComparedRun> runs;
    for (const auto& info : core::listRuns(folder, [](const Error& error) {
             std::cerr << "left out: " << plainName(error.what()) << "\n";
         })) {
        if (info.labels.hidden) continue;
        const auto note = notes.find(core::noteKey(folder, info.path));
        runs.push_back(
            compared(info, note != notes.end() ? note->second : core::noteOnRun(info.path)));
    }
    if (runs.empty())
        throw FileError(folder,
                        "has no run; name a run folder, or a folder of runs that are not "
                        "hidden");
    core::sortBestFirst(runs);
    return runs;
}

std::vector<ComparedRun> runsAt(const std::string& place) {
    std::error_code error;
    if (!fs::exists(place, error))
        throw FileError(place, "does not exist; name a run folder or a folder of runs");
    const auto path = absolutePath(place);
    if (core::isRunFolder(path)) return {compared(core::readRunInfo(path), core::noteOnRun(path))};
    return runsInFolder(path);
}

/// The runs of all places, each once.
std::vector<ComparedRun> runsOfPlaces(const Question& asked) {
    std::vector<ComparedRun> runs;
    std::set<std::string> taken;
    const auto take = [&](const std::string& place) {
        for (auto& run : runsAt(place))
            if (taken.insert(run.info.path).second) runs.push_back(std::move(run));
    };
    if (const auto reference = asked.text("reference"); !reference.empty()) {
        if (!core::isRunFolder(reference))
            throw OptionError("--reference",
                              "'" + reference + "' is no run folder: it has no run.json");
        take(reference);
    }
    for (const auto& place : asked.subjects) take(place.path);
    return runs;
}

Answer differencesOf(const std::vector<ComparedRun>& runs, bool all) {
    if (runs.size() < 2 && !all)
        throw OptionError("--differences",
                          "needs two runs; name another one, or give --all for the options of one");
    std::vector<RunInfo> infos;
    infos.reserve(runs.size());
    for (const auto& run : runs) infos.push_back(run.info);
    return core::optionsAnswer(infos, all);
}

int compare(const Asked& a, const Call& call) {
    if (!a.out.empty() && !a.out.ends_with(".csv"))
        throw OptionError("--out", "'" + a.out + "' must end in .csv");
    const auto runs = runsOfPlaces(a.question);
    for (const auto& run : runs)
        if (core::isSeries(run.info.path))
            std::cerr << plainName(run.info.path)
                      << ": a series of checkpoints of another program, which has no results; "
                         "'eval' and the option --along of analyses measure its steps\n";
    const auto answer = a.question.value("differences", false)
                            ? differencesOf(runs, a.question.value("all", false))
                            : Answer{{core::runsTable(
                                  runs, a.question.value("columns", core::usualRunColumns(runs)))}};
    if (!a.out.empty()) {
        writeCsv(a.out, answer);
        std::cerr << "wrote " << plainName(a.out) << "\n";
    }
    if (call.json)
        std::cout << core::jsonOf(answer).dump(2) << "\n";
    else if (a.out.empty())
        std::cout << core::plainText(answer);
    return 0;
}

}  // namespace

Command compareCommand() {
    return questionCommand(
        "compare", "write the table as .csv", compare, Needs::Nothing,
        [](CLI::App& command, Asked&) {
            auto* differences = command.get_option("--differences");
            command.get_option("--all")->needs(differences);
            command.get_option("--columns")->allow_extra_args(false)->excludes(differences);
        });
}

}  // namespace relascope::cli
