// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/fit_data.h"

#include "types/data_kind.h"

namespace relascope::core {

void fitToData(RunOptions& options) {
    const auto& kind = dataKind(options.data.kind);
    if (kind.fit) kind.fit(options.data, options.model);
}

}  // namespace relascope::core
