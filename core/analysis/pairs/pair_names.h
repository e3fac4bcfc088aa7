// SPDX-License-Identifier: GPL-3.0-or-later
// Names of attributes of pairs that other names are made of.
#pragma once

#include <string>

namespace relascope::core {

/// Names of the attributes of pairs one or both of whose places are empty.
inline constexpr const char *kOneEmpty = "one empty", *kBothEmpty = "both empty";

/// The name of whether an ordered attribute is large: "large distance in A", "many facts that
/// agree".
inline std::string largeName(const std::string& ordered) {
    return (ordered.starts_with("facts") ? "many " : "large ") + ordered;
}
/// The opposite of such a name, "small distance in A"; empty for other names.
inline std::string oppositeName(const std::string& name) {
    if (name.starts_with("many ")) return "few " + name.substr(5);
    return name.starts_with("large ") ? "small " + name.substr(6) : std::string();
}

}  // namespace relascope::core
