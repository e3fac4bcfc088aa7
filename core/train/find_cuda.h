// SPDX-License-Identifier: GPL-3.0-or-later
// LibTorch's CUDA library. The program links LibTorch for the CPU; libtorch_cuda.so and the
// libraries of NVIDIA that it needs are opened at run time, where the user has them: beside
// LibTorch for the CPU, or in the wheel `torch` of the same build in a Python environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace relascope::core {

/// The build of LibTorch that the program links, as version.py of its wheel says: version, CUDA
/// version, commit. Libraries of another build do not fit it.
const std::string& torchBuild();

/// The folder `torch` of an environment: the folder itself, a site-packages, or a (virtual)
/// environment that holds it; empty if there is none.
std::filesystem::path torchFolderIn(const std::filesystem::path& environment);

/// Where LibTorch is looked for: $VIRTUAL_ENV, $CONDA_PREFIX, $XDG_DATA_HOME/relascope/torch,
/// ~/.local, /usr/local.
std::vector<std::filesystem::path> torchEnvironments();

/// Opens libtorch_cuda.so for the whole process: of $RELASCOPE_TORCH if that is set, else the one
/// beside LibTorch, else the first of the same build in torchEnvironments(), which are asked only
/// where an NVIDIA driver is. Returns "" or why there is none, and what to do about it.
std::string openTorchCuda();

/// The file that openTorchCuda() opened; empty if none.
const std::string& torchCudaFile();

}  // namespace relascope::core
