// SPDX-License-Identifier: GPL-3.0-or-later
// The change of a metric between two runs over the same examples. Does not include torch.
#pragma once

#include <span>
#include <string>

#include "types/edit_results.h"

namespace relascope::core {

/// The change of a metric that is a mean over targets, of which example i has `weights[i]`: the
/// sums of values times weights over the sum of the weights. The 95 % interval is by bootstrap over
/// examples with their weights (Efron 1979, percentiles of 2,000 draws with a fixed seed). Examples
/// without weight, and NaN values with their pair, are left out.
PairedChange pairedChange(const std::string& metric, std::span<const double> base,
                          std::span<const double> edited, std::span<const double> weights);

}  // namespace relascope::core
