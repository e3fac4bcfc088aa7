// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/finite.h"

#include <cstring>

namespace relascope::core {
namespace {

// A number is not finite if all bits of its exponent are set. Blocks of a fixed length let the
// compiler vectorise.
template <typename T>
bool finite(std::span<const std::uint8_t> bytes, T exponent) {
    constexpr std::size_t kBlock = 1024;
    T block[kBlock];
    const std::size_t count = bytes.size() / sizeof(T);
    for (std::size_t at = 0; at < count; at += kBlock) {
        const std::size_t length = count - at < kBlock ? count - at : kBlock;
        if (length < kBlock) std::memset(block, 0, sizeof(block));
        std::memcpy(block, bytes.data() + at * sizeof(T), length * sizeof(T));
        T found = 0;
        for (std::size_t i = 0; i < kBlock; ++i)
            found |= static_cast<T>((block[i] & exponent) == exponent);
        if (found) return false;
    }
    return true;
}

}  // namespace

bool allFinite(std::string_view dtype, std::span<const std::uint8_t> bytes) {
    if (dtype == "F32") return finite<std::uint32_t>(bytes, 0x7f800000u);
    if (dtype == "F64") return finite<std::uint64_t>(bytes, 0x7ff0000000000000u);
    if (dtype == "F16") return finite<std::uint16_t>(bytes, 0x7c00u);
    if (dtype == "BF16") return finite<std::uint16_t>(bytes, 0x7f80u);
    return true;
}

}  // namespace relascope::core
