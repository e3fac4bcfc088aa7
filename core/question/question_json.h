// SPDX-License-Identifier: GPL-3.0-or-later
// Questions as flat JSON objects, as programs give them that know a command's options by its
// schema: {"path": ..., "sample": 3}. Does not include torch.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "types/field.h"
#include "types/question.h"

namespace relascope::core {

/// The JSON Schema of the value of a field.
nlohmann::ordered_json schemaOf(const FieldSpec& spec);
/// What questionOf() takes, as a JSON Schema (draft 2020-12) of an object.
nlohmann::ordered_json schemaOf(const std::string& command);
/// What a question says, as an object.
nlohmann::ordered_json jsonOf(const Question& question);
/// The question that such an object asks. Throws OptionError that names the member.
Question questionOf(const std::string& command, const nlohmann::ordered_json& members);

}  // namespace relascope::core
