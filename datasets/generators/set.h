// SPDX-License-Identifier: GPL-3.0-or-later
// The card game SET: whether three cards are a SET, and which attributes two cards share (ABS 4.5)
#pragma once

#include <array>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "datasets/generators/cards.h"
#include "datasets/generators/random.h"

namespace relascope::datasets {

/// A split of the pool of 10,000 triples, half of which are SETs.
struct SetSplit {
    std::string name;        ///< "train"
    std::int64_t first = 0;  ///< first triple in the pool
    std::int64_t size = 0;   ///< how many from there on
    /// The range, in hundredths, of the 1080 SETs and of the 84,240 other triples that the split
    /// draws from, in a random order that depends on the seed. 0 to 100: a triple may also occur in
    /// other splits.
    int from = 0, to = 100;
};

/// Triples of different cards. Half of the pool, in a random order that depends on the seed, are
/// SETs, drawn uniformly; the others are drawn uniformly from the other triples. The cards of each
/// are in random order. The class is 1 for a SET. Objects are the vectors of the three cards from
/// the table or, without a table, their three pairs (1 2, 1 3, 2 3), as four bits: 1 where the
/// attribute (in the order of cards.h) is the same.
class SetTriples : public core::ObjectDataset {
public:
    static constexpr std::int64_t kPool = kTriplePool;

    SetTriples(std::shared_ptr<const core::CardTable> table, std::uint64_t seed, SetSplit split);
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override;
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override;
    ProbeSample sample(std::int64_t index) const override;
    const ObjectFacts* objectFacts() const override;  ///< none without a table
    void readFacts(std::int64_t index, std::span<std::int32_t> facts) const override;

    std::array<int, 3> cards(std::int64_t index) const;

private:
    std::shared_ptr<const core::CardTable> m_table;
    std::uint64_t m_seed;
    SetSplit m_split;
    DatasetInfo m_info;
    Permutation m_order, m_sets, m_others;
};

/// All ordered pairs of different cards in a random order that depends on the seed, from number
/// `first` on. The answer is four bits, in the order of cards.h: 1 where the attribute is the same.
class CardPairs : public core::ObjectDataset {
public:
    static constexpr std::int64_t kPool = kCardPairs;

    CardPairs(std::shared_ptr<const core::CardTable> table, std::uint64_t seed, SetSplit split);
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override;
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override;
    ProbeSample sample(std::int64_t index) const override;
    const ObjectFacts* objectFacts() const override;
    void readFacts(std::int64_t index, std::span<std::int32_t> facts) const override;

    std::array<int, 2> cards(std::int64_t index) const;

private:
    std::shared_ptr<const core::CardTable> m_table;
    SetSplit m_split;
    DatasetInfo m_info;
    Permutation m_order;
};

}  // namespace relascope::datasets
