// SPDX-License-Identifier: GPL-3.0-or-later
#include <filesystem>
#include <iostream>

#include "app/cli/commands.h"
#include "files/atomic_file.h"
#include "run/run_export.h"
#include "run/run_folder.h"

namespace relascope::cli {
namespace {

void needEnding(const char* option, const std::string& path, const std::string& ending) {
    if (!path.empty() && std::filesystem::path(path).extension() != ending)
        throw OptionError(option, "'" + path + "' must end in " + ending);
}

}  // namespace

int exportRun(const ExportArguments& a) {
    needEnding("--csv", a.csv, ".csv");
    needEnding("--json", a.json, ".json");
    if (a.tensorboard.empty() && a.csv.empty() && a.json.empty())
        throw OptionError("export", "give --tensorboard DIR, --csv FILE or --json FILE");
    if (!core::isRunFolder(a.run))
        throw FileError(a.run, core::isRunFolder(a.run + "/seed-0")
                                   ? "is a run of several seeds; export its folders one by one"
                                   : "is no run folder: it has no run.json");
    const auto say = [](const std::string& path) { std::cerr << "wrote " << path << "\n"; };
    if (!a.tensorboard.empty()) say(core::exportTensorBoard(a.run, a.tensorboard));
    if (!a.csv.empty()) core::writeTextFile(a.csv, core::metricsCsv(a.run)), say(a.csv);
    if (!a.json.empty()) core::writeTextFile(a.json, core::runJson(a.run)), say(a.json);
    return 0;
}

}  // namespace relascope::cli
