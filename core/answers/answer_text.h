// SPDX-License-Identifier: GPL-3.0-or-later
// An answer as CSV, JSON, LaTeX and text for people. All of them are made from the columns alone.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "types/answer.h"

namespace relascope::core {

/// A value as people read it: "+0.21", "95.7 %", "12". A dash where there is none. `row` is one of
/// the column's.
std::string shownValue(const Column& column, std::size_t row);

/// RFC 4180 with a line of keys; numbers have all their digits, and an empty field is none.
std::string csvOf(const Table& table);
/// The first table with a key, which is the main one.
std::string csvOf(const Answer& answer);
/// The values of the answer itself, then each table as a list of objects. What is not finite, and
/// an index or a count that is not there, is null.
nlohmann::ordered_json jsonOf(const Answer& answer);
/// A tabular of titles and shown values, for \input with the package booktabs.
std::string latexOf(const Table& table);
std::string latexOf(const Answer& answer);
/// For a terminal: the values of the answer itself, and every table in columns of one width.
std::string plainText(const Answer& answer);

}  // namespace relascope::core
