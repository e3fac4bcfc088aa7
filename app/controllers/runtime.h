// SPDX-License-Identifier: GPL-3.0-or-later
// LibTorch's threads and devices, set up once and never on the window's thread.
#pragma once

namespace relascope::app {

/// Sets up LibTorch on the first call, leaving one core to the window; concurrent calls wait. Must
/// be called on every worker thread before it uses a model.
void awaitRuntime();

}  // namespace relascope::app
