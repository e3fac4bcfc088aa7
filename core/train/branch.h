// SPDX-License-Identifier: GPL-3.0-or-later
// Branching: a new run that starts from a checkpoint of another run.
#pragma once

#include <cstdint>
#include <string>

namespace relascope::core {

/// Creates the run folder `to` from the checkpoint of `from` at `step` that was kept before an
/// edit: its weights, optimizer, generators and position in the data, the options at that step, and
/// the curves and captures up to it. `from` may be training. The new run is Stopped; resuming it
/// continues the training. Throws FileError and then leaves no folder `to`.
void branchRun(const std::string& from, std::int64_t step, const std::string& to);

}  // namespace relascope::core
