// SPDX-License-Identifier: GPL-3.0-or-later
// Chosen examples of a data set, as a data set: what Save writes.
#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"

namespace relascope::app {

/// The first `count` of those numbers (null: of all). Null for a text, which has no such form.
core::DatasetPtr pickedOf(const core::DatasetPtr& data,
                          std::shared_ptr<const std::vector<std::int64_t>> indices,
                          std::int64_t count);

}  // namespace relascope::app
