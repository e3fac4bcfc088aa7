// SPDX-License-Identifier: GPL-3.0-or-later
// The rule for kernels in 16 bits, and of weights in 16 bits: against double precision they err at
// most twice as much as LibTorch's form in the same type.
#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <string>

#include "support/form_results.h"

namespace relascope::core {

/// Half a unit in the last place of 1; of float32 eight times that, since processors add its
/// numbers in other orders, and LibTorch's form may err by less than one unit by chance.
inline double unitOf(torch::ScalarType type) {
    return type == torch::kBFloat16 ? 0x1p-9 : type == torch::kHalf ? 0x1p-12 : 0x1p-22;
}

/// How far a tensor is from the truth: its largest error and its root of the mean square, relative
/// to those of the truth.
struct Errors {
    double largest, mean;
};
inline Errors errorsOf(const torch::Tensor& x, const torch::Tensor& truth) {
    const auto wide = truth.to(torch::kDouble), difference = x.to(torch::kDouble) - wide;
    return {(difference.abs().max() / wide.abs().max()).item<double>(),
            (difference.norm() / wide.norm()).item<double>()};
}

/// Every tensor of `found` is at most twice as far from the truth as that of `plain` (single
/// numbers three times, by chance); an error below a unit of the type is no error.
inline void expectAsExact(const Tensors& truth, const Tensors& plain, const Tensors& found,
                          torch::ScalarType type, const std::string& what) {
    ASSERT_EQ(truth.size(), found.size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const std::string which = what + "_" + std::to_string(i);
        ASSERT_EQ(truth[i].defined(), found[i].defined()) << which;
        if (!truth[i].defined()) continue;
        const auto own = errorsOf(found[i], truth[i]), of = errorsOf(plain[i], truth[i]);
        EXPECT_LE(own.mean, 2 * std::max(of.mean, unitOf(type))) << which;
        EXPECT_LE(own.largest, 3 * std::max(of.largest, unitOf(type))) << which;
        EXPECT_EQ(plain[i].scalar_type(), found[i].scalar_type()) << which;
        // Recorded for tightening the bounds: --gtest_output=json lists these values.
        testing::Test::RecordProperty(which, c10::str(own.mean, " beside ", of.mean));
    }
}

}  // namespace relascope::core
