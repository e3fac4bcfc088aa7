// SPDX-License-Identifier: GPL-3.0-or-later
// Options of the robust regression that recovers relations from noisy symbols.
#pragma once

#include "types/option_groups.h"

namespace relascope::core {

struct RobustRegressionOptions : ObjectInput {
    double sparsity = 0.0;  ///< lambda, the weight of |u|_1; 0 for dense mixtures
    bool operator==(const RobustRegressionOptions&) const = default;
};

}  // namespace relascope::core
