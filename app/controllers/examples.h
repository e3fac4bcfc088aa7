// SPDX-License-Identifier: GPL-3.0-or-later
// Texts about examples of any data set: their name, label and answer.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "types/data_options.h"
#include "widgets/data/shown_sample.h"

namespace relascope::app {

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
