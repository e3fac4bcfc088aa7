// SPDX-License-Identifier: GPL-3.0-or-later
// SHA-256 (FIPS 180-4): identifies contents where a checksum could collide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace relascope::core {

class Sha256 {
public:
    void add(const void* data, std::size_t bytes);
    void add(std::string_view text) { add(text.data(), text.size()); }
    /// Adds a text preceded by its length, so that adjacent texts cannot be confused.
    void addField(std::string_view text);
    /// The digest of everything added, as 64 hexadecimal digits. Nothing may be added afterwards.
    std::string hex();

private:
    void block(const std::uint8_t* bytes);

    std::array<std::uint32_t, 8> m_state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> m_held{};
    std::uint64_t m_bytes = 0;
};

inline std::string sha256Of(std::string_view text) {
    Sha256 hash;
    hash.add(text);
    return hash.hex();
}

}  // namespace relascope::core
