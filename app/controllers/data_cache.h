// SPDX-License-Identifier: GPL-3.0-or-later
// Data sets that are open, shared by training and the inspector so that none is opened twice.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include "data/dataset.h"
#include "types/run_options.h"

namespace relascope::app {

/// Thread-safe. Concurrent requests for the same data wait for one result; the last few data sets
/// stay open.
class DataCache {
public:
    /// Throws the same errors as openData().
    std::shared_ptr<const core::DataSplits> get(const DataOptions& options,
                                                const core::ProgressCallback& progress,
                                                std::stop_token stop);
    /// With those of its pretraining stages, as openRunData() has them.
    core::DataSplits getForRun(const RunOptions& options, const core::ProgressCallback& progress,
                               std::stop_token stop);

private:
    struct Entry {
        DataOptions options;
        std::mutex opening;
        std::shared_ptr<const core::DataSplits> splits;
    };
    std::shared_ptr<Entry> entry(const DataOptions& options);

    static constexpr std::size_t kKept = 3;
    std::mutex m_mutex;
    std::list<std::shared_ptr<Entry>> m_entries;  ///< most recently used first
};

}  // namespace relascope::app
