// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/tensor_numbers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>

namespace relascope::core {
namespace {

// A small float: sign, `exponent` bits, `mantissa` bits. IEEE: the highest exponent holds infinity
// and NaN. "FN": no infinity, NaN where all bits are one. "FNUZ": one NaN, at minus zero, and a
// bias one larger (arXiv:2209.05433, arXiv:2206.02915).
enum class Special { Ieee, Fn, Fnuz };

double smallFloat(std::uint32_t bits, int exponentBits, int mantissaBits, Special special) {
    const std::uint32_t sign = bits >> (exponentBits + mantissaBits) & 1,
                        exponent = bits >> mantissaBits & ((1u << exponentBits) - 1),
                        mantissa = bits & ((1u << mantissaBits) - 1),
                        highest = (1u << exponentBits) - 1, all = (1u << mantissaBits) - 1;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (special == Special::Fnuz && sign && exponent == 0 && mantissa == 0) return nan;
    if (special == Special::Fn && exponent == highest && mantissa == all) return nan;
    if (special == Special::Ieee && exponent == highest)
        return mantissa ? nan : sign ? -INFINITY : INFINITY;
    const int bias = (1 << (exponentBits - 1)) - (special == Special::Fnuz ? 0 : 1);
    const double value = exponent == 0
                             ? std::ldexp(mantissa, 1 - bias - mantissaBits)
                             : std::ldexp((1u << mantissaBits) + mantissa,
                                          static_cast<int>(exponent) - bias - mantissaBits);
    return sign ? -value : value;
}

template <typename T, typename Convert>
void decode(std::span<const std::uint8_t> bytes, std::span<double> out, Convert convert) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        T value;
        std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
        out[i] = convert(value);
    }
}
template <typename T>
void plain(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<T>(bytes, out, [](T value) { return static_cast<double>(value); });
}
template <int exponent, int mantissa, Special special>
void eight(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint8_t>(bytes, out,
                         [](auto bits) { return smallFloat(bits, exponent, mantissa, special); });
}
void half(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint16_t>(bytes, out,
                          [](auto bits) { return smallFloat(bits, 5, 10, Special::Ieee); });
}
void brain(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint16_t>(bytes, out, [](std::uint32_t bits) {
        return static_cast<double>(std::bit_cast<float>(bits << 16));
    });
}
void powerOfTwo(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint8_t>(bytes, out, [](int bits) {
        return bits == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
    });
}
void truth(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint8_t>(bytes, out, [](auto bits) { return bits ? 1.0 : 0.0; });
}

using Decoder = void (*)(std::span<const std::uint8_t>, std::span<double>);

const std::map<std::string_view, Decoder>& decoders() {
    static const std::map<std::string_view, Decoder> table = {
        {"F64", plain<double>},
        {"F32", plain<float>},
        {"F16", half},
        {"BF16", brain},
        {"I64", plain<std::int64_t>},
        {"U64", plain<std::uint64_t>},
        {"I32", plain<std::int32_t>},
        {"U32", plain<std::uint32_t>},
        {"I16", plain<std::int16_t>},
        {"U16", plain<std::uint16_t>},
        {"I8", plain<std::int8_t>},
        {"U8", plain<std::uint8_t>},
        {"BOOL", truth},
        {"F8_E4M3", eight<4, 3, Special::Fn>},
        {"F8_E5M2", eight<5, 2, Special::Ieee>},
        {"F8_E4M3FNUZ", eight<4, 3, Special::Fnuz>},
        {"F8_E5M2FNUZ", eight<5, 2, Special::Fnuz>},
        {"F8_E8M0", powerOfTwo}};
    return table;
}

}  // namespace

bool hasNumbers(std::string_view dtype) {
    return decoders().count(dtype) > 0;
}

void decodeNumbers(std::string_view dtype, std::span<const std::uint8_t> bytes,
                   std::span<double> out) {
    decoders().at(dtype)(bytes, out);
}

}  // namespace relascope::core
