// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/answer_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "types/finite_json.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDash = "\u2014";

std::string wholeText(double value) {
    return std::to_string(static_cast<std::int64_t>(value));
}

std::string fieldOf(const Column& column, std::size_t row) {
    if (column.kind == ColumnKind::Text) return csvField(column.texts[row]);
    const double value = column.numbers[row];
    if (column.kind == ColumnKind::Number || std::isnan(value)) return shortestField(value);
    return wholeText(value);
}

Json jsonOf(const Column& column, std::size_t row) {
    if (column.kind == ColumnKind::Text) return column.texts[row];
    const double value = column.numbers[row];
    if (column.kind == ColumnKind::Number) return finiteJson(value);
    if (column.kind == ColumnKind::Flag) return value != 0.0;
    return std::isnan(value) ? Json() : Json(static_cast<std::int64_t>(value));
}

const Table* mainTable(const Answer& answer) {
    for (const auto& table : answer.tables)
        if (!table.key.empty() && table.columns.size() > 1) return &table;
    return nullptr;
}

// Pictures are not text.
std::vector<const Column*> shownColumns(const Table& table) {
    std::vector<const Column*> columns;
    for (const auto& column : table.columns)
        if (isShown(column) && !column.holdsPictures()) columns.push_back(&column);
    return columns;
}

/// Characters of a text, by the bytes that begin one.
std::size_t widthOf(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// A number of the column, or an end of its interval.
std::string shownNumber(const Column& column, double value) {
    if (std::isnan(value)) return kDash;
    if (column.kind == ColumnKind::Flag) return value != 0.0 ? "yes" : "no";
    if (column.kind == ColumnKind::Integer) return groupedNumber(static_cast<std::int64_t>(value));
    const auto& format = column.format;
    const double shown = format.percent ? 100.0 * value : value;
    const auto text = numberWithMinus(
        std::abs(shown) * std::pow(10.0, format.digits) < 0.5 ? 0.0 : shown, format.digits);
    const bool plus =
        format.isSigned && text.find_first_of("123456789") != std::string::npos && value > 0.0;
    return (plus ? "+" : "") + text + (format.percent && !format.isSigned ? " %" : "");
}

std::string alignedText(const Table& table) {
    constexpr std::size_t most = 60;
    const auto columns = shownColumns(table);
    const bool list = columns.size() == 1 && columns[0]->kind == ColumnKind::Text;
    std::vector<std::vector<std::string>> lines(list ? 0 : 1);
    for (const auto* column : columns)
        if (!list) lines.front().push_back(column->title);
    for (std::size_t row = 0; row < table.rows(); ++row) {
        lines.emplace_back();
        for (const auto* column : columns) lines.back().push_back(shownValue(table, *column, row));
    }
    std::vector<std::size_t> widths(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
        for (const auto& line : lines) widths[c] = std::max(widths[c], widthOf(line[c]));
        if (c + 1 < columns.size()) widths[c] = std::min(widths[c], most);
    }
    std::string text;
    for (const auto& line : lines) {
        std::string whole;
        for (std::size_t c = 0; c < columns.size(); ++c)
            whole += (c > 0 ? "  " : "") +
                     cellText(line[c], widths[c], columns[c]->kind != ColumnKind::Text);
        text += whole.substr(0, whole.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

}  // namespace

std::string shownDecimals(double value, int digits) {
    // What lies exactly between two has no more than one further digit.
    constexpr std::string_view half = "500000000000000";
    if (fixedField(value, digits + static_cast<int>(half.size())).ends_with(half))
        value = std::nextafter(value, std::copysign(HUGE_VAL, value));
    return fixedField(value, digits);
}

std::string shownSigned(double value, int digits) {
    if (std::isnan(value)) return kDash;
    if (std::round(value * std::pow(10.0, digits)) == 0.0) return fixedField(0.0, digits);
    const double size = std::abs(value);
    // All digits of a number that grew beyond measure have no room anywhere.
    auto text = size < 1e6 ? shownDecimals(size, digits) : numberText("%.2g", size);
    std::erase(text, '+');
    return (value < 0 ? "\u2212" : "+") + text;
}

std::string shownProbability(double probability) {
    if (std::isnan(probability)) return kDash;
    const double percent = 100.0 * probability;
    if (percent > 0 && percent < 0.05) return "<0.1 %";
    return shownDecimals(percent, percent < 9.95 && percent > 0 ? 1 : 0) + " %";
}

std::string capitalized(std::string text) {
    if (!text.empty())
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

std::string shownPiece(const std::string& name) {
    if (name.empty()) return "\u2205";
    auto text = isUtf8(name) ? name : pieceText(name).text;
    const auto replace = [&text](std::string_view what, const char* by) {
        for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;)
            text.replace(at, what.size(), by);
    };
    replace("\\n", "\u21B5"), replace("\n", "\u21B5"), replace("\t", "\u21E5");
    // Only at the ends: class names of several words keep their spaces.
    const auto first = std::min(text.find_first_not_of(' '), text.size());
    const auto last = text.find_last_not_of(' ') + 1;
    const auto spaces = [](std::size_t count) {
        std::string all;
        while (count-- > 0) all += "\u2423";
        return all;
    };
    if (first == text.size()) return spaces(first);
    return spaces(first) + text.substr(first, last - first) + spaces(text.size() - last);
}

bool isShown(const Column& column) {
    if (column.title.empty()) return false;
    const auto& numbers = column.numbers;
    const auto& texts = column.texts;
    return column.size() == 0 ||
           std::any_of(numbers.begin(), numbers.end(), [](double x) { return !std::isnan(x); }) ||
           std::any_of(texts.begin(), texts.end(), [](const auto& text) { return !text.empty(); });
}

std::string shownValue(const Column& column, std::size_t row) {
    return column.kind == ColumnKind::Text ? pieceText(column.texts[row]).text
                                           : shownNumber(column, column.numbers[row]);
}

std::string shownValue(const Table& table, const Column& column, std::size_t row) {
    auto text = shownValue(column, row);
    const auto *low = table.find(column.low), *high = table.find(column.high);
    if (column.low.empty() || !low || !high || low->kind == ColumnKind::Text ||
        high->kind == ColumnKind::Text || std::isnan(low->numbers[row]) ||
        std::isnan(high->numbers[row]))
        return text;
    return text + " [" + shownNumber(column, low->numbers[row]) + ", " +
           shownNumber(column, high->numbers[row]) + "]";
}

bool isShown(const Table& table) {
    return !shownColumns(table).empty();
}

std::vector<const Table*> furtherTables(const Answer& answer) {
    std::vector<const Table*> further;
    for (const auto& table : answer.tables)
        if (!table.key.empty() && &table != mainTable(answer) && isShown(table))
            further.push_back(&table);
    return further;
}

std::string csvOf(const Table& table) {
    std::string text;
    const auto line = [&](const auto& fieldIn) {
        bool first = true;
        for (const auto& column : table.columns) {
            if (column.holdsPictures()) continue;  // a place in a list that no file has
            text += (first ? "" : ",") + fieldIn(column);
            first = false;
        }
        text += "\n";
    };
    line([](const Column& column) { return csvField(column.key); });
    for (std::size_t row = 0; row < table.rows(); ++row)
        line([row](const Column& column) { return fieldOf(column, row); });
    return text;
}

std::string csvOf(const Answer& answer) {
    const auto* table = mainTable(answer);
    return table ? csvOf(*table) : std::string();
}

Json jsonOf(const Answer& answer) {
    Json all = Json::object();
    for (const auto& table : answer.tables) {
        if (table.key.empty()) {
            for (const auto& column : table.columns)
                if (column.size() > 0) all[column.key] = jsonOf(column, 0);
            continue;
        }
        Json rows = Json::array();
        for (std::size_t row = 0; row < table.rows(); ++row) {
            Json one = Json::object();
            for (const auto& column : table.columns)
                if (!column.holdsPictures()) one[column.key] = jsonOf(column, row);
            rows.push_back(std::move(one));
        }
        all[table.key] = std::move(rows);
    }
    return all;
}

std::string latexOf(const Table& table) {
    const auto columns = shownColumns(table);
    std::string form, lines;
    const auto add = [&](const Column& column, const std::string& cell) {
        lines += (&column == columns.front() ? "" : " & ") + cell +
                 (&column == columns.back() ? " \\\\\n" : "");
    };
    for (const auto* column : columns) {
        form += column->kind == ColumnKind::Text ? 'l' : 'r';
        add(*column, latexText(column->title));
    }
    lines += "\\midrule\n";
    for (std::size_t row = 0; row < table.rows(); ++row)
        for (const auto* column : columns) {
            auto cell = latexText(shownValue(table, *column, row));
            const std::string minus = "\u2212", dash = kDash;
            for (std::size_t at; (at = cell.find(minus)) != std::string::npos;)
                cell.replace(at, minus.size(), "$-$");
            add(*column, cell == dash ? "--" : cell);
        }
    return "\\begin{tabular}{" + form + "}\n\\toprule\n" + lines + "\\bottomrule\n\\end{tabular}\n";
}

std::string latexOf(const Answer& answer) {
    const auto* table = mainTable(answer);
    return table ? latexOf(*table) : std::string();
}

std::string plainText(const Answer& answer) {
    std::string text;
    for (const auto& table : answer.tables) {
        if (!table.key.empty()) {
            if (!isShown(table) || table.rows() == 0) continue;
            if (!table.title.empty()) text += (text.empty() ? "" : "\n") + table.title + "\n";
            text += alignedText(table);
            continue;
        }
        for (const auto& column : table.columns) {
            if (column.title.empty() || column.size() == 0) continue;
            if (const auto value = shownValue(table, column, 0); !value.empty())
                text += column.title + ": " + value + "\n";
        }
    }
    return text;
}

}  // namespace relascope::core
