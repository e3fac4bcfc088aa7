// SPDX-License-Identifier: GPL-3.0-or-later
// The scale of inner products. Internal to model/attention.
#pragma once

#include <cmath>
#include <cstdint>

namespace relascope::core {

/// 1 / sqrt(width), for vectors of that width.
inline double rsqrt(std::int64_t width) {
    return 1.0 / std::sqrt(static_cast<double>(width));
}

}  // namespace relascope::core
