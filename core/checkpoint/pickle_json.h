// SPDX-License-Identifier: GPL-3.0-or-later
// A pickled configuration as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "checkpoint/pickle.h"

namespace relascope::core {

/// Dictionaries with text as keys, lists, tuples, text, numbers (numpy's scalars too), booleans and
/// None. Other entries of a dictionary are left out; returns nothing if `value` itself is something
/// else. Throws FileError for values that contain themselves, more than 64 levels, or more than
/// 100,000 values or 16 MiB of text; shared values count at each of their places.
std::optional<nlohmann::json> plainJson(const Pickle& pickle, const PickleValue& value,
                                        const std::string& path);

}  // namespace relascope::core
