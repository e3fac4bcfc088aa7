// SPDX-License-Identifier: GPL-3.0-or-later
// Values of fields as text, as the command line and forms have them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "types/error.h"
#include "types/field.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {

namespace field_text {

inline std::string number(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15)
        return std::to_string(static_cast<std::int64_t>(value));
    std::string text = shortestText(value);
    // "5e-04" is written "5e-4".
    if (const auto e = text.find('e');
        e != std::string::npos && text.size() > e + 3 && text[e + 2] == '0')
        text.erase(e + 2, 1);
    return text;
}

template <class Number>
bool read(const std::string& text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

inline std::int64_t integer(const std::string& key, const std::string& text) {
    std::int64_t value = 0;
    if (read(text, value)) return value;
    double real = 0;  // 1e4 and 2500.0 are integers as well
    if (read(text, real) && real == std::floor(real) && std::abs(real) < 9e15)
        return static_cast<std::int64_t>(real);
    throw OptionError(key,
                      text.empty() ? "must be an integer" : "'" + text + "' is not an integer");
}

/// The parts between commas, without those of spaces alone.
inline std::vector<std::string> list(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream items(text);
    for (std::string item; std::getline(items, item, ',');)
        if (!trimmed(item).empty()) parts.push_back(trimmed(item));
    return parts;
}

}  // namespace field_text

/// "0.001", "true", "0, 1", "swiglu"; the shortest text that reads back as the same value.
inline std::string fieldValueText(const FieldValue& value) {
    struct Text {
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const { return field_text::number(v); }
        std::string operator()(const std::string& v) const { return v; }
        std::string operator()(const std::vector<std::int64_t>& v) const {
            std::string text;
            for (const auto n : v) text += (text.empty() ? "" : ", ") + std::to_string(n);
            return text;
        }
        std::string operator()(const std::vector<std::string>& v) const { return joined(v, ", "); }
    };
    return std::visit(Text{}, value);
}

/// Throws OptionError naming `key` unless the value is within the field's bounds and choices.
inline void checkFieldValue(const std::string& key, const FieldSpec& spec,
                            const FieldValue& value) {
    const auto inBounds = [&](double number) {
        const auto text = [](double x) { return field_text::number(x); };
        if (number < spec.minimum)
            throw OptionError(key, text(number) + " is below " + text(spec.minimum));
        if (spec.aboveMinimum && number == spec.minimum)
            throw OptionError(key, "must be greater than " + text(spec.minimum));
        if (number > spec.maximum)
            throw OptionError(key, text(number) + " is above " + text(spec.maximum));
    };
    if (const auto* n = std::get_if<std::int64_t>(&value)) inBounds(static_cast<double>(*n));
    if (const auto* x = std::get_if<double>(&value)) {
        if (!std::isfinite(*x)) throw OptionError(key, "is not a finite number");
        inBounds(*x);
    }
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
        for (const auto n : *list) inBounds(static_cast<double>(n));
    const auto oneOf = [&](const std::string& text) {
        if (std::find(spec.choices.begin(), spec.choices.end(), text) == spec.choices.end())
            throw OptionError(key, unknownName("value", text, spec.choices));
    };
    if (spec.kind == FieldKind::Choice) oneOf(std::get<std::string>(value));
    if (spec.kind == FieldKind::TextList && !spec.choices.empty() && !spec.openChoices)
        for (const auto& text : std::get<std::vector<std::string>>(value)) oneOf(text);
}

/// Parses `text` as a value of the field and checks its bounds and choices. Throws OptionError
/// naming `key`, the value and the bound.
inline FieldValue parseFieldValue(const std::string& key, const FieldSpec& spec,
                                  const std::string& raw) {
    std::string text = trimmed(raw);
    FieldValue value;
    switch (spec.kind) {
        case FieldKind::Boolean:
            if (text == "true" || text == "1" || text == "yes" || text == "on")
                value = true;
            else if (text == "false" || text == "0" || text == "no" || text == "off")
                value = false;
            else
                throw OptionError(key, "'" + text + "' is not true or false");
            break;
        case FieldKind::Integer:
            value = field_text::integer(key, text);
            break;
        case FieldKind::Real: {
            double real = 0;
            if (text.empty()) throw OptionError(key, "must be a number, such as 1e-3");
            if (!field_text::read(text, real) || !std::isfinite(real))
                throw OptionError(key, "'" + text + "' is not a number; write 0.001 or 1e-3");
            value = real;
            break;
        }
        case FieldKind::Choice:
        case FieldKind::Text:
            value = text;
            break;
        case FieldKind::IntegerList: {
            std::vector<std::int64_t> list;
            for (auto& c : text)
                if (c == '[' || c == ']') c = ' ';
            for (const auto& part : field_text::list(text))
                list.push_back(field_text::integer(key, part));
            if (list.size() > 1024) throw OptionError(key, "lists more than 1024 numbers");
            value = list;
            break;
        }
        case FieldKind::TextList:
            value = field_text::list(text);
            break;
    }
    checkFieldValue(key, spec, value);
    return value;
}

}  // namespace relascope::core
