// SPDX-License-Identifier: GPL-3.0-or-later
// Names of files and columns without regard to case. The locale plays no part.
#pragma once

#include <string>

namespace relascope {

/// Converts ASCII letters to lower case.
inline std::string lowerCase(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

}  // namespace relascope
