// SPDX-License-Identifier: GPL-3.0-or-later
// Tables as spreadsheets, R and pandas write them (RFC 4180 and its usual variants;
// formats.md section 18).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/error.h"

namespace relascope::core {

/// A number that can be read in two ways. In a column of words it is one of them.
class AmbiguousNumber : public FileError {
public:
    using FileError::FileError;
};

/// Reads rows one by one. Fields are parted by commas, semicolons or tabs, whichever the first line
/// has most of (a line "sep=;" before it says so itself), and may be in double quotes, with "" for
/// a quote, and then hold separators and line ends. Lines end with LF, CRLF or CR; a byte order
/// mark, blank lines and rows without any value are left out, as is a first column without a name,
/// or with that of pandas ("Unnamed: 0") or readr ("...1"): the row names of R, the index of
/// pandas. Every error is a FileError with the line.
class CsvReader {
public:
    /// Reads the first line. `text` outlives the reader; `path` is for messages.
    CsvReader(std::string_view text, std::string path);

    const std::vector<std::string>& columns() const { return m_columns; }
    /// The next row, with as many fields as columns(); false at the end.
    bool next();
    const std::vector<std::string>& fields() const { return m_fields; }
    /// The line of the row, from 1 on.
    std::int64_t line() const { return m_line; }

    /// A field as a number; NaN where it is empty or NA. TRUE and FALSE are 1 and 0. A comma is a
    /// decimal comma; before exactly three digits, which could be thousands as well, it is an error
    /// unless semicolons part the fields. 1.234,5 is 1234.5. What 1.234 is, the other numbers of
    /// the table decide: 1234 beside decimal commas and numbers as 1.234.567, else 1.234; in a
    /// table that semicolons part, where none of them does, it is an error.
    double number(std::size_t column) const;
    /// Throws AmbiguousNumber, FileError.
    std::int64_t whole(std::size_t column) const;

private:
    [[noreturn]] void fail(const std::string& why) const;
    /// What the points of the table's numbers are.
    struct Points {
        bool decimal = false, thousands = false;
        std::string example;  ///< a number with thousands, or with a decimal comma
    };
    const Points& points() const;
    std::string placeText(std::size_t column) const;
    [[noreturn]] void doubtAt(std::size_t column, const std::string& why) const;
    [[noreturn]] void failAt(std::size_t column, const std::string& why) const;
    bool readRecord(std::vector<std::string>& fields);
    void readField(std::string& field);
    void endLine();

    std::string_view m_text;
    std::string m_path;
    std::size_t m_at = 0;
    std::int64_t m_line = 0, m_nextLine = 1;
    char m_separator = ',';
    bool m_first = true;  ///< row of data comes next
    bool m_rowNames = false;
    std::size_t m_rowsFrom = 0;  ///< where the first row begins
    mutable std::optional<Points> m_points;
    std::vector<std::string> m_columns, m_fields;
};

}  // namespace relascope::core
