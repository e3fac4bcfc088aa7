// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/layout.h"

#include <algorithm>
#include <cmath>

#include "answers/answer_text.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::size_t kFewestInGrid = 3;

/// Whether a table is a list of sentences, which would not fit into a row.
bool isSentences(const Table& table) {
    return table.columns.size() == 1 && table.columns.front().kind == ColumnKind::Text;
}

std::string factsText(const Seen& seen) {
    std::vector<std::string> facts;
    if (const auto* own = seen.answer.find(""))
        for (const auto& column : own->columns)
            if (isShown(column) && column.size() > 0) {
                const auto value = shownValue(*own, column, 0);
                if (value.empty()) continue;
                auto title = column.title;
                const bool capitals = title.size() > 1 && title[1] >= 'A' && title[1] <= 'Z';
                if (!title.empty() && !capitals)  // "AUC" stays
                    title[0] =
                        static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
                facts.push_back(title + " " + value);
            }
    return joined(facts, "; ");
}

}  // namespace

Request requestOf(const Table& table, int row) {
    const auto at = static_cast<std::size_t>(row);
    if (row < 0 || at >= table.rows()) return {};
    const auto* examples = table.find("example");
    const auto example = examples ? indexOf(examples->numbers[at]) : -1;
    if (const auto* positions = table.find("position"); examples && positions)
        return ExampleRequest{
            example, {.i = std::max(0, static_cast<int>(indexOf(positions->numbers[at])))}};
    if (at >= table.links.size() || table.links[at].layer < 0) return {};
    const auto& link = table.links[at];
    if (!examples || link.i < 0) return link;
    return ExampleRequest{example, {link.kind, link.layer, link.index, 0, link.i, link.j}};
}

Layout::Says shownSentences() {
    Layout::Says says;
    says.text = [](const Seen& seen) {
        std::vector<std::string> all;
        for (const auto& table : seen.answer.tables)
            if (isShown(table) && isSentences(table)) {
                const auto& texts = table.columns.front().texts;
                all.insert(all.end(), texts.begin(), texts.end());
            }
        return joined(all, "\n");
    };
    says.name = [](const Seen& seen) {
        std::string name;
        for (const auto& table : seen.answer.tables)
            if (isShown(table) && isSentences(table)) name = table.title;
        return name;
    };
    return says;
}

std::vector<Table> shownTables(const Seen& seen) {
    std::vector<Table> shown;
    for (const auto& table : seen.answer.tables)
        if (!table.key.empty() && table.rows() > 0 && isShown(table) && !isSentences(table))
            shown.push_back(table);
    return shown;
}

Layout tablesLayout() {
    Layout::Tables tables{"", shownTables};
    tables.sorted = false;
    Layout layout{factsText, {{shownSentences(), 2}, {tables, 3}}};
    layout.figureWidth = 900;
    layout.ruled = false;
    return layout;
}

bool isSquare(const Table& table) {
    const auto rows = table.rows();
    if (rows < kFewestInGrid || table.columns.size() != rows + 1 ||
        table.columns.front().kind != ColumnKind::Text)
        return false;
    for (std::size_t k = 0; k < rows; ++k) {
        const auto& column = table.columns[k + 1];
        if (column.kind != ColumnKind::Number || column.title != table.columns.front().texts[k])
            return false;
    }
    return true;
}

GridPanel squareOf(const Table& table) {
    const auto own = std::make_shared<const Table>(table);
    double largest = 0.0;
    for (const auto& column : own->columns)
        for (const double value : column.numbers)
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    GridPanel panel{.rows = own->columns[0].texts, .inputs = own->columns[0].texts};
    for (std::size_t k = 0; k < own->rows(); ++k) panel.columns.push_back(std::to_string(k + 1));
    const auto shown = [own](int row, int column) {
        return shownValue(own->columns[std::size_t(column) + 1], std::size_t(row));
    };
    panel.cell = [own, shown, largest](int row, int column) {
        const double value = own->columns[std::size_t(column) + 1].numbers[std::size_t(row)];
        return GridCell{.value = largest > 0.0 ? value / largest : 0.0, .text = shown(row, column)};
    };
    panel.text = [rows = panel.rows, shown](int row, int column) {
        return rows[std::size_t(row)] + " x " + rows[std::size_t(column)] + ": " +
               shown(row, column);
    };
    return panel;
}

GridPanel bandOf(const GridPanel& whole, std::size_t first, std::size_t count) {
    GridPanel band = whole;
    const auto cut = [&](std::vector<std::string>& names) {
        const auto from = names.begin() + static_cast<std::ptrdiff_t>(first);
        names = {from, from + static_cast<std::ptrdiff_t>(count)};
    };
    cut(band.columns), cut(band.inputs);
    band.cell = [cell = whole.cell, shift = static_cast<int>(first)](int row, int column) {
        return cell(row, column + shift);
    };
    return band;
}

}  // namespace relascope::core
