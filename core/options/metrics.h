// SPDX-License-Identifier: GPL-3.0-or-later
// The main metric of a run.
#pragma once

#include <string>

#include "types/data_kind.h"
#include "types/metric.h"
#include "types/run_options.h"

namespace relascope::core {

/// The metric of the kind of data; another one for sequences with free-running decoding.
inline const std::string& shownMetric(const RunOptions& o) {
    const auto& kind = dataKind(o.data.kind);
    return kind.freeMetric.empty() || o.train.decode_examples == 0 ? kind.metric : kind.freeMetric;
}

}  // namespace relascope::core
