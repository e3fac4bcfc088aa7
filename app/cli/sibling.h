// SPDX-License-Identifier: GPL-3.0-or-later
// Other processes of this program.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

namespace relascope::cli {

/// The path of the running executable.
std::string ownProgram();
/// Replaces this process by the program `relascope` with the same arguments, as pictures require
/// Qt. Throws Error if it is not found.
int drawWithSibling(int argc, char** argv);
/// Starts `count` processes of this program with these arguments and waits for them; a requested
/// stop is passed on as SIGINT. Returns the highest exit code.
int runSideBySide(const std::vector<std::string>& arguments, int count,
                  const std::stop_token& stop);

}  // namespace relascope::cli
