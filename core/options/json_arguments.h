// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a JSON object key by key and rejects keys that were not read, by name.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "types/error.h"

namespace relascope::core {

class JsonArguments {
public:
    using Json = nlohmann::ordered_json;

    /// null counts as an empty object. `where` leads the names in messages: "arguments".
    JsonArguments(const Json& object, std::string where)
        : m_object(object), m_where(std::move(where)) {
        if (!object.is_object() && !object.is_null())
            throw OptionError(m_where, "is not a JSON object");
    }

    /// Whether the key exists with a value; it then counts as read.
    bool has(const char* name) { return take(name) != nullptr; }
    /// Throws if one of the keys is missing.
    void require(std::initializer_list<const char*> names) const {
        for (const char* name : names)
            if (!m_object.is_object() || !m_object.contains(name))
                throw OptionError(key(name), "is missing");
    }

    // Each read() leaves `out` as it is when the key is absent or null.
    void read(const char* name, std::int64_t& out, std::int64_t least = 0) {
        constexpr std::int64_t most = 1'000'000'000;
        const auto* json = take(name);
        if (!json) return;
        const bool fits = json->is_number_unsigned()
                              ? json->get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                              : json->is_number_integer() && json->get<std::int64_t>() >= least;
        if (!fits)
            refuse(name, *json,
                   "an integer from " + std::to_string(least) + " to " + std::to_string(most));
        out = json->get<std::int64_t>();
    }
    void read(const char* name, double& out) {
        if (const auto* json = take(name)) {
            if (!json->is_number()) refuse(name, *json, "a number");
            out = json->get<double>();
        }
    }
    void read(const char* name, bool& out) {
        if (const auto* json = take(name)) {
            if (!json->is_boolean()) refuse(name, *json, "true or false");
            out = json->get<bool>();
        }
    }
    void read(const char* name, std::string& out) {
        if (const auto* json = take(name)) {
            if (!json->is_string()) refuse(name, *json, "a string");
            out = json->get<std::string>();
        }
    }
    /// A list of whole numbers; `count` 0 takes any length up to 1024.
    void read(const char* name, std::vector<std::int64_t>& out, std::size_t count) {
        const auto* json = take(name);
        if (!json) return;
        const auto wrong = [&] {
            refuse(name, *json, (count ? std::to_string(count) + " " : "") + "integers");
        };
        if (!json->is_array() || (count ? json->size() != count : json->size() > 1024)) wrong();
        std::vector<std::int64_t> list;
        for (const auto& item : *json) {
            if (!item.is_number_unsigned() || item.get<std::uint64_t>() > 1'000'000'000) wrong();
            list.push_back(item.get<std::int64_t>());
        }
        out = std::move(list);
    }
    /// A key that is supported with its neutral value only; any other value is an error.
    void neutral(const char* name, const Json& value) {
        const auto* json = take(name);
        const bool empty = json && json->is_object() && json->empty() && value.is_null();
        if (json && *json != value && !empty)
            throw OptionError(key(name), "is " + shown(*json) + ", which is not supported");
    }
    JsonArguments sub(const char* name) {
        const auto* json = take(name);
        return {json ? *json : Json(nullptr), key(name)};
    }
    /// Throws for a key that was not read.
    void done() const {
        if (!m_object.is_object()) return;
        for (const auto& [name, value] : m_object.items())
            if (std::find(m_taken.begin(), m_taken.end(), name) == m_taken.end())
                throw OptionError(key(name), "is not an option of this model");
    }
    std::string key(const std::string& name) const {
        return m_where.empty() ? name : m_where + "." + name;
    }

private:
    static std::string shown(const Json& json) { return json.dump().substr(0, 60); }
    const Json* take(const char* name) {
        m_taken.emplace_back(name);
        if (!m_object.is_object()) return nullptr;
        const auto found = m_object.find(name);
        return found == m_object.end() || found->is_null() ? nullptr : &*found;
    }
    [[noreturn]] void refuse(const char* name, const Json& json, const std::string& what) const {
        throw OptionError(key(name), "needs " + what + ", not " + shown(json));
    }

    Json m_object;
    std::string m_where;
    std::vector<std::string> m_taken;
};

}  // namespace relascope::core
