// SPDX-License-Identifier: GPL-3.0-or-later
// The change of a metric between two runs over the same examples. Does not include torch.
#pragma once

#include <span>
#include <string>

#include "types/edit_results.h"

namespace relascope::core {

/// The mean change and its 95 % interval by bootstrap over examples (Efron 1979, percentiles of
/// 2,000 draws with a fixed seed); NaN values are left out with their pair.
PairedChange pairedChange(const std::string& metric, std::span<const double> base,
                          std::span<const double> edited);

}  // namespace relascope::core
