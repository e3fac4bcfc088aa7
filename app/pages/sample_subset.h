// SPDX-License-Identifier: GPL-3.0-or-later
// A selection of examples of a data set, as a data set to save.
#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"

namespace relascope::app {

/// The first `count` of these indices (null: of all examples). Returns null for text.
core::DatasetPtr pickedOf(const core::DatasetPtr& data,
                          std::shared_ptr<const std::vector<std::int64_t>> indices,
                          std::int64_t count);

}  // namespace relascope::app
