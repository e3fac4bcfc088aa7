// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/answer_text.h"

#include <algorithm>
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
        if (!table.key.empty()) return &table;
    return nullptr;
}

const std::string& titleOf(const Column& column) {
    return column.title.empty() ? column.key : column.title;
}

std::string lineOf(const Column& column, std::size_t row) {
    return column.kind == ColumnKind::Text ? pieceText(column.texts[row]).text
                                           : shownValue(column, row);
}

/// Characters of a text, by the bytes that begin one.
std::size_t widthOf(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string alignedText(const Table& table) {
    constexpr std::size_t most = 48;
    std::vector<std::size_t> widths;
    for (const auto& column : table.columns) {
        std::size_t width = widthOf(titleOf(column));
        for (std::size_t row = 0; row < table.rows(); ++row)
            width = std::max(width, widthOf(lineOf(column, row)));
        widths.push_back(std::min(width, most));
    }
    std::string text;
    const auto line = [&](const auto& cell) {
        std::string whole;
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            whole += (c > 0 ? "  " : "") + cellText(cell(table.columns[c]), widths[c],
                                                    table.columns[c].kind != ColumnKind::Text);
        text += whole.substr(0, whole.find_last_not_of(' ') + 1) + "\n";
    };
    line([](const Column& column) { return titleOf(column); });
    for (std::size_t row = 0; row < table.rows(); ++row)
        line([row](const Column& column) { return lineOf(column, row); });
    return text;
}

}  // namespace

std::string shownValue(const Column& column, std::size_t row) {
    if (column.kind == ColumnKind::Text) return column.texts[row];
    const double value = column.numbers[row];
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

std::string csvOf(const Table& table) {
    std::string text;
    for (const auto& column : table.columns)
        text += (text.empty() ? "" : ",") + csvField(column.key);
    text += "\n";
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            text += (c > 0 ? "," : "") + fieldOf(table.columns[c], row);
        text += "\n";
    }
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
            for (const auto& column : table.columns) one[column.key] = jsonOf(column, row);
            rows.push_back(std::move(one));
        }
        all[table.key] = std::move(rows);
    }
    return all;
}

std::string latexOf(const Table& table) {
    std::string form, head, lines;
    const auto between = [&](const std::string& text) { return text.empty() ? "" : " & "; };
    for (const auto& column : table.columns) {
        form += column.kind == ColumnKind::Text ? 'l' : 'r';
        head += between(head) + latexText(titleOf(column));
    }
    for (std::size_t row = 0; row < table.rows(); ++row) {
        std::string line;
        for (const auto& column : table.columns) {
            const bool number = column.kind == ColumnKind::Number;
            auto cell = latexText(validUtf8(lineOf(column, row)));
            if (number && !std::isnan(column.numbers[row])) {
                if (const auto at = cell.find("\u2212"); at != std::string::npos)
                    cell.replace(at, std::string("\u2212").size(), "-");
                cell = "$" + cell + "$";
            }
            line += (form.empty() || &column == &table.columns.front() ? "" : " & ") + cell;
        }
        lines += line + " \\\\\n";
    }
    return "\\begin{tabular}{" + form + "}\n\\toprule\n" + head + " \\\\\n\\midrule\n" + lines +
           "\\bottomrule\n\\end{tabular}\n";
}

std::string latexOf(const Answer& answer) {
    const auto* table = mainTable(answer);
    return table ? latexOf(*table) : std::string();
}

std::string plainText(const Answer& answer) {
    std::string text;
    for (const auto& table : answer.tables) {
        if (!table.key.empty()) {
            if (!table.title.empty()) text += table.title + "\n";
            text += alignedText(table);
            continue;
        }
        for (const auto& column : table.columns)
            if (!column.title.empty() && column.size() > 0)
                text += column.title + ": " + lineOf(column, 0) + "\n";
    }
    return text;
}

}  // namespace relascope::core
