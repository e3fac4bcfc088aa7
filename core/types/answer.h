// SPDX-License-Identifier: GPL-3.0-or-later
// The answer of an analysis as values: tables whose columns describe themselves, maps, and
// sentences. Every form of a result (CSV, JSON, text, LaTeX, messages, files, tables and pictures
// of the window) is made from these alone.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "types/error.h"
#include "types/image.h"
#include "types/relation_map.h"

namespace relascope {

enum class ColumnKind {
    Number,   ///< NaN: there is none
    Integer,  ///< at most 2^53, in a double; NaN: there is none
    Flag,     ///< 0 or 1
    Text      ///< any bytes, since names of classes and files may be such
};

/// How people read the numbers of a column; files have all digits.
struct NumberFormat {
    int digits = 3;         ///< digits after the point
    bool percent = false;   ///< 0.5 is "50.0 %"
    bool isSigned = false;  ///< "+0.2"; fractions in points
    bool bar = false;       ///< with a bar around zero beside it
    bool operator==(const NumberFormat&) const = default;
};

/// One column of a table. The values of all rows lie beside each other.
struct Column {
    std::string key;         ///< name in JSON and CSV: "layer"
    std::string title = {};  ///< text above the column: "Layer"; empty: files alone have it
    std::string help = {};   ///< one sentence; may be empty
    ColumnKind kind = ColumnKind::Number;
    NumberFormat format = {};
    /// Key of the table whose rows the values count, from 0; NaN: none. "pictures": they count
    /// pictures of the answer, which are shown in their place. Empty: they are no index.
    std::string into = {};
    /// Keys of the columns with the interval of each value, which is shown with it. Empty: none.
    std::string low = {}, high = {};
    std::vector<double> numbers = {};     ///< one for each row; empty for Text
    std::vector<std::string> texts = {};  ///< one for each row of a Text column, else empty

    std::size_t size() const { return kind == ColumnKind::Text ? texts.size() : numbers.size(); }
    bool holdsPictures() const { return into == "pictures"; }
};

/// The target of a click on a row, in the inspector: a map, and a cell of it where i is not
/// negative.
struct MapLink {
    MapKind kind = MapKind::Relation;
    int layer = -1;  ///< from 0, as the others; -1: the row has no link
    int index = 0, i = -1, j = -1;
    bool operator==(const MapLink&) const = default;
};

struct Table {
    std::string key;  ///< name in JSON; empty: its only row has the values of the answer itself
    std::string title = {};
    std::vector<Column> columns = {};
    std::vector<MapLink> links = {};  ///< one for each row, or none at all

    std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
    /// The column with that key; null where there is none.
    const Column* find(std::string_view name) const {
        for (const auto& column : columns)
            if (column.key == name) return &column;
        return nullptr;
    }
    /// The column with that key. Throws Error where there is none, as in a damaged file.
    const Column& column(std::string_view name) const {
        if (const auto* found = find(name)) return *found;
        throw Error("the table '" + key + "' has no column '" + std::string(name) + "'");
    }
    const std::vector<double>& numbers(std::string_view name) const {
        const auto& found = column(name);
        if (found.kind == ColumnKind::Text)
            throw Error("the column '" + found.key + "' holds no numbers");
        return found.numbers;
    }
    const std::vector<std::string>& texts(std::string_view name) const {
        const auto& found = column(name);
        if (found.kind != ColumnKind::Text)
            throw Error("the column '" + found.key + "' holds no texts");
        return found.texts;
    }
};

struct Answer {
    std::vector<Table> tables = {};
    std::vector<RelationMap> maps = {};
    std::vector<Image> pictures = {};  ///< columns refer to them by index, from 0
    bool complete = true;              ///< false: it was cancelled, or more of it follows

    const Table* find(std::string_view name) const {
        for (const auto& table : tables)
            if (table.key == name) return &table;
        return nullptr;
    }
    /// The table with that key. Throws Error where there is none.
    const Table& table(std::string_view name) const {
        if (const auto* found = find(name)) return *found;
        throw Error("an answer has no table '" + std::string(name) + "'");
    }
    bool has(std::string_view fact) const {
        const auto* own = find("");
        return own && own->find(fact) && own->rows() == 1;
    }
    // A value of the answer itself. Throw Error where there is none of that name and kind.
    double number(std::string_view fact) const { return only(table("").numbers(fact)); }
    const std::string& text(std::string_view fact) const { return only(table("").texts(fact)); }

private:
    template <class T>
    static const T& only(const std::vector<T>& values) {
        if (values.size() != 1) throw Error("an answer has no values of its own");
        return values.front();
    }
};

/// A number of a column as an index from 0; -1 for NaN, where there is none.
inline std::int64_t indexOf(double value) {
    return std::isnan(value) ? -1 : static_cast<std::int64_t>(value);
}

}  // namespace relascope
