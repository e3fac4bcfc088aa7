// SPDX-License-Identifier: GPL-3.0-or-later
// Options as JSON: run.json and presets.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "types/run_options.h"

namespace relascope::core {

/// The options as {"preset", "variant", "model": {...}, "train": {...}, "data": {...}}, with every
/// field that this architecture has.
std::string runOptionsToJson(const RunOptions& options);
/// The inverse of runOptionsToJson(). Missing fields keep their defaults, fields of other
/// architectures (stored by earlier versions) are left out, unknown or ill-typed ones throw
/// OptionError. Of a run that another program recorded anything is read that it says.
RunOptions runOptionsFromJson(const std::string& text);

/// The value of one field as JSON; and back, with its bounds checked. Throws OptionError(`key`,
/// ...).
nlohmann::ordered_json fieldValueToJson(const FieldValue& value);
FieldValue fieldValueFromJson(const std::string& key, const FieldSpec& spec,
                              const nlohmann::ordered_json& json);

}  // namespace relascope::core
