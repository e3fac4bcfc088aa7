// SPDX-License-Identifier: GPL-3.0-or-later
// Where the program's own libraries for CUDA are, and opening them whatever is found there.
#pragma once

#include <string>

namespace relascope::core::kernels {

/// Whether LibTorch's CUDA library is in the process; ours take CUDA's runtime from it.
bool torchCudaIsLoaded();

/// The library of that name beside the program, or in ../lib/relascope from there.
std::string libraryBesideProgram(const char* name);

/// Opens a library for this program alone; null with a reason for a missing, damaged or unfit file.
/// dlclose() closes it.
void* openLibrary(const std::string& file, std::string& reason);

}  // namespace relascope::core::kernels
