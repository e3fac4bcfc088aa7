// SPDX-License-Identifier: GPL-3.0-or-later
// How much of a fitted relation's directions a head or relation of the model reads, by its weights
// (interventions.md section 18).
#pragma once

#include <torch/types.h>

#include "analysis/pairs/pair_reading.h"
#include "analysis/parts/stream_parts.h"

namespace relascope::core {

struct DirectionsRead {
    double share = 0.0;   ///< |P P_map|^2 / k, 0 to 1
    double chance = 0.0;  ///< share for random directions: the dimensions of the map, of all
};

/// `basis` [d, k]: orthonormal columns. The map reads the rows of its projections of queries and
/// keys, behind the gain of its norm. Throws OptionError for a map that reads no stream of this
/// width.
DirectionsRead directionsRead(const ModelStreams& streams, const PairMap& map,
                              const torch::Tensor& basis);

}  // namespace relascope::core
