// SPDX-License-Identifier: GPL-3.0-or-later
// Which number of its curves stands for a run.
#pragma once

#include <string>

#include "types/data_kind.h"
#include "types/metric.h"
#include "types/run_options.h"

namespace relascope::core {

/// That of the kind of data; of sequences another one where answers are generated.
inline const std::string& shownMetric(const RunOptions& o) {
    const auto& kind = dataKind(o.data.kind);
    return kind.freeMetric.empty() || o.train.decode_examples == 0 ? kind.metric : kind.freeMetric;
}

}  // namespace relascope::core
