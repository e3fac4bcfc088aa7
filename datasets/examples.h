// SPDX-License-Identifier: GPL-3.0-or-later
// Examples of any data set as they are shown, found by their label, and selected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "types/data_example.h"

namespace relascope::datasets {

/// An example with its answer as text.
DataExample exampleOf(const core::Dataset& data, std::int64_t index);

/// The texts of answer tokens, collected from some hundred examples; empty if answers are not
/// sequences.
std::vector<std::string> tokenNames(const core::Dataset& data);

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

/// The examples with this label among the first `most`. Throws Cancelled when `progress` says so.
std::vector<std::int64_t> labelledExamples(const core::DatasetPtr& data, std::int64_t label,
                                           std::int64_t most,
                                           const core::ProgressCallback& progress);

/// The examples of the first `count` of these indices (null: of all), as a data set to save.
/// Returns null for text.
core::DatasetPtr pickedOf(const core::DatasetPtr& data,
                          std::shared_ptr<const std::vector<std::int64_t>> indices,
                          std::int64_t count);

}  // namespace relascope::datasets
