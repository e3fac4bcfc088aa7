// SPDX-License-Identifier: GPL-3.0-or-later
// The options of the window's program, which both its parser (app/launch.cpp) and its manual page
// are made of.
#pragma once

#include <vector>

#include "app/cli/manual.h"

namespace relascope::cli {

struct WindowOption {
    const char *name, *help;
    const char* value = "";  ///< "file.png"; empty: a flag
    ManualValue kind = ManualValue::None;
    std::vector<std::string> choices = {};
};

const std::vector<WindowOption>& windowOptions();

/// The manual of `relascope`, whose commands are those of `relascope-cli`.
ProgramManual windowManual(const ProgramManual& commandLine);

}  // namespace relascope::cli
