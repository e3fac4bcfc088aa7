// SPDX-License-Identifier: GPL-3.0-or-later
// Values of JSON objects that may be absent or damaged. Private to core/run.
#pragma once

#include <nlohmann/json.hpp>

#include "types/finite_json.h"

namespace relascope::core {

using Json = nlohmann::ordered_json;

/// The value of a key; `otherwise` if it is absent, null or of another type.
template <class T>
T get(const Json& json, const char* key, T otherwise) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return otherwise;
    try {
        return found->template get<T>();
    } catch (const nlohmann::json::exception&) {
        return otherwise;
    }
}

}  // namespace relascope::core
