// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/data_cache.h"

#include <algorithm>

#include "datasets/registry.h"

namespace relascope::app {

std::shared_ptr<DataCache::Entry> DataCache::entry(const DataOptions& options) {
    std::lock_guard lock(m_mutex);
    const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                    [&](const auto& e) { return e->options == options; });
    if (found != m_entries.end()) {
        m_entries.splice(m_entries.begin(), m_entries, found);
    } else {
        m_entries.push_front(std::make_shared<Entry>());
        m_entries.front()->options = options;
        while (m_entries.size() > kKept) m_entries.pop_back();
    }
    return m_entries.front();
}

std::shared_ptr<const core::DataSplits> DataCache::get(const DataOptions& options,
                                                       const core::ProgressCallback& progress,
                                                       std::stop_token stop) {
    const auto mine = entry(options);
    std::lock_guard lock(mine->opening);
    if (!mine->splits)
        mine->splits =
            std::make_shared<const core::DataSplits>(datasets::openData(options, progress, stop));
    return mine->splits;
}

core::DataSplits DataCache::getForRun(const RunOptions& options,
                                      const core::ProgressCallback& progress,
                                      std::stop_token stop) {
    core::DataSplits splits = *get(options.data, progress, stop);
    if (const auto before = options.pretraining())
        splits.pretraining =
            std::make_shared<const core::DataSplits>(getForRun(*before, progress, std::move(stop)));
    return splits;
}

}  // namespace relascope::app
