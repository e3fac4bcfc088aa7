// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers that compare the outputs and streams of two models on the same inputs.
#pragma once

#include <torch/types.h>
#include <cstdint>

namespace relascope::core {

/// Two-sided p of McNemar's exact test (McNemar 1947): of `first` + `second` targets that one of
/// two models alone has right, how often chance divides them at least as unevenly. 1 without any.
double mcnemarExact(std::int64_t first, std::int64_t second);

/// Y Y^T of features [rows, width] whose columns have the mean 0, in double precision. Its
/// entries are [rows, rows].
torch::Tensor centredGram(const torch::Tensor& features);
/// Linear centred kernel alignment of two such matrices over the same rows, 0 to 1 (Kornblith et
/// al. 2019, section 3). NaN where one of them is constant.
double linearCka(const torch::Tensor& gram, const torch::Tensor& other);

/// ClassComparison::divergence of scores of yes over no, each by itself.
torch::Tensor divergenceOfSigns(const torch::Tensor& scores, const torch::Tensor& other);

}  // namespace relascope::core
