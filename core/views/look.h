// SPDX-License-Identifier: GPL-3.0-or-later
// How a picture is looked at, by its table of fields (map_look.h, curve_look.h): as options of a
// view, and its words as places among the choices, in whose order widgets have their enumerations.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "types/field.h"
#include "types/question.h"

namespace relascope::core {

/// The choices of a field; none for a field that the table lacks.
template <class Look>
const std::vector<std::string>& lookChoices(const FieldTable<Look>& table, const char* field) {
    static const std::vector<std::string> none;
    for (const auto& one : table)
        if (one.spec.name == field) return one.spec.choices;
    return none;
}
/// The choice that a word names; the first for an unknown one.
template <class Enum, class Look>
Enum choiceOf(const FieldTable<Look>& table, const char* field, const std::string& word) {
    const auto& choices = lookChoices(table, field);
    const auto at = std::find(choices.begin(), choices.end(), word);
    return static_cast<Enum>(at == choices.end() ? 0 : at - choices.begin());
}
template <class Enum, class Look>
const std::string& choiceName(const FieldTable<Look>& table, const char* field, Enum value) {
    return lookChoices(table, field).at(static_cast<std::size_t>(value));
}

/// Adds the fields that differ from the usual look to a view.
template <class Look>
void addLook(Question& view, const FieldTable<Look>& table, const Look& look) {
    for (const auto& field : table)
        if (field.get(look) != field.get(Look()))
            view.options.push_back({field.spec.name, field.get(look)});
}
template <class Look>
Look lookOf(const Question& view, const FieldTable<Look>& table) {
    Look look;
    for (const auto& field : table)
        if (const auto* value = view.option(field.spec.name)) field.set(look, *value);
    return look;
}

}  // namespace relascope::core
