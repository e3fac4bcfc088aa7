// SPDX-License-Identifier: GPL-3.0-or-later
// Generated questions are unlimited; a size of 0 stands for these.
#pragma once

#include <cstdint>

namespace relascope::datasets::mathematics {

inline constexpr std::int64_t kUsualTrain = 100'000, kUsualValidation = 5'000, kUsualTest = 10'000;

}  // namespace relascope::datasets::mathematics
