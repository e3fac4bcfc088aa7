// SPDX-License-Identifier: GPL-3.0-or-later
// Base64 as of RFC 4648, section 4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace relascope::core {

/// The bytes of a text in base64, with or without padding; nothing for any other character.
inline std::optional<std::string> fromBase64(std::string_view text) {
    while (text.ends_with('=')) text.remove_suffix(1);
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 3);
    std::uint32_t held = 0;
    int bits = 0;
    for (const char c : text) {
        const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                          : c >= 'a' && c <= 'z' ? c - 'a' + 26
                          : c >= '0' && c <= '9' ? c - '0' + 52
                          : c == '+'             ? 62
                          : c == '/'             ? 63
                                                 : -1;
        if (value < 0) return std::nullopt;
        held = held << 6 | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits >= 8) bits -= 8, bytes += static_cast<char>(held >> bits);
    }
    return bytes;
}

/// Bytes in base64, with padding.
inline std::string toBase64(std::string_view bytes) {
    static constexpr char kDigits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto byte = [&](std::size_t k) -> std::uint32_t {
            return at + k < bytes.size() ? static_cast<unsigned char>(bytes[at + k]) : 0;
        };
        const auto three = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (int k = 0; k < 4; ++k)
            text += at + static_cast<std::size_t>(k) > bytes.size()
                        ? '='
                        : kDigits[three >> (18 - 6 * k) & 63U];
    }
    return text;
}

}  // namespace relascope::core
