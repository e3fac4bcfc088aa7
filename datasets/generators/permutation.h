// SPDX-License-Identifier: GPL-3.0-or-later
// A permutation of any size without a table: single positions are computed on demand.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "datasets/generators/random.h"

namespace relascope::datasets {

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
