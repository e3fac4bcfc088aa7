// SPDX-License-Identifier: GPL-3.0-or-later
// Ends the process even where a thread never ends.
#pragma once

#include <chrono>

namespace relascope::app {

/// From now on the process lives for `limit` at most; then it ends with `code`. For the time after
/// the window has closed, when everything that must be kept has been saved.
void endProcessWithin(std::chrono::milliseconds limit, int code);

}  // namespace relascope::app
