// SPDX-License-Identifier: GPL-3.0-or-later
// Sequences that are filled up to one length for all: what fills them up is never shown.
#pragma once

#include <memory>

#include "types/relation_map.h"

namespace relascope::widgets {

/// The same result without the blanks at the ends of its texts, on the sides and in the maps; as it
/// is where there are none. `leftOut` becomes how many elements of the source went.
std::shared_ptr<const ProbeResult> withoutPadding(std::shared_ptr<const ProbeResult> result,
                                                  int* leftOut);

}  // namespace relascope::widgets
