// SPDX-License-Identifier: GPL-3.0-or-later
// Texts about examples of any data set: their name, label and answer.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <QString>

#include "data/dataset.h"
#include "types/data_options.h"
#include "types/run_options.h"
#include "widgets/data/sample_view.h"

namespace relascope::app {

// Data sets that are open, shared by all that shows them so that none is opened twice.

/// Thread-safe. Concurrent requests for the same data wait for one result; the last few data sets
/// stay open.
class DataCache {
public:
    /// Throws the same errors as openData().
    std::shared_ptr<const core::DataSplits> get(const DataOptions& options,
                                                const core::ProgressCallback& progress,
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

/// "image", "sequence", "pair": one example of such data; with a count "2,500 images".
QString exampleWord(const DataOptions& options, bool several);
QString exampleCount(const DataOptions& options, qint64 count);
/// "Linear equations" for math / algebra__linear_1d, "Between".
QString taskTitle(const std::string& kind, const std::string& task);

/// Classes to filter examples by; empty if they have no labels.
std::vector<std::string> labelNames(const core::Dataset& data);

/// Reads the labels of a data set one after another. Not thread-safe.
class LabelReader {
public:
    explicit LabelReader(core::DatasetPtr data);
    /// The class of an example; -1 if examples have none.
    std::int64_t operator()(std::int64_t index);

private:
    core::DatasetPtr m_data;
    std::vector<std::uint8_t> m_pixels;
    std::vector<float> m_objects, m_targets;
};

/// An example with its answer as text.
widgets::ShownSample shownSample(const core::Dataset& data, std::int64_t index);

/// The texts of answer tokens, collected from some hundred examples; empty if answers are not
/// sequences.
std::vector<std::string> tokenNames(const core::Dataset& data);

}  // namespace relascope::app
