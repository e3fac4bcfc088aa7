// SPDX-License-Identifier: GPL-3.0-or-later
// Where edits find the examples, texts and pictures that they take values from. Does not include
// torch.
#pragma once

#include <functional>
#include <string>

#include "data/dataset.h"

namespace relascope::core {

/// Every member may be empty.
struct EditData {
    std::function<DatasetPtr(const std::string& split)> split;  ///< null for an unknown one
    std::function<ProbeSample(const std::string& text)> text;
    std::function<ProbeSample(const std::string& file)> image;
    /// The example that is inspected, for resample; -1: it is of no split.
    std::string exampleSplit = {};
    std::int64_t example = -1;
};

}  // namespace relascope::core
