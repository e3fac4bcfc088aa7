// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "files/atomic_file.h"
#include "interventions/edit_json.h"
#include "interventions/edit_values.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope {

const char* editOpName(EditOp op) {
    static constexpr std::array names = {"zero",  "set",   "scale",   "add",  "mean", "resample",
                                         "patch", "clean", "uniform", "mask", "swap", "project"};
    return names.at(static_cast<std::size_t>(op));
}

namespace core {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kAxes = {"position", "head",   "dim",  "i",     "j",
                              "relation", "symbol", "slot", "expert"};
constexpr std::int64_t kFarthest = 1'000'000'000;
constexpr std::size_t kMostNumbers = 100'000;  // the most of one list; a file has at most 1 MiB

[[noreturn]] void refuse(const std::string& field, const Json& value, const std::string& wanted) {
    auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    throw OptionError(field, text + " is not " + wanted);
}

// Whether a number is finite as a float; the conversion of larger numbers would be undefined.
bool isFloat32(double value) {
    return std::abs(value) <= std::numeric_limits<float>::max();
}

std::int64_t integer(const Json& json, const std::string& field) {
    const bool fits = json.is_number_unsigned()
                          ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(kFarthest)
                          : json.is_number_integer() && json.get<std::int64_t>() >= -kFarthest;
    if (!fits) refuse(field, json, "an integer");
    return json.get<std::int64_t>();
}

// Reads a range "lo:hi", where either end may be absent.
AxisSelection range(const Json& json, const std::string& field) {
    const auto text = json.get<std::string>();
    const auto colon = text.find(':');
    AxisSelection selection;
    const auto side = [&](const std::string& part) -> std::optional<std::int64_t> {
        if (part.empty()) return std::nullopt;
        std::size_t used = 0;
        std::int64_t value = 0;
        try {
            value = std::stoll(part, &used);
        } catch (const std::exception&) {
            used = 0;
        }
        if (used != part.size() || std::abs(value) > kFarthest)
            refuse(field, json, "an integer, a list of them, or a range \"low:high\"");
        return value;
    };
    if (colon == std::string::npos)
        refuse(field, json, "an integer, a list of them, or a range \"low:high\"");
    selection.low = side(text.substr(0, colon));
    selection.high = side(text.substr(colon + 1));
    return selection;
}

AxisSelection selectionOf(const Json& json, const std::string& field) {
    if (json.is_string()) return range(json, field);
    AxisSelection selection;
    if (json.is_array()) {
        if (json.empty() || json.size() > kMostNumbers)
            refuse(field, json, "a list of at least one integer");
        for (const auto& place : json) selection.places.push_back(integer(place, field));
        return selection;
    }
    selection.places = {integer(json, field)};
    return selection;
}

// Nested lists of equal lengths, or a number.
void readNumbers(const Json& json, const std::string& field, std::size_t depth,
                 std::vector<std::int64_t>& shape, std::vector<double>& numbers) {
    if (json.is_number()) {
        if (depth != shape.size()) refuse(field, json, "as deeply nested as those before it");
        if (numbers.size() >= kMostNumbers)
            throw OptionError(field, "has over " + std::to_string(kMostNumbers) + " numbers");
        const auto value = json.get<double>();
        if (!isFloat32(value)) refuse(field, json, "a finite number of float32");
        return numbers.push_back(value);
    }
    if (!json.is_array() || json.empty() || depth >= 4)
        refuse(field, json, "a number or a list of numbers");
    const auto size = static_cast<std::int64_t>(json.size());
    if (numbers.empty() && depth == shape.size())
        shape.push_back(size);
    else if (depth >= shape.size() || shape[depth] != size)
        refuse(field, json, "a list as long as those beside it");
    for (const auto& part : json) readNumbers(part, field, depth + 1, shape, numbers);
}

EditValues valuesOf(const Json& json, const std::string& field) {
    std::vector<std::int64_t> shape;
    std::vector<double> numbers;
    readNumbers(json, field, 0, shape, numbers);
    return {std::move(shape), std::move(numbers)};
}

// Reads the keys of one object and rejects the rest.
class Keys {
public:
    Keys(const Json& object, std::string where) : m_object(object), m_where(std::move(where)) {
        if (!object.is_object()) refuse(m_where, object, "a JSON object");
    }
    const Json* find(const char* key) {
        m_known.emplace_back(key);
        const auto found = m_object.find(key);
        return found == m_object.end() ? nullptr : &*found;
    }
    const Json& require(const char* key) {
        const auto* found = find(key);
        if (!found) throw OptionError(field(key), "is missing");
        return *found;
    }
    void read(const char* key, std::string& out) {
        const auto* json = find(key);
        if (json && !json->is_string()) refuse(field(key), *json, "a text");
        if (json) out = json->get<std::string>();
    }
    void read(const char* key, bool& out) {
        const auto* json = find(key);
        if (json && !json->is_boolean()) refuse(field(key), *json, "true or false");
        if (json) out = json->get<bool>();
    }
    void read(const char* key, std::int64_t& out) {
        if (const auto* json = find(key)) out = integer(*json, field(key));
    }
    void read(const char* key, std::vector<std::int64_t>& out) {
        const auto* json = find(key);
        if (!json) return;
        if (!json->is_array() || json->size() > kMostNumbers)
            refuse(field(key), *json, "a list of integers");
        for (const auto& item : *json) out.push_back(integer(item, field(key)));
    }
    void finish() const {
        for (const auto& item : m_object.items())
            if (std::find(m_known.begin(), m_known.end(), item.key()) == m_known.end())
                throw OptionError(m_where, unknownName("key", item.key(), m_known));
    }
    std::string field(const std::string& key) const {
        return m_where.empty() ? key : m_where + "." + key;
    }

private:
    const Json& m_object;
    std::string m_where;
    std::vector<std::string> m_known;
};

EditOp opOf(const Json& json, const std::string& field) {
    if (!json.is_string()) refuse(field, json, "a text");
    std::vector<std::string> names;
    for (int i = 0; i < kEditOps; ++i) {
        names.emplace_back(editOpName(static_cast<EditOp>(i)));
        if (names.back() == json.get<std::string>()) return static_cast<EditOp>(i);
    }
    throw OptionError(field, unknownName("operation", json.get<std::string>(), names));
}

EditReference referenceOf(const Json& json, const std::string& where) {
    Keys keys(json, where);
    EditReference reference;
    std::int64_t seed = 0;
    keys.read("split", reference.split);
    keys.read("examples", reference.examples);
    keys.read("seed", seed);
    keys.read("over", reference.over);
    keys.finish();
    if (reference.examples < 1)
        throw OptionError(keys.field("examples"),
                          std::to_string(reference.examples) + " is below 1");
    if (seed < 0) throw OptionError(keys.field("seed"), std::to_string(seed) + " is negative");
    reference.seed = static_cast<std::uint64_t>(seed);
    if (!reference.over.empty() && reference.over != "position" && reference.over != "offset" &&
        reference.over != "all")
        throw OptionError(keys.field("over"),
                          unknownName("mean", reference.over, {"position", "offset", "all"}));
    return reference;
}

// The numbers of a mean, or the tensor of a file that has them.
EditValues meanValues(const Json& json, const std::string& field, StoredValues* stored) {
    if (!json.is_object()) return valuesOf(json, field);
    Keys keys(json, field);
    std::string file, tensor;
    keys.require("file"), keys.require("tensor");
    keys.read("file", file), keys.read("tensor", tensor);
    keys.finish();
    if (!stored)
        throw OptionError(field, "name a file, which only files of edits may; give the numbers");
    return stored->read(file, tensor, field);
}

Edit editOf(const Json& json, const std::string& where, StoredValues* stored) {
    Keys keys(json, where);
    Edit edit;
    edit.op = opOf(keys.require("op"), keys.field("op"));
    keys.require("at");
    keys.read("at", edit.point);
    for (const char* axis : kAxes) {
        // Of a projection that is the file.
        if (edit.op == EditOp::Project && std::string(axis) == "relation") continue;
        if (const auto* selection = keys.find(axis))
            edit.selection[axis] = selectionOf(*selection, keys.field(axis));
    }
    keys.read("enabled", edit.enabled);
    keys.read("note", edit.note);
    keys.read("when", edit.textPart);
    if (!edit.textPart.empty() && edit.textPart != "prompt" && edit.textPart != "new")
        throw OptionError(keys.field("when"),
                          unknownName("part", edit.textPart, {"prompt", "new"}));
    switch (edit.op) {
        case EditOp::Set:
        case EditOp::Add:
            edit.values = valuesOf(keys.require("value"), keys.field("value"));
            break;
        case EditOp::Scale: {
            const auto& factor = keys.require("factor");
            if (!factor.is_number() || !isFloat32(factor.get<double>()))
                refuse(keys.field("factor"), factor, "a finite number of float32");
            edit.factor = factor.get<double>();
            break;
        }
        case EditOp::Mean:
            if (const auto* values = keys.find("values"))
                edit.values = meanValues(*values, keys.field("values"), stored);
            if (const auto* reference = keys.find("reference"))
                edit.reference = referenceOf(*reference, keys.field("reference"));
            break;
        case EditOp::Resample:
            keys.read("shift", edit.shift);
            if (edit.shift < 1)
                throw OptionError(keys.field("shift"), std::to_string(edit.shift) + " is below 1");
            break;
        case EditOp::Patch:
            keys.require("from");
            keys.read("from", edit.input);
            break;
        case EditOp::Swap: {
            keys.require("axis");
            keys.read("axis", edit.axis);
            const auto& pair = keys.require("pair");
            if (!pair.is_array() || pair.size() != 2)
                refuse(keys.field("pair"), pair, "a list of two integers");
            edit.first = integer(pair[0], keys.field("pair"));
            edit.second = integer(pair[1], keys.field("pair"));
            break;
        }
        case EditOp::Project:
            keys.require("relation");
            keys.read("relation", edit.relation);
            break;
        default:
            break;
    }
    keys.finish();
    return edit;
}

EditInput inputOf(const Json& json, const std::string& where) {
    Keys keys(json, where);
    EditInput input;
    keys.read("split", input.split);
    keys.read("sample", input.sample);
    keys.read("text", input.text);
    keys.read("tokens", input.tokens);
    keys.read("target", input.target);
    keys.read("image", input.image);
    keys.read("file", input.file);
    keys.read("prefix", input.prefix);
    keys.finish();
    const int forms = (input.sample >= 0) + !input.text.empty() + !input.tokens.empty() +
                      !input.image.empty() + !input.file.empty();
    if (forms != 1) throw OptionError(where, "needs one of sample, text, tokens, image and file");
    return input;
}

Json numbersToJson(const EditValues& values, std::size_t depth, std::size_t& next) {
    if (depth == values.shape.size()) return values.numbers[next++];
    Json list = Json::array();
    for (std::int64_t i = 0; i < values.shape[depth]; ++i)
        list.push_back(numbersToJson(values, depth + 1, next));
    return list;
}

Json numbersToJson(const EditValues& values) {
    std::size_t next = 0;
    return numbersToJson(values, 0, next);
}

Json selectionToJson(const AxisSelection& s) {
    if (s.isRange())
        return (s.low ? std::to_string(*s.low) : "") + ":" +
               (s.high ? std::to_string(*s.high) : "");
    return s.places.size() == 1 ? Json(s.places[0]) : Json(s.places);
}

// `values`: in place of the numbers of a mean; null: the numbers.
Json editToJson(const Edit& edit, Json values = {}) {
    Json json = {{"op", editOpName(edit.op)}, {"at", edit.point}};
    for (const char* axis : kAxes)
        if (const auto found = edit.selection.find(axis); found != edit.selection.end())
            json[axis] = selectionToJson(found->second);
    switch (edit.op) {
        case EditOp::Set:
        case EditOp::Add:
            json["value"] = numbersToJson(edit.values);
            break;
        case EditOp::Scale:
            json["factor"] = edit.factor;
            break;
        case EditOp::Mean:
            if (!edit.values.empty())
                json["values"] = values.is_null() ? numbersToJson(edit.values) : std::move(values);
            if (const auto& r = edit.reference) {
                json["reference"] = {
                    {"split", r->split}, {"examples", r->examples}, {"seed", r->seed}};
                if (!r->over.empty()) json["reference"]["over"] = r->over;
            }
            break;
        case EditOp::Resample:
            json["shift"] = edit.shift;
            break;
        case EditOp::Patch:
            json["from"] = edit.input;
            break;
        case EditOp::Swap:
            json["axis"] = edit.axis;
            json["pair"] = {edit.first, edit.second};
            break;
        case EditOp::Project:
            json["relation"] = edit.relation;
            break;
        default:
            break;
    }
    if (!edit.textPart.empty()) json["when"] = edit.textPart;
    if (!edit.enabled) json["enabled"] = false;
    if (!edit.note.empty()) json["note"] = edit.note;
    return json;
}

Json inputToJson(const EditInput& input) {
    Json json = Json::object();
    if (input.sample >= 0) {
        if (!input.split.empty()) json["split"] = input.split;
        json["sample"] = input.sample;
    }
    if (!input.text.empty()) json["text"] = input.text;
    if (!input.tokens.empty()) json["tokens"] = input.tokens;
    if (!input.target.empty()) json["target"] = input.target;
    if (!input.image.empty()) json["image"] = input.image;
    if (!input.file.empty()) json["file"] = input.file;
    if (!input.prefix.empty()) json["prefix"] = input.prefix;
    return json;
}

EditList listOf(const Json& json, StoredValues* stored) {
    Keys keys(json, "");
    const auto& format = keys.require("format");
    if (format != kEditFormat) refuse("format", format, std::string("\"") + kEditFormat + "\"");
    EditList list;
    keys.read("name", list.name);
    keys.read("model", list.model);
    if (const auto* inputs = keys.find("inputs")) {
        if (!inputs->is_object()) refuse("inputs", *inputs, "a JSON object");
        for (const auto& item : inputs->items())
            list.inputs[item.key()] = inputOf(item.value(), "inputs." + item.key());
    }
    const auto& edits = keys.require("edits");
    if (!edits.is_array()) refuse("edits", edits, "a list of edits");
    if (edits.size() > kMostEdits)
        throw OptionError(
            "edits", std::to_string(edits.size()) + " are more than " + std::to_string(kMostEdits));
    for (std::size_t i = 0; i < edits.size(); ++i) {
        const auto where = "edits[" + std::to_string(i) + "]";
        list.edits.push_back(editOf(edits[i], where, stored));
        const auto& from = list.edits.back().input;
        if (!from.empty() && !list.inputs.contains(from)) {
            std::vector<std::string> names;
            for (const auto& input : list.inputs) names.push_back(input.first);
            throw OptionError(where + ".from", names.empty() ? "'" + from + "' is not in \"inputs\""
                                                             : unknownName("input", from, names));
        }
    }
    keys.finish();
    return list;
}

EditList parsed(const std::string& text, const std::string& origin, StoredValues* stored) {
    if (text.size() > kLargestEditFile)
        throw FileError(origin, "is larger than 1 MiB, the most that a file of edits may have");
    try {
        // Nesting beyond what any valid file has would exhaust the stack.
        int depth = 0;
        const auto json = Json::parse(text, [&depth](int at, Json::parse_event_t, Json&) {
            depth = std::max(depth, at);
            if (depth > 12) throw OptionError("edits", "are nested too deeply");
            return true;
        });
        return listOf(json, stored);
    } catch (const nlohmann::json::exception& error) {
        throw FileError(origin, std::string("is not JSON: ") + error.what());
    } catch (const OptionError& error) {
        throw FileError(origin, error.what());
    }
}

/// `values`: the name of the file that has the numbers of the means; empty: they are in the text.
std::string textOf(const EditList& list, const std::string& values) {
    Json json = {{"format", kEditFormat}};
    if (!list.name.empty()) json["name"] = list.name;
    if (!list.model.empty()) json["model"] = list.model;
    for (const auto& [name, input] : list.inputs) json["inputs"][name] = inputToJson(input);
    json["edits"] = Json::array();
    for (std::size_t i = 0; i < list.edits.size(); ++i) {
        const Json stored = {{"file", values}, {"tensor", valuesTensor(i)}};
        json["edits"].push_back(editToJson(list.edits[i], values.empty() ? Json() : stored));
    }
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Whether the numbers of the means take too much text.
bool needFile(const EditList& list) {
    std::size_t numbers = 0, bytes = 0;
    for (const auto& edit : list.edits)
        if (edit.op == EditOp::Mean) numbers += edit.values.numbers.size();
    if (2 * numbers > kMostInlineValues) return true;  // each with a comma at least
    for (const auto& edit : list.edits)
        if (edit.op == EditOp::Mean && !edit.values.empty())
            bytes += numbersToJson(edit.values).dump().size();
    return bytes > kMostInlineValues;
}

}  // namespace

EditList editsFromJson(const std::string& text, const std::string& origin) {
    return parsed(text, origin, nullptr);
}

EditList readEdits(const std::string& path) {
    const auto folder = std::filesystem::path(path).parent_path();
    StoredValues stored(folder);
    auto list = parsed(readTextFile(path, kLargestEditFile), path, &stored);
    const auto beside = [&](std::string& file) {
        if (!file.empty() && std::filesystem::path(file).is_relative())
            file = (folder / file).lexically_normal().string();
    };
    for (auto& [name, input] : list.inputs) beside(input.file), beside(input.image);
    for (auto& edit : list.edits) beside(edit.relation);
    return list;
}

std::string editsToJson(const EditList& list) {
    return textOf(list, {});
}

void writeEdits(const EditList& list, const std::string& path) {
    const auto values = needFile(list) ? valuesFileOf(path) : std::string();
    const auto text = textOf(list, std::filesystem::path(values).filename().string());
    if (text.size() > kLargestEditFile)
        throw FileError(path,
                        "would exceed 1 MiB, the most that a file of edits may have; save fewer "
                        "edits");
    // First the numbers: a file never names values that are not there.
    if (!values.empty()) writeValues(list, values);
    writeTextFile(path, text);
}

}  // namespace core
}  // namespace relascope
