// SPDX-License-Identifier: GPL-3.0-or-later
// Attributes of pairs that come with the examples of a served model.
#pragma once

#include "analysis/pairs/pair_objects.h"
#include "data/served_data.h"

namespace relascope::core {

/// Appends them: yes and no where all values are 0, 1 or unknown (NaN), else numbers.
void addServedAttributes(PairAttributes& attributes, const PairObjects& objects,
                         const ServedSet& data);

}  // namespace relascope::core
