// SPDX-License-Identifier: GPL-3.0-or-later
// Checks bytes for valid UTF-8 and makes other bytes displayable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "types/text_piece.h"

namespace relascope::core {

/// A name from a file for a message: at most 200 bytes, ASCII without control characters.
inline std::string printable(std::string_view text) {
    std::string shown(text.substr(0, 200));
    for (auto& c : shown)
        if (c < 32 || c > 126) c = '?';
    return shown;
}

}  // namespace relascope::core
