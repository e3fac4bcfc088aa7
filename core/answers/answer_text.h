// SPDX-License-Identifier: GPL-3.0-or-later
// An answer as CSV, JSON, LaTeX and text for people. All of them are made from the columns alone.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "types/answer.h"

namespace relascope::core {

/// A value as people read it: "+0.21", "95.7 %", "12". A dash where there is none. `row` is one of
/// the column's.
std::string shownValue(const Column& column, std::size_t row);

/// A number with `digits` decimals. Halves are rounded away from zero, as Qt rounds them.
std::string shownDecimals(double value, int digits);
/// "+0.21", with a true minus sign and `digits` decimals; what rounds to zero has no sign. A dash
/// for NaN.
std::string shownSigned(double value, int digits);
/// A probability in percent: "42 %", "0.3 %".
std::string shownProbability(double probability);
/// A class or token in one line: spaces at its ends and line ends as symbols.
std::string shownPiece(const std::string& name);

/// "Layer 2": with a capital letter at its beginning.
std::string capitalized(std::string text);

/// The value with its interval, where its column has one: "-0.21 [-0.30, -0.12]".
std::string shownValue(const Table& table, const Column& column, std::size_t row);
/// Whether people see a column: it has a title, and a value in some row.
bool isShown(const Column& column);
bool isShown(const Table& table);  ///< whether it has a shown column

/// A table as CSV (RFC 4180) with a line of keys; numbers have all their digits, and a missing
/// value is an empty field.
std::string csvOf(const Table& table);
/// The CSV of the main table: the first one with a key that is more than a list.
std::string csvOf(const Answer& answer);
/// The tables that people see after the main one.
std::vector<const Table*> furtherTables(const Answer& answer);
/// An answer as JSON: the values of the answer itself, then each table as a list of objects.
/// Numbers that are not finite, and missing indices and counts, are null.
nlohmann::ordered_json jsonOf(const Answer& answer);
/// A tabular of the columns with a title, for \input with the package booktabs.
std::string latexOf(const Table& table);
std::string latexOf(const Answer& answer);
/// An answer as text for a terminal: the values of the answer itself and every table, as far as
/// they have titles.
std::string plainText(const Answer& answer);

}  // namespace relascope::core
