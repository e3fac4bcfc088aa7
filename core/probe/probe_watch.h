// SPDX-License-Identifier: GPL-3.0-or-later
// The reports of a probe while its forward pass runs. Does not include torch.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>

#include "types/relation_map.h"

namespace relascope::core {

/// The functions are called on the thread of the probe, between two layers.
struct ProbeWatch {
    int shownLayer = -1;  ///< the layer whose maps are wanted first, from 0; -1: none
    /// Gets the maps so far once `shownLayer` has run, and then about twice a second, all marked as
    /// partial.
    std::function<void(ProbeResult)> partial = {};
    /// No partial result comes before this time: a probe of a small model ends first.
    std::chrono::milliseconds delay{0};
    /// Gets the fraction of layers that have run, and returns false to cancel.
    std::function<bool(double)> progress = {};
    std::stop_token stop = {};
};

}  // namespace relascope::core
