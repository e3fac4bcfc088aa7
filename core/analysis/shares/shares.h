// SPDX-License-Identifier: GPL-3.0-or-later
// Shares: how much of what the attention of each layer gives comes from each sensory head, and in
// each relational head from each relation and from the symbols (interventions.md section 10). The
// output y of a layer is a sum of parts c; the share of a part in an example is sum <c, y> / sum
// <y, y> over its positions. Shares of a layer add up to 1, and one below 0 works against the
// others. Does not include torch.
#pragma once

#include <cstdint>

#include "analysis/analysis.h"

namespace relascope {

struct ShareOptions {
    std::int64_t examples = 500;  ///< at most; of text a tenth as many windows
};

}  // namespace relascope

namespace relascope::core {

const FieldTable<ShareOptions>& shareFields();

}  // namespace relascope::core
