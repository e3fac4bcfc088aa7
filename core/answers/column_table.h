// SPDX-License-Identifier: GPL-3.0-or-later
// Column tables. A computation adds its rows to a table of declared columns; or it keeps them as
// structs, where they are read again, and one description turns them into a Table and back.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "types/answer.h"

namespace relascope::core {

using CellValue = std::variant<double, std::string>;

/// One column of the rows `Row`. Columns that are only derived have no `set`.
template <class Row>
struct RowColumn {
    Column column;  ///< without values
    std::function<CellValue(const Row&)> get;
    std::function<void(Row&, const CellValue&)> set = {};
};

template <class Row>
using ColumnTable = std::vector<RowColumn<Row>>;

namespace columns {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The column with a title, a sentence of help and a format.
struct Shown {
    std::string title = {};
    NumberFormat format = {};
    std::string help = {};
    std::string low = {}, high = {};  ///< as Column::low and high
    std::string into = {};
};

inline Column columnOf(ColumnKind kind, std::string key, Shown shown) {
    Column column{std::move(key), std::move(shown.title), std::move(shown.help), kind,
                  shown.format};
    column.into = std::move(shown.into);
    column.low = std::move(shown.low), column.high = std::move(shown.high);
    return column;
}

// Columns whose values are added where they are computed.
inline Column number(std::string key, Shown shown = {}) {
    return columnOf(ColumnKind::Number, std::move(key), std::move(shown));
}
inline Column integer(std::string key, Shown shown = {}) {
    return columnOf(ColumnKind::Integer, std::move(key), std::move(shown));
}
inline Column flag(std::string key, Shown shown = {}) {
    return columnOf(ColumnKind::Flag, std::move(key), std::move(shown));
}
inline Column text(std::string key, Shown shown = {}) {
    return columnOf(ColumnKind::Text, std::move(key), std::move(shown));
}

template <class Value>
void add(Column& column, const Value& value) {
    if constexpr (std::is_arithmetic_v<Value>)
        column.numbers.push_back(static_cast<double>(value));
    else
        column.texts.emplace_back(value);
}

/// A column of one value, as a value of the answer itself is.
template <class Value>
Column fact(std::string key, const Value& value, Shown shown = {}) {
    using V = std::decay_t<Value>;
    auto made = columnOf(!std::is_arithmetic_v<V>      ? ColumnKind::Text
                         : std::is_same_v<V, bool>     ? ColumnKind::Flag
                         : std::is_floating_point_v<V> ? ColumnKind::Number
                                                       : ColumnKind::Integer,
                         std::move(key), std::move(shown));
    add(made, value);
    return made;
}

/// Counted from 1 in a table, and from 0 where it is computed; -1 is none.
inline double fromOne(std::int64_t value) {
    return value < 0 ? kNone : static_cast<double>(value) + 1.0;
}

template <class Row, class Get>
RowColumn<Row> derived(ColumnKind kind, std::string key, Shown shown, Get get) {
    return {columnOf(kind, std::move(key), std::move(shown)),
            [get = std::move(get)](const Row& row) -> CellValue {
                if constexpr (std::is_arithmetic_v<std::invoke_result_t<Get, const Row&>>)
                    return static_cast<double>(get(row));
                else
                    return std::string(get(row));
            }};
}

/// A number of a file or message as a `Whole`; -1 for NaN, a missing number, as in the rows. Throws
/// Error for a number that does not fit.
template <class Whole>
Whole wholeOf(double number, const std::string& key) {
    if (std::isnan(number)) return static_cast<Whole>(-1);
    using Limits = std::numeric_limits<Whole>;
    if (number < static_cast<double>(Limits::min()) || number >= std::ldexp(1.0, Limits::digits))
        throw Error("'" + key + "' is " + std::to_string(number));
    return static_cast<Whole>(number);
}

/// A column of the values that `ref` returns for a row: a number, a text, or an enumeration whose
/// values are named by `names`, from the first on.
template <class Row, class Ref>
RowColumn<Row> found(ColumnKind kind, std::string key, Ref ref, Shown shown = {},
                     std::vector<std::string> names = {}) {
    using Value = std::remove_reference_t<std::invoke_result_t<Ref, Row&>>;
    const auto get = [ref, names](const Row& row) -> CellValue {
        const Value& value = ref(const_cast<Row&>(row));
        if constexpr (std::is_enum_v<Value>)
            return names.at(static_cast<std::size_t>(value));
        else if constexpr (std::is_arithmetic_v<Value>)
            return static_cast<double>(value);
        else
            return std::string(value);
    };
    return {columnOf(kind, key, std::move(shown)), get,
            [ref, names, key](Row& row, const CellValue& value) {
                Value& to = ref(row);
                if constexpr (std::is_enum_v<Value>) {
                    const auto& text = std::get<std::string>(value);
                    const auto at = std::find(names.begin(), names.end(), text);
                    if (at == names.end()) throw Error("'" + key + "' is '" + text + "'");
                    to = static_cast<Value>(at - names.begin());
                } else if constexpr (std::is_arithmetic_v<Value>) {
                    const double number = std::get<double>(value);
                    if constexpr (std::is_floating_point_v<Value> || std::is_same_v<Value, bool>)
                        to = static_cast<Value>(number);
                    else
                        to = wholeOf<Value>(number, key);
                } else {
                    to = std::get<std::string>(value);
                }
            }};
}

template <class Row, class Member>
RowColumn<Row> stored(ColumnKind kind, Member Row::*member, std::string key, Shown shown) {
    return found<Row>(
        kind, std::move(key), [member](Row& row) -> Member& { return row.*member; },
        std::move(shown));
}

template <class Row>
RowColumn<Row> number(double Row::*member, std::string key, Shown shown = {}) {
    return stored(ColumnKind::Number, member, std::move(key), std::move(shown));
}
template <class Row, class Member>
RowColumn<Row> integer(Member Row::*member, std::string key, Shown shown = {}) {
    return stored(ColumnKind::Integer, member, std::move(key), std::move(shown));
}
template <class Row>
RowColumn<Row> flag(bool Row::*member, std::string key, Shown shown = {}) {
    return stored(ColumnKind::Flag, member, std::move(key), std::move(shown));
}
template <class Row>
RowColumn<Row> text(std::string Row::*member, std::string key, Shown shown = {}) {
    return stored(ColumnKind::Text, member, std::move(key), std::move(shown));
}
/// Counted from 0 in the rows, where `ref` finds an int, and from 1 in the table; -1 is none.
template <class Row, class Ref>
RowColumn<Row> countedBy(std::string key, Ref ref, Shown shown = {}) {
    auto made = derived<Row>(ColumnKind::Integer, key, std::move(shown), [ref](const Row& row) {
        const int value = ref(const_cast<Row&>(row));
        return value < 0 ? kNone : value + 1.0;
    });
    made.set = [ref, key](Row& row, const CellValue& value) {
        const auto number = wholeOf<int>(std::get<double>(value), key);
        ref(row) = number > 0 ? number - 1 : -1;
    };
    return made;
}
template <class Row>
RowColumn<Row> counted(int Row::*member, std::string key, Shown shown = {}) {
    return countedBy<Row>(
        std::move(key), [member](Row& row) -> int& { return row.*member; }, std::move(shown));
}

}  // namespace columns

/// A table of declared columns.
template <class... Columns>
Table tableWith(std::string key, std::string title, Columns... columns) {
    return {std::move(key), std::move(title), {std::move(columns)...}};
}

/// Appends a row to a table of declared columns: the value of each of them. A vector has the values
/// of as many columns.
template <class... Values>
void addRow(Table& table, const Values&... values) {
    auto column = table.columns.begin();
    const auto put = [&](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::vector<double>>)
            for (const double one : value) columns::add(*column++, one);
        else
            columns::add(*column++, value);
    };
    (put(values), ...);
}

template <class... Values>
void addRow(Answer& answer, std::string_view table, const Values&... values) {
    addRow(const_cast<Table&>(answer.table(table)), values...);
}

/// Sets a value of the answer itself, whose column is declared. Throws Error for another key.
template <class Value>
void setFact(Answer& answer, std::string_view key, const Value& value) {
    auto& column = const_cast<Column&>(answer.table("").column(key));
    column.numbers.clear(), column.texts.clear();
    columns::add(column, value);
}

/// The table of these rows.
template <class Row>
Table tableOf(std::string key, std::string title, const ColumnTable<Row>& columns,
              const std::vector<Row>& rows) {
    Table table{std::move(key), std::move(title)};
    for (const auto& one : columns) {
        Column column = one.column;
        if (column.kind == ColumnKind::Text)
            column.texts.reserve(rows.size());
        else
            column.numbers.reserve(rows.size());
        for (const auto& row : rows) {
            auto value = one.get(row);
            if (column.kind == ColumnKind::Text)
                column.texts.push_back(std::move(std::get<std::string>(value)));
            else
                column.numbers.push_back(std::get<double>(value));
        }
        table.columns.push_back(std::move(column));
    }
    return table;
}

/// The rows of a table, without derived values. Throws Error for a table that lacks a column.
template <class Row>
std::vector<Row> rowsOf(const ColumnTable<Row>& columns, const Table& table) {
    std::vector<Row> rows(table.rows());
    for (const auto& one : columns) {
        if (!one.set) continue;
        if (one.column.kind == ColumnKind::Text) {
            const auto& texts = table.texts(one.column.key);
            for (std::size_t r = 0; r < rows.size(); ++r) one.set(rows[r], texts[r]);
        } else {
            const auto& numbers = table.numbers(one.column.key);
            for (std::size_t r = 0; r < rows.size(); ++r) one.set(rows[r], numbers[r]);
        }
    }
    return rows;
}

/// A table of one column of texts.
inline Table textsTable(std::string key, std::string column, std::vector<std::string> texts) {
    Column only{std::move(column), {}, {}, ColumnKind::Text};
    only.texts = std::move(texts);
    return {std::move(key), {}, {std::move(only)}};
}

/// The values of an answer itself: the table without a key, of one row.
template <class Row>
Table factsOf(const ColumnTable<Row>& columns, const Row& row) {
    return tableOf({}, {}, columns, std::vector<Row>{row});
}
/// Reads the values of the answer itself back. Throws Error for an answer that has none.
template <class Row>
Row factsIn(const ColumnTable<Row>& columns, const Answer& answer) {
    auto rows = rowsOf(columns, answer.table(""));
    if (rows.size() != 1) throw Error("an answer has no values of its own");
    return std::move(rows.front());
}

}  // namespace relascope::core
