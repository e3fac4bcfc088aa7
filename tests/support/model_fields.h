// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of a model by name, for tests that go through architectures.
#pragma once

#include <string>

#include "model/architecture.h"
#include "support/rooms.h"
#include "types/model_options.h"

namespace relascope {

/// Sets the field where the architecture has it.
inline void put(ModelOptions& model, const std::string& field, const FieldValue& value) {
    if (model.has(field)) model.set(field, value);
}

inline std::string text(const ModelOptions& model, const std::string& field) {
    return std::get<std::string>(model.value(field));
}

}  // namespace relascope
