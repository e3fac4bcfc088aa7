// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "files/foreign_file.h"
#include "types/lower_case.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr std::size_t kMostColumns = 10'000;

bool isAbsent(std::string_view field) {
    for (const char* word : {"", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "<NA>"})
        if (field == word) return true;
    return false;
}

// The separator that the first line has most of, outside of quotes.
char separatorOf(std::string_view text) {
    std::size_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false;
    for (const char c : text) {
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '\n' || c == '\r') break;
        commas += c == ',', semicolons += c == ';', tabs += c == '\t';
    }
    if (commas >= semicolons && commas >= tabs) return ',';
    return semicolons >= tabs ? ';' : '\t';
}

bool areDigits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// A number with points, or with a decimal comma, without its sign; nothing for other texts.
struct PointedNumber {
    std::string whole, fraction;  ///< digits; `whole` without points
    bool comma = false;           ///< a decimal comma
    int points = 0;
    bool grouped =
        false;  ///< all points have groups of three digits behind them, as thousands have
};

std::optional<PointedNumber> pointedNumber(std::string_view text) {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    PointedNumber number;
    if (const auto comma = text.find(','); comma != std::string_view::npos) {
        number.comma = true;
        number.fraction = text.substr(comma + 1);
        if (!areDigits(number.fraction)) return {};
        text = text.substr(0, comma);
    }
    number.grouped = true;
    for (bool first = true;; first = false) {
        const auto point = std::min(text.find('.'), text.size());
        const auto group = text.substr(0, point);
        if (!areDigits(group) && !(first && group.empty())) return {};
        // 0.125 has no thousands, nor has 1234.567.
        number.grouped = number.grouped && (first ? !group.empty() && group.size() <= 3 &&
                                                        (group[0] != '0' || point == text.size())
                                                  : group.size() == 3);
        number.whole += group;
        if (point == text.size()) break;
        ++number.points;
        text.remove_prefix(point + 1);
    }
    if (number.points == 0 && !number.comma) return {};
    return number;
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string path)
    : m_text(text), m_path(std::move(path)) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        throw FileError(m_path, "is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
    if (text.starts_with("PK\x03\x04") || text.starts_with("\xD0\xCF\x11\xE0"))
        throw FileError(m_path, "is a workbook or an archive, not a table as text; save it as CSV");
    if (text.starts_with("PAR1") || text.starts_with("ARROW1"))
        throw FileError(m_path, "is a Parquet or Arrow file; save the table as CSV (to_csv)");
    if (const auto what = foreignContent(text.substr(0, 512)); !what.empty())
        throw FileError(m_path, what);
    if (const auto zero = text.substr(0, 512).find('\0'); zero != std::string_view::npos)
        throw FileError(m_path, std::string("has bytes of 0; of UTF-16 without a mark make UTF-8 "
                                            "(iconv -f UTF-16") +
                                    (zero % 2 == 1 ? "LE" : "BE") + " -t UTF-8)");
    if (!isUtf8(text))
        throw FileError(m_path, "is not UTF-8; save it as UTF-8 (iconv -f WINDOWS-1252 -t UTF-8)");
    if (text.starts_with("\xEF\xBB\xBF")) m_text.remove_prefix(3);
    if (m_text.starts_with("sep=") && m_text.size() > 4 &&
        std::string_view(",;\t|").find(m_text[4]) != std::string_view::npos) {
        m_separator = m_text[4];
        m_at = 5;
        endLine();
    } else {
        m_separator = separatorOf(m_text);
    }
    while (readRecord(m_columns) && std::all_of(m_columns.begin(), m_columns.end(),
                                                [](const auto& name) { return name.empty(); })) {
    }
    while (!m_columns.empty() && m_columns.back().empty()) m_columns.pop_back();
    // Names that pandas and readr give to a first column without one.
    m_rowNames =
        m_columns.size() > 1 && (m_columns.front().empty() || m_columns.front() == "Unnamed: 0" ||
                                 m_columns.front() == "...1");
    if (m_rowNames) m_columns.erase(m_columns.begin());
    m_rowsFrom = m_at;
    std::set<std::string> names;
    for (const auto& name : m_columns) {
        if (name.empty()) fail("has a column without a name between two others");
        if (!names.insert(name).second) fail("has the column '" + name + "' twice");
    }
}

void CsvReader::fail(const std::string& why) const {
    throw FileError(m_path, "line " + std::to_string(m_line) + " " + why);
}

std::string CsvReader::placeText(std::size_t column) const {
    return "line " + std::to_string(m_line) + ", column " + m_columns[column] + ": '" +
           m_fields[column].substr(0, 40) + "' ";
}

void CsvReader::failAt(std::size_t column, const std::string& why) const {
    throw FileError(m_path, placeText(column) + why);
}

void CsvReader::doubtAt(std::size_t column, const std::string& why) const {
    throw AmbiguousNumber(m_path, placeText(column) + why);
}

void CsvReader::endLine() {
    const bool both = m_text.substr(m_at).starts_with("\r\n");
    if (m_at < m_text.size()) m_at += both ? 2 : 1;
    ++m_nextLine;
}

void CsvReader::readField(std::string& field) {
    const auto at = [&](char c) { return m_at < m_text.size() && m_text[m_at] == c; };
    const auto skipSpaces = [&] {
        while (at(' ')) ++m_at;
    };
    skipSpaces();
    if (!at('"')) {
        const char ends[] = {m_separator, '\r', '\n'};
        const auto end =
            std::min(m_text.find_first_of(std::string_view(ends, 3), m_at), m_text.size());
        field = trimmed(m_text.substr(m_at, end - m_at));
        m_at = end;
        return;
    }
    for (++m_at;; ++m_at) {
        if (m_at >= m_text.size()) fail("opens a quote that is never closed");
        if (at('"') && !m_text.substr(m_at).starts_with("\"\"")) break;
        if (at('"')) ++m_at;
        if (at('\n')) ++m_nextLine;
        field += m_text[m_at];
    }
    ++m_at;
    skipSpaces();
    if (m_at < m_text.size() && !at(m_separator) && !at('\r') && !at('\n'))
        fail("has text behind a closing quote; a quote within quotes is written twice");
}

bool CsvReader::readRecord(std::vector<std::string>& fields) {
    fields.clear();
    if (m_at >= m_text.size()) return false;
    m_line = m_nextLine;
    for (;;) {
        if (fields.size() == kMostColumns)
            fail("has more than " + std::to_string(kMostColumns) + " columns");
        readField(fields.emplace_back());
        if (m_at >= m_text.size() || m_text[m_at] != m_separator) break;
        ++m_at;
    }
    endLine();
    return true;
}

bool CsvReader::next() {
    const auto isEmpty = [](const std::string& field) { return field.empty(); };
    bool quoted = false;
    do {
        quoted = m_at < m_text.size() && m_text[m_at] == '"';
        if (!readRecord(m_fields)) return false;
    } while (std::all_of(m_fields.begin(), m_fields.end(), isEmpty));
    // R's write.table() has no column name above the names of rows, which it quotes.
    if (std::exchange(m_first, false) && quoted && !m_rowNames &&
        m_fields.size() == m_columns.size() + 1 && !m_fields.back().empty())
        m_rowNames = true;
    if (m_rowNames) m_fields.erase(m_fields.begin());
    // Spreadsheets give all rows as many separators as the longest one has.
    while (m_fields.size() > m_columns.size() && m_fields.back().empty()) m_fields.pop_back();
    if (m_fields.size() != m_columns.size())
        fail("has " + std::to_string(m_fields.size()) + " columns, the first line " +
             std::to_string(m_columns.size()));
    return true;
}

double CsvReader::number(std::size_t column) const {
    std::string text = trimmed(m_fields[column]);
    if (isAbsent(text)) return std::numeric_limits<double>::quiet_NaN();
    const auto word = lowerCase(text);
    if (word == "true" || word == "false") return word == "true" ? 1.0 : 0.0;
    if (const auto pointed = pointedNumber(text)) {
        const bool thousands = pointed->grouped && pointed->points > 0;
        if (pointed->comma && pointed->points == 0 && pointed->fraction.size() == 3 &&
            m_separator != ';')
            doubtAt(column, "may be a decimal comma or thousands; write a decimal point");
        const bool sure = pointed->comma || pointed->points > 1;
        if (thousands && !sure && !points().thousands && !points().decimal && m_separator == ';')
            doubtAt(
                column,
                "may have a decimal point or one of thousands, and no other number of the table "
                "says which; write 1234, or one number with a decimal comma");
        if (thousands && points().thousands && points().decimal)
            doubtAt(column, "stands in a table with decimal points and with '" + points().example +
                                "'; write every number with a decimal point and without thousands");
        if (pointed->comma ? pointed->points == 0 || thousands : thousands && points().thousands)
            text = (text.starts_with('-') ? "-" : "") + pointed->whole +
                   (pointed->comma ? "." + pointed->fraction : "");
    }
    double value = 0.0;
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || rest != end || !std::isfinite(value))
        failAt(column, "is not a number");
    return value;
}

const CsvReader::Points& CsvReader::points() const {
    if (m_points) return *m_points;
    auto& found = m_points.emplace(Points());
    CsvReader rows(*this);
    rows.m_at = m_rowsFrom;
    for (std::vector<std::string> fields; rows.readRecord(fields);)
        for (const auto& field : fields) {
            const auto number = pointedNumber(trimmed(field));
            if (!number) continue;
            const bool thousands = number->grouped && (number->comma || number->points > 1);
            const bool comma = number->comma && number->points == 0;
            if ((thousands || comma) && found.example.empty()) found.example = trimmed(field);
            found.thousands = found.thousands || thousands || comma;
            found.decimal = found.decimal || (number->points == 1 && !number->grouped);
        }
    return found;
}

std::int64_t CsvReader::whole(std::size_t column) const {
    const double value = number(column);
    // pandas writes whole numbers as 1.0 where a column lacks some.
    if (!(std::abs(value) < 9e15) || value != std::floor(value))
        failAt(column, "is not a whole number");
    return static_cast<std::int64_t>(value);
}

}  // namespace relascope::core
