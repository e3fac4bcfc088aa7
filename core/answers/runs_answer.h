// SPDX-License-Identifier: GPL-3.0-or-later
// Runs side by side, and the options in which they differ, as tables.
#pragma once

#include <string>
#include <vector>

#include "types/answer.h"
#include "types/compared_run.h"

namespace relascope::core {

/// The columns of the table of runs, in the order of the page Compare: "run", "model",
/// "parameters", "seed", "state", "loss", "validation", "test", "published", "difference", "time",
/// "tags", "note".
const std::vector<std::string>& runColumns();
/// The default columns: without the tags where no run has any.
std::vector<std::string> usualRunColumns(const std::vector<ComparedRun>& runs);

/// The order of the page Compare: by the main metric of validation, the best first, and runs
/// without a value last. Runs of different metrics are grouped by these.
void sortBestFirst(std::vector<ComparedRun>& runs);

/// The table "runs", one row for each run in the order given. `columns` are some of runColumns(),
/// of which "test" gives every value of every split that some run was tested on. Fractions are
/// 0..1. Throws OptionError("columns", ...) for an unknown one.
Table runsTable(const std::vector<ComparedRun>& runs, const std::vector<std::string>& columns);

/// The table "curves": each point of a learning curve, with its run.
struct CurvePoint {
    std::string run;
    MetricPoint point;
};
Table curvesTable(const std::vector<CurvePoint>& points);

/// The options of runs: the values of the answer itself are "differing" and "fields", numbers of
/// options; its table "options" has the column "field" and one for each run, named after it, of
/// which the first is the reference. Without `all` only those that differ from it. A dash stands
/// for an option that a run does not have.
Answer optionsAnswer(const std::vector<RunInfo>& runs, bool all);

}  // namespace relascope::core
