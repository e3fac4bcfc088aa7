// SPDX-License-Identifier: GPL-3.0-or-later
// The counter-based generator of dropout masks.
#pragma once

#include <cstdint>

namespace relascope::core {

/// A bijective 32-bit mixing of a counter (two rounds of multiply and xor-shift, the constants of
/// the "lowbias32" search): plain integer code, also for a vector of counters. Static, as files
/// that are compiled for different processors must not share it.
template <class Word>
static inline __attribute__((always_inline)) Word mixedCounter(Word x) {
    x ^= x >> 16;
    x *= 0x21f0aaadU;
    x ^= x >> 15;
    x *= 0xd35a2d97U;
    x ^= x >> 15;
    return x;
}

}  // namespace relascope::core
