// SPDX-License-Identifier: GPL-3.0-or-later
// LibTorch's CUDA library. The program links LibTorch for the CPU; libtorch_cuda.so and the
// libraries of NVIDIA that it needs are opened at run time, where the user has them: beside
// LibTorch for the CPU, or in the wheel `torch` of the same build in a Python environment.
#pragma once

#include <string>

namespace relascope::core {

/// Opens libtorch_cuda.so for the whole process: of $RELASCOPE_TORCH, a (virtual) environment or
/// its folder site-packages or torch, if that is set; else the one beside LibTorch; else, where an
/// NVIDIA driver is, the first of the same build in $VIRTUAL_ENV, $CONDA_PREFIX,
/// $XDG_DATA_HOME/relascope/torch, ~/.local and /usr/local. Libraries of another build (version,
/// CUDA version and commit of version.py) do not fit. Returns "" or why there is none, and what to
/// do about it.
std::string openTorchCuda();

/// Why LibTorch's libraries in a folder `torch` do not fit the program: they are of another build.
/// Empty if they are not, or if no version.py tells.
std::string torchBuildProblem(const std::string& torch);

/// The file that openTorchCuda() opened; empty if none.
const std::string& torchCudaFile();

/// A library of this process by the name under which it is looked for ("libtorch_cpu.so"), opened
/// if it was not yet.
struct LoadedLibrary {
    std::string file;     ///< empty: it cannot be opened
    std::string problem;  ///< why not, in the words of the dynamic linker
    std::string version;  ///< what `versionCall` returns, a C function without arguments; or empty
};
LoadedLibrary loadedLibrary(const char* name, const char* versionCall = nullptr);

}  // namespace relascope::core
