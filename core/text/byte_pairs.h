// SPDX-License-Identifier: GPL-3.0-or-later
// The merges of a byte-pair encoding (Sennrich et al., "Neural Machine Translation of Rare Words
// with Subword Units", 2016): which two neighbours become one symbol, and which first.
#pragma once

#include <cstdint>
#include <vector>

namespace relascope::core {

class BytePairs {
public:
    struct Merge {
        std::int32_t left, right, result;
    };
    /// Reserves space for the given number of merges, which is also the maximum.
    explicit BytePairs(std::size_t merges);

    /// Adds the next merge, with the lowest priority so far; false if the pair already has a merge.
    bool add(Merge merge);
    const std::vector<Merge>& merges() const { return m_merges; }

    /// Merges the pair of lowest rank, the leftmost of equals, until no pair can be merged.
    /// Quadratic for words, n log n for runs.
    void apply(std::vector<std::int32_t>& symbols) const;

private:
    static constexpr std::int32_t kNone = 0x7fffffff;
    struct Slot {
        std::uint64_t pair;
        std::int32_t rank, result;
    };
    const Slot& slot(std::int32_t left, std::int32_t right) const;
    void applyToWord(std::vector<std::int32_t>& symbols) const;
    void applyToRun(std::vector<std::int32_t>& symbols) const;

    std::vector<Merge> m_merges;
    std::vector<Slot> m_slots;  // open addressing, at most half full
    int m_shift;
};

}  // namespace relascope::core
