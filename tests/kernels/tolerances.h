// SPDX-License-Identifier: GPL-3.0-or-later
// How far kernels may be from the reference in double precision, on the CPU's stand-in and on
// devices alike. Differences count relative to the largest number of a tensor.
#pragma once

namespace relascope::core::kernels {

/// Sums of some hundred terms; a device's exp and tanh err by 2 units more.
constexpr double kFloat32Tolerance = 2e-6;
/// Only the host runs kernels in float64.
constexpr double kFloat64Tolerance = 1e-14;
/// mma with 16-bit factors and float32 sums, of 16 products.
constexpr double kMmaTolerance = 1e-6;

/// Tensor cores: weights, relations and results are rounded to 8 (11) bits, half a unit each; sums
/// and lse are not.
struct TensorTolerances {
    double out, related, lse;
};
constexpr TensorTolerances kBFloat16Tolerances{2 * 0x1p-9, 3 * 0x1p-9, 2e-6};
constexpr TensorTolerances kFloat16Tolerances{2 * 0x1p-12, 3 * 0x1p-12, 2e-6};
/// Of gradients, which are of rounded weights, relations, sums delta and results.
constexpr double kBFloat16GradientTolerance = 4 * 0x1p-9, kFloat16GradientTolerance = 4 * 0x1p-12;

}  // namespace relascope::core::kernels
