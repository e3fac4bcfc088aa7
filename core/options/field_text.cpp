// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/field_text.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/architecture.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

const std::string kModel = "model.", kArchitecture = "model.architecture";

std::string fieldNumber(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15)
        return std::to_string(static_cast<std::int64_t>(value));
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    std::string text(buffer, end);
    // "5e-04" is written "5e-4".
    if (const auto e = text.find('e');
        e != std::string::npos && text.size() > e + 3 && text[e + 2] == '0')
        text.erase(e + 2, 1);
    return text;
}

template <class Number>
bool parseWhole(const std::string& text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::int64_t parseInteger(const std::string& key, const std::string& text) {
    std::int64_t value = 0;
    if (parseWhole(text, value)) return value;
    double real = 0;  // 1e4 and 2500.0 are integers as well
    if (parseWhole(text, real) && real == std::floor(real) && std::abs(real) < 9e15)
        return static_cast<std::int64_t>(real);
    throw OptionError(key, "'" + text + "' is not an integer");
}

}  // namespace

std::string fieldValueText(const FieldValue& value) {
    struct Text {
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const { return fieldNumber(v); }
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

FieldValue parseFieldValue(const std::string& key, const FieldSpec& spec, const std::string& raw) {
    const std::string text = trimmed(raw);
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
            value = parseInteger(key, text);
            break;
        case FieldKind::Real: {
            double real = 0;
            if (!parseWhole(text, real) || !std::isfinite(real))
                throw OptionError(key, "'" + text + "' is not a number");
            value = real;
            break;
        }
        case FieldKind::Choice:
        case FieldKind::Text:
            value = text;
            break;
        case FieldKind::IntegerList: {
            std::vector<std::int64_t> list;
            std::string item;
            std::string rest = text;
            for (auto& c : rest)
                if (c == '[' || c == ']') c = ' ';
            rest += ',';
            for (const char c : rest) {
                if (c != ',') {
                    item += c;
                    continue;
                }
                if (!trimmed(item).empty()) list.push_back(parseInteger(key, trimmed(item)));
                item.clear();
            }
            if (list.size() > 1024) throw OptionError(key, "lists more than 1024 numbers");
            value = list;
            break;
        }
        case FieldKind::TextList: {
            std::vector<std::string> list;
            std::istringstream items(text);
            for (std::string item; std::getline(items, item, ',');)
                if (!trimmed(item).empty()) list.push_back(trimmed(item));
            value = list;
            break;
        }
    }
    checkFieldValue(key, spec, value);
    return value;
}

void checkFieldValue(const std::string& key, const FieldSpec& spec, const FieldValue& value) {
    const auto inBounds = [&](double number) {
        if (number < spec.minimum)
            throw OptionError(key, fieldNumber(number) + " is below " + fieldNumber(spec.minimum));
        if (spec.aboveMinimum && number == spec.minimum)
            throw OptionError(key, "must be greater than " + fieldNumber(spec.minimum));
        if (number > spec.maximum)
            throw OptionError(key, fieldNumber(number) + " is above " + fieldNumber(spec.maximum));
    };
    if (const auto* n = std::get_if<std::int64_t>(&value)) inBounds(static_cast<double>(*n));
    if (const auto* x = std::get_if<double>(&value)) {
        if (!std::isfinite(*x)) throw OptionError(key, "is not a finite number");
        inBounds(*x);
    }
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
        for (const auto n : *list) inBounds(static_cast<double>(n));
    const auto oneOf = [&](const std::string& text) {
        for (const auto& choice : spec.choices)
            if (choice == text) return;
        throw OptionError(key, unknownName("value", text, spec.choices));
    };
    if (spec.kind == FieldKind::Choice) oneOf(std::get<std::string>(value));
    if (spec.kind == FieldKind::TextList && !spec.choices.empty() && !spec.openChoices)
        for (const auto& text : std::get<std::vector<std::string>>(value)) oneOf(text);
}

void setOption(RunOptions& options, const std::string& key, const std::string& text,
               OtherArchitectures others) {
    if (key == "train.early_stopping" && !text.empty() && text.front() == '{') {
        const auto object = nlohmann::json::parse(text, nullptr, false);
        if (!object.is_object()) throw OptionError(key, "is not a JSON object");
        for (const auto& [name, value] : object.items())
            setOption(options, key + "." + name,
                      value.is_string() ? value.get<std::string>() : value.dump());
        return;
    }
    const auto& field = RunOptions::field(key);
    const auto value = parseFieldValue(key, field.spec, text);
    if (key.starts_with(kModel) && key != kArchitecture &&
        !options.model.has(key.substr(kModel.size()))) {
        if (others == OtherArchitectures::Ignore) return;
        throw OptionError(key, "is not an option of " + options.model.architecture());
    }
    field.set(options, value);
}

void setOptions(RunOptions& options, const std::vector<std::pair<std::string, std::string>>& values,
                OtherArchitectures others) {
    for (const bool architecture : {true, false})
        for (const auto& [key, text] : values)
            if ((key == kArchitecture) == architecture) setOption(options, key, text, others);
}

std::vector<std::pair<std::string, std::string>> optionTexts(const RunOptions& options) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const auto& field : RunOptions::fieldTable())
        if (field.applies(options))
            texts.emplace_back(field.spec.name, fieldValueText(field.get(options)));
    return texts;
}

std::string modelText(const ModelOptions& m) {
    return m.info().text(m);
}

}  // namespace relascope::core
