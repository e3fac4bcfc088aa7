// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of the page Compare as commands (types/view.h).
#pragma once

#include <optional>

#include "types/view.h"

namespace relascope::widgets {
class DiffTable;
class RunsTable;
}  // namespace relascope::widgets

namespace relascope::app {

class RunsController;

/// The rows and columns that the table shows: the folder where these are all of its runs in the
/// order of the command, else each run. nullopt without rows, and with runs on other machines.
std::optional<View> describeRunsTable(const widgets::RunsTable& table, const RunsController& runs);
/// nullopt also where there is nothing to compare.
std::optional<View> describeDifferences(const widgets::DiffTable& table);

}  // namespace relascope::app
