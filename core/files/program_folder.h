// SPDX-License-Identifier: GPL-3.0-or-later
// The places of the running program and of the files installed with it: PREFIX/bin,
// PREFIX/lib/relascope, PREFIX/share/relascope. A build folder has the same layout. Nothing is
// found by an absolute path, so that the whole can be moved.
#pragma once

#include <filesystem>
#include <string>

namespace relascope::core {

/// The file of the running program; empty if it cannot be determined.
std::filesystem::path programFile();

/// The folder of programFile(), PREFIX/bin.
std::filesystem::path programFolder();

/// The path PREFIX/share/relascope/NAME; empty if it does not exist.
std::string installedData(const std::string& name);

}  // namespace relascope::core
