// SPDX-License-Identifier: GPL-3.0-or-later
// Ends the process even if a thread does not end.
#pragma once

#include <chrono>

namespace relascope::app {

/// Ends the process with `code` after `limit` at the latest. Called after the window has closed and
/// everything has been saved.
void endProcessWithin(std::chrono::milliseconds limit, int code);

}  // namespace relascope::app
