// SPDX-License-Identifier: GPL-3.0-or-later
// The main metric of a run, and how it is measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "types/data_kind.h"
#include "types/metric.h"
#include "types/run_options.h"

namespace relascope::core {

/// The main metric: the kind of data's, or for sequences the metric of free-running decoding.
inline const std::string& shownMetric(const RunOptions& o) {
    const auto& kind = dataKind(o.data.kind);
    return kind.freeMetric.empty() || o.train.decode_examples == 0 ? kind.metric : kind.freeMetric;
}

/// The batch size with which a training measures its splits. Sums over other batches are rounded
/// otherwise.
inline std::int64_t evaluationBatch(const RunOptions& run) {
    const auto trained = run.train.batch_size;
    return run.data.isText() ? trained : std::max<std::int64_t>(trained, 256);
}

}  // namespace relascope::core
