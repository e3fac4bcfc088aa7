// Whether bytes are text, and how to show those that may not be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace relascope {

/// True for well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
inline bool isUtf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<std::uint8_t>(text[i++]);
        if (lead < 0x80) continue;
        const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
        if (lead < 0xc2 || lead > 0xf4 || text.size() - i < static_cast<std::size_t>(more))
            return false;
        std::uint32_t point = lead & (0x3f >> more);
        for (int k = 0; k < more; ++k, ++i) {
            const auto next = static_cast<std::uint8_t>(text[i]);
            if ((next & 0xc0) != 0x80) return false;
            point = point << 6 | (next & 0x3f);
        }
        if ((more == 2 && point < 0x800) || (more == 3 && (point < 0x10000 || point > 0x10ffff)) ||
            (point >= 0xd800 && point < 0xe000))
            return false;
    }
    return true;
}

/// A name from a file for a message: at most 200 bytes, ASCII without control characters.
inline std::string printable(std::string_view text) {
    std::string shown(text.substr(0, 200));
    for (auto& c : shown)
        if (c < 32 || c > 126) c = '?';
    return shown;
}

}  // namespace relascope
