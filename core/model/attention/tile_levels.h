// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of each vector width, each in a source file of its own.
#pragma once

#include "model/attention/tile_kernels.h"

namespace relascope::core {

const TileKernels* tileKernelsPlain();
const TileKernels* tileKernelsAvx2();
const TileKernels* tileKernelsAvx512();

}  // namespace relascope::core

// Kernels compiled for several vector widths. Private to .cpp files.

/// Put before a function: compiles a version of it for each vector width, of which one is selected
/// at program start.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define RELASCOPE_VECTORS \
    __attribute__((optimize("O3", "fp-contract=fast"), target_clones("avx512f", "avx2", "default")))
#else
#define RELASCOPE_VECTORS
#endif
