// SPDX-License-Identifier: GPL-3.0-or-later
// The CPU's stand-in for tensor cores; mma.cuh describes the fragments.
#pragma once

#include <cstdint>

#include "model/kernels/host_cuda.h"

namespace relascope::core::kernels {

/// Rounded to nearest even; NaN stays NaN.
std::uint16_t hostBFloat16(float x);
std::uint16_t hostFloat16(float x);
float hostFromBFloat16(std::uint16_t bits);
float hostFromFloat16(std::uint16_t bits);

/// d [4] += a [depth / 4] b [depth / 8], for a depth of 8 or 16.
void hostMma(int depth, float (*number)(std::uint16_t), float* d, const std::uint32_t* a,
             const std::uint32_t* b, const Where& where);
/// Throws HostMisuse for rows that are not on a multiple of 16 bytes or outside shared memory.
void hostLoadMatrix(int count, bool transposed, std::uint32_t* to, const void* row,
                    const Where& where);

}  // namespace relascope::core::kernels
