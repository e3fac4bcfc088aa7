// SPDX-License-Identifier: GPL-3.0-or-later
// Relascope's own CUDA kernels, which librelascope_cuda.so brings where it was built. Where they do
// not run, the forms by LibTorch are used.
#pragma once

#include <string>
#include <vector>

#include "model/kernels/kernel_table.h"

namespace relascope::core::kernels {

struct KernelPlugin {
    std::string file;
    const KernelTable* table = nullptr;       ///< null: the file is not the right library
    std::string problem;                      ///< why no device is served; empty otherwise
    std::vector<std::string> deviceProblems;  ///< for each device, empty if it is served

    /// Why a device is not served; empty if it is.
    std::string problemOn(int device) const;
};

/// Why kernels are not used on a device that they run on (cuda_check.h): a sentence each, empty if
/// their results agree with LibTorch's.
struct KernelProblems {
    std::string decoding;  ///< problem of the kernels for one more token
    std::string tensor;    ///< problem of those for tensor cores: bf16 and fp16
};

/// Opens a library of kernels and asks it for the devices. Never throws: a missing, damaged or
/// foreign file is reported as a problem in words.
KernelPlugin openKernelPlugin(const std::string& file);

/// The file that RELASCOPE_CUDA_PLUGIN names, else librelascope_cuda.so next to the program or in
/// ../lib/relascope from there. Empty (no kernels) for RELASCOPE_CUDA_PLUGIN=off.
std::string kernelPluginFile();
/// The opened kernelPluginFile(), from the first call on; without LibTorch's CUDA library a problem
/// and no table.
const KernelPlugin& kernelPlugin();
/// The kernels, if they run on that CUDA device, else null. To be called after initDevices(), which
/// loads LibTorch's CUDA library; the file is opened at the first call.
const KernelTable* kernelTable(int device = 0);
/// Why kernelTable() is null; empty if it is not.
std::string kernelsProblem(int device = 0);

// Finds and opens the program's own libraries for CUDA.

/// Whether LibTorch's CUDA library is in the process; our libraries take CUDA's runtime from it.
bool torchCudaIsLoaded();

/// The library of that name beside the program, or in ../lib/relascope from there.
std::string libraryBesideProgram(const char* name);

/// Opens a library for this program alone; null with a reason for a missing, damaged or unfit file.
/// dlclose() closes it.
void* openLibrary(const std::string& file, std::string& reason);

}  // namespace relascope::core::kernels
