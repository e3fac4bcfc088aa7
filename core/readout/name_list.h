// SPDX-License-Identifier: GPL-3.0-or-later
// Names of classes in files beside features: a JSON list, or a text with a name a line. Does not
// include torch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relascope::core {

/// The names of a JSON list of texts. Throws FileError(path) naming `field` for anything else, for
/// a name that is empty, not UTF-8 or there twice, and for more than 100,000.
std::vector<std::string> namesOfJson(std::string_view json, const std::string& field,
                                     const std::string& path);
std::string jsonOfNames(const std::vector<std::string>& names);

/// The names of a text, without blank lines, blanks around names and a byte order mark. Throws
/// FileError(path) with the line, as namesOfJson(), and for a text without a name.
std::vector<std::string> namesOfLines(std::string_view text, const std::string& path);

}  // namespace relascope::core
