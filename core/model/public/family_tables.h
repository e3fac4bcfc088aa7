// SPDX-License-Identifier: GPL-3.0-or-later
// What tables of families are made with. Internal to the tables.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "model/public/family.h"
#include "model/public/public_options.h"

namespace relascope::core::tables {

inline const std::int64_t kNone = 0;

/// Names of parts of a block, as FamilyTensor::parts has them.
std::vector<std::string> parts(std::initializer_list<const char*> names);
std::vector<std::string> queriesKeysValues();
/// Puts a key into a family, in place of its own key for that option if there is one.
void replace(Family& f, const FamilyKey& key);
/// Sets an option that no key changes.
void fix(Family& f, const std::string& option, const FieldValue& value);
/// Sets what the class takes where a file lacks the keys of these options.
void absent(Family& f, std::initializer_list<std::pair<const char*, FieldValue>> values);
/// Puts a tensor in the place of another.
void keep(Family& f, const std::string& stored, const FamilyTensor& instead);
/// Takes out the tensors whose names begin so.
void drop(Family& f, const std::string& beginning);

/// The table that most others differ from by a few options.
Family llama();

}  // namespace relascope::core::tables
