// SPDX-License-Identifier: GPL-3.0-or-later
// A pickled configuration as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "checkpoint/pickle.h"

namespace relascope::core {

/// Dictionaries with text as keys, lists, tuples, text, numbers (numpy's scalars too), booleans and
/// None. Entries of a dictionary that are anything else are left out; nothing when `value` itself
/// is. Throws FileError for values within themselves, more than 64 levels, or more than 100,000
/// values or 16 MiB of text, each counted wherever it stands.
std::optional<nlohmann::json> plainJson(const Pickle& pickle, const PickleValue& value,
                                        const std::string& path);

}  // namespace relascope::core
