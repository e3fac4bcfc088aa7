// SPDX-License-Identifier: GPL-3.0-or-later
// Going back: a new run that starts from a checkpoint of another one.
#pragma once

#include <cstdint>
#include <string>

namespace relascope::core {

/// Makes the run folder `to`, which starts from the checkpoint of `from` at `step` that was kept
/// before an edit: its weights, optimizer, generators and place in the data, the options in force
/// there, and the curves and captures up to there. `from` may be training. The new run is Stopped:
/// resuming it trains on. Throws FileError; then `to` is not left behind.
void branchRun(const std::string& from, std::int64_t step, const std::string& to);

}  // namespace relascope::core
