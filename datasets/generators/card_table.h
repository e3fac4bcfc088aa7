// SPDX-License-Identifier: GPL-3.0-or-later
// The vectors of the 81 cards from the card network (ABS 4.5).
#pragma once

#include <memory>

#include "train/card_network.h"

namespace relascope::datasets {

/// The table of that seed and width. It is trained on first use and kept while the program runs;
/// concurrent callers wait for it. Throws the same as trainCardNetwork().
std::shared_ptr<const core::CardTable> cardTable(std::int64_t width, std::uint64_t seed,
                                                 const core::ProgressCallback& progress = {},
                                                 std::stop_token stop = {});

}  // namespace relascope::datasets
