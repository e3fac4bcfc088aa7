// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>

#include "app/cli/cli.h"

namespace relascope::cli {
namespace {

/** Registered before the first call of stopOnSignals(), so run after what that call created is
 * destroyed. */
void interruptTheEnd() {
    ::kill(::getpid(), SIGTERM);
    ::usleep(100'000);
}

TEST(Signals, OneThatMeetsTheEndOfTheProcessChangesNothing) {
    EXPECT_EXIT(
        {
            std::atexit(interruptTheEnd);
            (void)stopOnSignals();
            std::exit(3);
        },
        testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace relascope::cli
