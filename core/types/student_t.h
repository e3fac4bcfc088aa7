// SPDX-License-Identifier: GPL-3.0-or-later
// Student's t: how far a mean over a few seeds may lie from the true mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>

namespace relascope {

/// The 97.5th percentile of Student's t: 95 % intervals reach so many standard errors from the mean
/// of `freedom` + 1 values.
inline double studentT95(int freedom) {
    static constexpr double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                       2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                       2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                       2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    constexpr int known = static_cast<int>(std::size(table));
    if (freedom <= known) return table[std::max(1, freedom) - 1];
    const double f = freedom, z = 1.959964;  // Cornish and Fisher's expansion, 4 digits from here
    return z + (z * z * z + z) / (4 * f) +
           (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * f * f);
}

}  // namespace relascope
