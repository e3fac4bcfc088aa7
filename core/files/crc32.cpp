// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/crc32.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace relascope::core {
namespace {

std::uint32_t byTable(std::uint32_t crc, const std::uint8_t* bytes, std::size_t size) {
    return static_cast<std::uint32_t>(::crc32_z(crc, bytes, size));
}

#if defined(__x86_64__)
// Folding by carry-less multiplication (V. Gopal et al., "Fast CRC Computation for Generic
// Polynomials Using PCLMULQDQ Instruction", Intel 2009). A polynomial over 128 bits is moved ahead
// by multiplying its halves with powers of x modulo the CRC's polynomial; both in reflected order.
__attribute__((target("pclmul,sse2"))) inline __m128i moved(__m128i value, __m128i powers) {
    return _mm_xor_si128(_mm_clmulepi64_si128(value, powers, 0x00),
                         _mm_clmulepi64_si128(value, powers, 0x11));
}

// Reduces whole blocks of 64 bytes, one at least, to the 16 bytes with the same remainder.
__attribute__((target("pclmul,sse2"))) void fold(std::uint32_t crc, const std::uint8_t* bytes,
                                                 std::size_t blocks, std::uint8_t* out) {
    const __m128i by512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4),
                  by128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    const auto* at = reinterpret_cast<const __m128i*>(bytes);
    __m128i lane[4];
    for (int i = 0; i < 4; ++i) lane[i] = _mm_loadu_si128(at++);
    lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi32_si128(static_cast<int>(~crc)));
    for (std::size_t block = 1; block < blocks; ++block)
        for (int i = 0; i < 4; ++i)
            lane[i] = _mm_xor_si128(moved(lane[i], by512), _mm_loadu_si128(at++));
    for (int i = 1; i < 4; ++i) lane[i] = _mm_xor_si128(moved(lane[i - 1], by128), lane[i]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), lane[3]);
}
#endif

}  // namespace

std::uint32_t crc32Of(std::uint32_t crc, const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
#if defined(__x86_64__)
    static const bool folds = __builtin_cpu_supports("pclmul");
    if (folds && size >= 128) {
        std::uint8_t rest[16];
        fold(crc, bytes, size / 64, rest);
        // The register starts at zero: the initial value, all ones in zlib, is already part of the
        // bytes.
        crc = byTable(0xffffffff, rest, sizeof(rest));
        bytes += size / 64 * 64;
        size %= 64;
    }
#endif
    return byTable(crc, bytes, size);
}

}  // namespace relascope::core
