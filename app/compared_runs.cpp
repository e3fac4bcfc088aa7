// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/compared_runs.h"

#include <algorithm>

#include "answers/runs_answer.h"
#include "app/controllers/runs_controller.h"
#include "widgets/tables/diff_table.h"
#include "widgets/tables/runs_table.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

using Paths = std::vector<std::string>;

/// What order and columns depend on: the options of many runs take long to copy.
ComparedRun outlineOf(const RunInfo& info) {
    ComparedRun run;
    run.info.path = info.path;
    run.info.metric = info.metric;
    run.info.kept = info.kept;
    run.info.labels = info.labels;
    return run;
}

Paths pathsOf(const std::vector<ComparedRun>& runs) {
    Paths paths;
    for (const auto& run : runs) paths.push_back(run.info.path);
    return paths;
}

std::optional<View> viewOfRuns(const Paths& places) {
    if (places.empty() || std::any_of(places.begin(), places.end(), [](const auto& place) {
            return wire::farPathOf(place).has_value();
        }))
        return std::nullopt;
    View view;
    view.command = "compare";
    view.printed = true;
    for (const auto& place : places) view.subjects.push_back({place, {}, {}, {}, {}});
    return view;
}

/// Whether the command of the folder gives these runs in this order.
bool isWholeFolder(const std::vector<ComparedRun>& shown, const RunsController& runs) {
    const auto inside = runs.folder().toStdString() + "/";
    std::vector<ComparedRun> all;
    for (const auto& row : runs.rows()) {
        if (row.info.labels.hidden || !row.info.path.starts_with(inside)) return false;
        all.push_back(outlineOf(row.info));
    }
    core::sortBestFirst(all);
    return pathsOf(all) == pathsOf(shown);
}

}  // namespace

std::optional<View> describeRunsTable(const widgets::RunsTable& table, const RunsController& runs) {
    std::vector<ComparedRun> shown;
    for (const auto* row : table.shownRuns()) shown.push_back(outlineOf(row->info));
    auto view = viewOfRuns(pathsOf(shown));
    if (!view) return view;
    if (isWholeFolder(shown, runs)) view = viewOfRuns({runs.folder().toStdString()});
    if (const auto columns = table.shownColumns(); columns != core::usualRunColumns(shown))
        view->options.push_back({"columns", columns});
    return view;
}

std::optional<View> describeDifferences(const widgets::DiffTable& table) {
    Paths places;
    for (const auto& run : table.runs()) places.push_back(run.info.path);
    if (places.size() < 2 && !table.allFields()) return std::nullopt;
    auto view = viewOfRuns(places);
    if (!view) return view;
    view->options.push_back({"differences", true});
    if (table.allFields()) view->options.push_back({"all", true});
    return view;
}

}  // namespace relascope::app
