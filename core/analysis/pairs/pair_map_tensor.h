// SPDX-License-Identifier: GPL-3.0-or-later
// The tensor of a map on pairs of objects, of a forward pass whose hook points were read.
#pragma once

#include <torch/types.h>

#include "analysis/pairs/pair_reading.h"
#include "interventions/editor.h"

namespace relascope::core {

/// The maps of a batch, [b, i, j]: receivers first. Throws Error where the pass did not meet them.
torch::Tensor mapOf(const PointReader& reader, const PairMap& map);

}  // namespace relascope::core
