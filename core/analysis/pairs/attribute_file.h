// SPDX-License-Identifier: GPL-3.0-or-later
// Attributes of pairs of objects in a CSV file: the columns example, i, j, and one for each
// attribute.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/pairs/pair_objects.h"
#include "data/served_data.h"

namespace relascope::core {

struct AttributeFile {
    struct Row {
        std::int64_t example = 0, i = 0, j = 0, line = 0;
        std::vector<float> values;  // NaN where the field is empty

        auto pair() const { return std::tie(example, i, j); }
    };
    std::vector<std::string> names;
    std::vector<Row> rows;
};

/// Throws FileError for a file of another form.
AttributeFile readAttributes(const std::string& path);
/// Adds those of a file to attributes of these objects, out of `examples` of the data. Throws
/// FileError for rows that are of no pair, and for numbers that are neither truths nor finite.
void addAttributes(PairAttributes& attributes, const PairObjects& objects, const std::string& path,
                   std::int64_t examples);

/// Adds the attributes that come with the examples of a served model. Throws Error where an example
/// has those of another number of objects.
void addAttributes(PairAttributes& attributes, const PairObjects& objects, const ServedSet& data);

}  // namespace relascope::core
