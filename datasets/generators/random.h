// SPDX-License-Identifier: GPL-3.0-or-later
// A small random generator that is the same on all platforms, so that a seed always gives the same
// example.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

namespace relascope::datasets {

/// splitmix64 (Steele, Lea, Flood 2014): 64 random bits a call from a 64-bit state.
class SplitMix {
public:
    SplitMix(std::uint64_t seed, std::uint64_t stream)
        : m_state(mix(seed) ^ mix(stream ^ 0x9e3779b97f4a7c15ULL)) {}

    std::uint64_t next() { return mix(m_state += 0x9e3779b97f4a7c15ULL); }
    /// Uniform in 0 .. n - 1 (multiply-shift; the bias of n / 2^64 is negligible).
    int below(int n) { return static_cast<int>(below64(static_cast<std::uint64_t>(n))); }
    std::uint64_t below64(std::uint64_t n) {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
    }
    /// Uniform in low .. high, both of them possible.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below64(static_cast<std::uint64_t>(high - low) + 1));
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    /// Normal with mean 0 and variance 1 (Box and Muller 1958); takes two numbers a call.
    double gaussian() {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
        return radius * std::cos(2.0 * std::numbers::pi * uniform());
    }
    /// Shuffles a vector or an array (Fisher and Yates).
    template <class Items>
    void shuffle(Items& items) {
        for (std::size_t i = items.size(); i > 1; --i)
            std::swap(items[i - 1], items[static_cast<std::size_t>(below64(i))]);
    }

private:
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    std::uint64_t m_state;
};

// A permutation of any size without a table: single positions are computed on demand.

/// A permutation of 0 .. size - 1 that (seed, stream) names: a Feistel network over the next even
/// number of bits, followed until it lands below `size` (cycle walking; Black and Rogaway 2002).
/// size is 1 .. 2^62.
class Permutation {
public:
    Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t stream)
        : m_size(size), m_half((std::bit_width(size - 1) + 1) / 2) {
        if (m_half == 0) m_half = 1;
        SplitMix random(seed, stream);
        for (auto& key : m_keys) key = random.next();
    }

    std::uint64_t size() const { return m_size; }
    /// Throws std::out_of_range for numbers from size() on, where the cycle walk might never end.
    std::uint64_t operator()(std::uint64_t number) const {
        if (number >= m_size)
            throw std::out_of_range("example " + std::to_string(number) + " of " +
                                    std::to_string(m_size));
        do number = once(number);
        while (number >= m_size);
        return number;
    }

private:
    std::uint64_t once(std::uint64_t number) const {
        const std::uint64_t mask = (std::uint64_t{1} << m_half) - 1;
        std::uint64_t left = number >> m_half, right = number & mask;
        for (const auto key : m_keys) {
            const std::uint64_t mixed = (left ^ SplitMix(key, right).next()) & mask;
            left = right;
            right = mixed;
        }
        return left << m_half | right;
    }

    std::uint64_t m_size;
    int m_half;  // bits of either half
    std::array<std::uint64_t, 6> m_keys;
};

}  // namespace relascope::datasets
