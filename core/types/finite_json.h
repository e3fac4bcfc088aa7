// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers in JSON, which has no NaN and no infinity.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace relascope {

/// A number as JSON; null if it is not finite.
inline nlohmann::ordered_json finiteJson(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace relascope
