// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/byte_pairs.h"

#include <algorithm>
#include <bit>
#include <queue>

namespace relascope::core {
namespace {

constexpr std::size_t kLongestWord = 100;
constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

std::uint64_t pairOf(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
           static_cast<std::uint32_t>(right);
}

}  // namespace

BytePairs::BytePairs(std::size_t merges) {
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(16, 2 * merges + 2));
    m_shift = 64 - std::countr_zero(size);
    m_slots.assign(size, {kEmpty, kNone, 0});
    m_merges.reserve(merges);
}

const BytePairs::Slot& BytePairs::slot(std::int32_t left, std::int32_t right) const {
    const std::uint64_t pair = pairOf(left, right);
    // Fibonacci hashing: the high bits of the product depend on every bit of the pair.
    std::size_t at =
        static_cast<std::size_t>((pair ^ pair >> 29) * 0x9e3779b97f4a7c15ULL >> m_shift);
    while (m_slots[at].pair != pair && m_slots[at].pair != kEmpty)
        at = (at + 1) & (m_slots.size() - 1);
    return m_slots[at];
}

bool BytePairs::add(Merge merge) {
    auto& place = const_cast<Slot&>(slot(merge.left, merge.right));
    if (place.pair != kEmpty) return false;
    place = {pairOf(merge.left, merge.right), static_cast<std::int32_t>(m_merges.size()),
             merge.result};
    m_merges.push_back(merge);
    return true;
}

void BytePairs::apply(std::vector<std::int32_t>& symbols) const {
    if (symbols.size() < 2) return;
    symbols.size() <= kLongestWord ? applyToWord(symbols) : applyToRun(symbols);
}

void BytePairs::applyToWord(std::vector<std::int32_t>& symbols) const {
    std::int32_t ranks[kLongestWord], results[kLongestWord];  // of symbol i with i + 1
    std::size_t count = symbols.size();
    const auto lookUp = [&](std::size_t i) {
        const auto& found = slot(symbols[i], symbols[i + 1]);
        ranks[i] = found.rank, results[i] = found.result;
    };
    for (std::size_t i = 0; i + 1 < count; ++i) lookUp(i);
    while (count > 1) {
        const auto at =
            static_cast<std::size_t>(std::min_element(ranks, ranks + count - 1) - ranks);
        if (ranks[at] == kNone) break;
        symbols[at] = results[at];
        --count;
        for (std::size_t i = at + 1; i < count; ++i) {
            symbols[i] = symbols[i + 1];
            if (i + 1 < count) ranks[i] = ranks[i + 1], results[i] = results[i + 1];
        }
        if (at + 1 < count) lookUp(at);
        if (at > 0) lookUp(at - 1);
    }
    symbols.resize(count);
}

void BytePairs::applyToRun(std::vector<std::int32_t>& symbols) const {
    // A linked list of symbols, and a heap of candidate pairs that may be outdated.
    struct Candidate {
        std::int32_t rank;
        std::size_t at;
        bool operator>(const Candidate& o) const {
            return rank != o.rank ? rank > o.rank : at > o.at;
        }
    };
    const std::size_t count = symbols.size();
    std::vector<std::size_t> next(count), previous(count);
    std::vector<Candidate> first;
    first.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        next[i] = i + 1, previous[i] = i - 1;
        if (i + 1 == count) break;
        const auto rank = slot(symbols[i], symbols[i + 1]).rank;
        if (rank != kNone) first.push_back({rank, i});
    }
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap(std::greater<>{},
                                                                                std::move(first));
    constexpr std::int32_t gone = -1;
    while (!heap.empty()) {
        const auto [rank, at] = heap.top();
        heap.pop();
        if (symbols[at] == gone || next[at] >= count) continue;
        const auto right = next[at];
        const auto& merge = slot(symbols[at], symbols[right]);
        if (merge.rank != rank) continue;
        symbols[at] = merge.result;
        symbols[right] = gone;
        next[at] = next[right];
        if (next[at] < count) previous[next[at]] = at;
        const auto offer = [&](std::size_t i) {
            const auto found = slot(symbols[i], symbols[next[i]]).rank;
            if (found != kNone) heap.push({found, i});
        };
        if (next[at] < count) offer(at);
        if (at > 0) offer(previous[at]);
    }
    std::erase(symbols, gone);
}

}  // namespace relascope::core
