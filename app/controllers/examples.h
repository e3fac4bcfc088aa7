// SPDX-License-Identifier: GPL-3.0-or-later
// What examples of any data are called, which label or answer they have, in words.
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

/// Classes that examples can be chosen by; empty where they are not labelled.
std::vector<std::string> labelNames(const core::Dataset& data);

/// Reads the labels of a data set one after the other. Not for several threads at once.
class LabelReader {
public:
    explicit LabelReader(core::DatasetPtr data);
    /// The class of an example; -1 where examples have none.
    std::int64_t operator()(std::int64_t index);

private:
    core::DatasetPtr m_data;
    std::vector<std::uint8_t> m_pixels;
    std::vector<float> m_objects, m_targets;
};

/// An example with its answer in words.
widgets::ShownSample shownSample(const core::Dataset& data, std::int64_t index);

/// What the tokens of answers are called, as far as some hundred examples tell; empty where the
/// data answer otherwise.
std::vector<std::string> tokenNames(const core::Dataset& data);

}  // namespace relascope::app
