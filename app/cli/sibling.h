// SPDX-License-Identifier: GPL-3.0-or-later
// Other processes of this program.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

namespace relascope::cli {

/// The file that runs now.
std::string ownProgram();
/// Pictures need Qt: the sibling program draws them, from the same arguments, in place of this
/// process. Throws Error when it is not there.
int drawWithSibling(int argc, char** argv);
/// Starts `count` processes of this program with these arguments and waits for them; a requested
/// stop is passed on as SIGINT. Gives the worst exit code.
int runSideBySide(const std::vector<std::string>& arguments, int count,
                  const std::stop_token& stop);

}  // namespace relascope::cli
