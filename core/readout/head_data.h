// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled pictures parted into those that a head is fitted on and those that it is measured on.
// Does not include torch.
#pragma once

#include <cstdint>

#include "data/dataset.h"

namespace relascope::core {

struct HeadData {
    DatasetPtr fitting, measured;  ///< with no picture in common
};

/// Two thirds and one third of each class (headSplit(), feature_heads.h). Throws OptionError for
/// data without images or a class with fewer than two.
HeadData headData(const DatasetPtr& labelled, std::uint64_t seed = 0);

}  // namespace relascope::core
