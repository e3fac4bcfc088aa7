// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled sets of objects from a table with a row for each object (formats.md section 19).
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"

namespace relascope::datasets {

/// The sets of a table in the order of their first rows. A column of words becomes a 0 or 1 for
/// each of its words, in alphabetical order; numbers are brought to mean 0 and variance 1 over the
/// whole table. Where sets differ in size, the shorter ones end with objects of zeros, and a last
/// number is 1 for those that exist.
struct SetTable {
    std::string path;
    std::int64_t objects = 0, width = 0;  ///< objects of the largest set; numbers of an object
    std::vector<float> numbers;           ///< [sets, objects, width]
    /// [width]: "colour = red", "size", and "is there" of the last number.
    std::vector<std::string> features;
    std::vector<std::string> words;       ///< [sets, objects]: "circle, red, 0.5"; "" where empty
    std::vector<std::int32_t> answers;    ///< [sets]
    std::vector<std::string> classNames;  ///< by answer; numbers in their order, else alphabetical
    ObjectFacts about;                    ///< columns of words, and of few whole numbers
    std::vector<std::int32_t> facts;      ///< [sets, objects, facts]
    std::vector<std::string> columns;     ///< names of the columns of numbers
    std::vector<float> asGiven;           ///< [sets, objects, columns], before they are scaled

    std::int64_t sets() const { return static_cast<std::int64_t>(answers.size()); }
};

/// Columns: `set` or `example` says which rows belong together, and `label`, `class`, `answer` or
/// `target`, the same in each row of a set, is the answer; the others describe the object. Throws
/// FileError with the line and the column, and Cancelled.
std::shared_ptr<const SetTable> readSetTable(const std::string& path,
                                             const core::ProgressCallback& progress = {},
                                             std::stop_token stop = {});
/// Parses text in memory; `path` is for messages.
std::shared_ptr<const SetTable> parseSetTable(std::string_view text, const std::string& path,
                                              const core::ProgressCallback& progress = {},
                                              std::stop_token stop = {});

/// Sets first .. first + count - 1 of a table in a fixed random order, since tables are often
/// sorted by class.
core::DatasetPtr setsOf(std::shared_ptr<const SetTable> table, std::int64_t first,
                        std::int64_t count, const std::string& name);

}  // namespace relascope::datasets
