// SPDX-License-Identifier: GPL-3.0-or-later
// Padding of sequences, which is never shown.
#pragma once

#include <memory>

#include "types/relation_map.h"

namespace relascope::widgets {

/// The result without the padding of its texts, in sides and maps; unchanged if there is none.
/// `leftOut` is set to the number of source elements removed.
std::shared_ptr<const ProbeResult> withoutPadding(std::shared_ptr<const ProbeResult> result,
                                                  int* leftOut);

}  // namespace relascope::widgets
