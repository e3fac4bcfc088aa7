// SPDX-License-Identifier: GPL-3.0-or-later
// Padding of sequences, which is never shown, and the sides of maps. The functions are in
// core/probe, without LibTorch.
#pragma once

#include <memory>

#include "types/relation_map.h"

namespace relascope {

/// The side along the rows (columns) of a layer's maps, an index of ProbeResult::sides; 0 where
/// the result does not say.
int rowSide(const ProbeResult& result, int layer);
int columnSide(const ProbeResult& result, int layer);

/// The result without the padding of its texts, in sides and maps; unchanged if there is none.
/// `leftOut` is set to the number of source elements removed.
std::shared_ptr<const ProbeResult> withoutPadding(std::shared_ptr<const ProbeResult> result,
                                                  int* leftOut);

}  // namespace relascope
