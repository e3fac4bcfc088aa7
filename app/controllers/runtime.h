// SPDX-License-Identifier: GPL-3.0-or-later
// LibTorch's threads and devices, set up once and never on the window's thread.
#pragma once

namespace relascope::app {

/// Sets LibTorch up the first time, leaving one core to the window; others wait for it. To be
/// called on every worker before it touches a model.
void awaitRuntime();

}  // namespace relascope::app
