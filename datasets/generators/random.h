// A small counter-started generator: the same everywhere, so that a seed names an image for good.
#pragma once

#include <cstdint>

namespace relascope {

/// splitmix64 (Steele, Lea, Flood 2014): 64 random bits a call from a 64-bit state.
class SplitMix {
public:
    SplitMix(std::uint64_t seed, std::uint64_t stream)
        : m_state(mix(seed) ^ mix(stream ^ 0x9e3779b97f4a7c15ULL)) {}

    std::uint64_t next() { return mix(m_state += 0x9e3779b97f4a7c15ULL); }
    /// Uniform in 0 .. n - 1 (multiply-shift; the bias of n / 2^64 is nothing here).
    int below(int n) {
        return static_cast<int>(
            (static_cast<unsigned __int128>(next()) * static_cast<unsigned>(n)) >> 64);
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    std::uint64_t m_state;
};

}  // namespace relascope
