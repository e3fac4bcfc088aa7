// SPDX-License-Identifier: GPL-3.0-or-later
// Commands about a model that is served on another machine, which run there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/host.h"

namespace relascope::cli {

/// The first of the words that is "served:NAME@HOST"; nothing where there is none.
std::optional<wire::FarPath> farServed(const std::vector<std::string>& words);

/// Runs the command there, as `ssh HOST relascope-cli`, in place of this process; with `answers` by
/// a session there, whose answer is printed here, and which follows SteeredScope. Returns the exit
/// status. Throws OptionError for a HOST that ssh would read as an option, for words of two
/// machines, and for --out, whose file would be written there; Error where the machine cannot be
/// reached.
int runOnHost(const wire::FarPath& far, std::vector<std::string> words, bool answers);

}  // namespace relascope::cli
