// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <string>

#include "app/cli/commands.h"
#include "checkpoint/series.h"
#include "files/atomic_file.h"
#include "run/run_export.h"
#include "run/run_list.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

struct ExportArguments {
    std::string run, csv, json;  ///< output paths; empty: no such export
};

void needEnding(const char* option, const std::string& path, const std::string& ending) {
    if (!path.empty() && std::filesystem::path(path).extension() != ending)
        throw OptionError(option, "'" + path + "' must end in " + ending);
}

int exportRun(const ExportArguments& a, const Call&) {
    needEnding("--csv", a.csv, ".csv");
    needEnding("--json", a.json, ".json");
    if (a.csv.empty() && a.json.empty())
        throw OptionError("export", "give --csv FILE or --json FILE");
    const auto runs = core::runsOf(a.run);
    if (runs.empty()) throw FileError(a.run, "is no run folder: it has no run.json");
    if (runs.size() > 1)
        throw FileError(a.run, "is a run of several seeds; export its folders one by one to " +
                                   std::string(a.csv.empty() ? "JSON" : "CSV"));
    if (!a.csv.empty()) core::requirePoints(runs.front());
    const auto say = [](const std::string& path) {
        std::cerr << "wrote " << plainName(path) << "\n";
    };
    if (!a.csv.empty()) core::writeTextFile(a.csv, core::metricsCsv(runs.front())), say(a.csv);
    if (!a.json.empty()) core::writeTextFile(a.json, core::runJson(runs.front())), say(a.json);
    return 0;
}

void exportOptions(CLI::App& command, ExportArguments& a) {
    command.add_option("run", a.run, "run folder")->required()->transform(hubPlaceOf);
    command.add_option("--csv", a.csv, "write every measured point as .csv");
    command.add_option("--json", a.json, "write options, points and notes as .json");
}

}  // namespace

Command exportCommand() {
    return commandOf("export", "writes the numbers of a run for other programs", exportOptions,
                     exportRun);
}

}  // namespace relascope::cli
