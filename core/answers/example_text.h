// SPDX-License-Identifier: GPL-3.0-or-later
// Examples of data and their statistics as CSV, JSON and text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "types/data_example.h"

namespace relascope::core {

/// A piece of a text as a label of its own: leading spaces are left out; a piece of spaces alone,
/// line ends, tabs and an empty piece are symbols; what is not UTF-8 is hexadecimal.
std::string shownPiece(std::string_view bytes);

/// Bars, then rows, under a line that says what the bars count.
std::string csvOf(const DataStatistics& statistics);
/// The vectors of objects, one per line; the pieces of a text with their ids; or the pixels of an
/// image.
std::string csvOf(const ProbeSample& sample);

/// The answer of an example, or the name of its label; empty if there is neither.
std::string answerOf(const DataExample& example, const std::vector<std::string>& classNames);
/// The input on one line: a text, the names of objects, or the size of an image.
std::string inputText(const ProbeSample& sample);

/// For a terminal: a line for every bar and row.
std::string plainText(const DataStatistics& statistics);

nlohmann::ordered_json jsonOf(const DataStatistics& statistics);
/// `label` or `answer`, `origin`, and the input: `image`, `objects`, or `tokens` with `pieces`.
nlohmann::ordered_json jsonOf(const DataExample& example,
                              const std::vector<std::string>& classNames);

}  // namespace relascope::core
