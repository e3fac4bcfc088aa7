// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/runtime.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "app/crash/crash.h"
#include "train/devices.h"

namespace relascope::app {

void awaitRuntime() {
    crash::guardThread();
    static std::once_flag once;
    std::call_once(once, [] {
        core::initDevices(std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1));
    });
}

}  // namespace relascope::app
