// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/exit_guard.h"

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace relascope::app {

void endProcessWithin(std::chrono::milliseconds limit, int code) {
    std::thread([limit, code] {
        std::this_thread::sleep_for(limit);
        std::fputs("relascope: a background task did not stop; ending without it\n", stderr);
        std::_Exit(code);
    }).detach();
}

}  // namespace relascope::app
