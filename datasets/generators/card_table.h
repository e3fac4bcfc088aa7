// SPDX-License-Identifier: GPL-3.0-or-later
// The vectors of the 81 cards, as the card network sees them (ABS 4.5).
#pragma once

#include <memory>

#include "train/card_network.h"

namespace relascope::datasets {

/// The table of that seed and width, trained when it is first asked for and kept while the program
/// runs. Who asks for one that is being trained waits for it. Throws what trainCardNetwork()
/// throws.
std::shared_ptr<const core::CardTable> cardTable(std::int64_t width, std::uint64_t seed,
                                                 const core::ProgressCallback& progress = {},
                                                 std::stop_token stop = {});

}  // namespace relascope::datasets
