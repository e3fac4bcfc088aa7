// SPDX-License-Identifier: GPL-3.0-or-later
// The card game SET: three cards, do they make one? And two cards, what do they share? (ABS 4.5)
#pragma once

#include <array>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "datasets/generators/card_table.h"
#include "datasets/generators/cards.h"
#include "datasets/generators/permutation.h"

namespace relascope::datasets {

/// Part of the pool of 10,000 triples, of which half are SETs.
struct SetPart {
    std::string name;        ///< "train"
    std::int64_t first = 0;  ///< of the pool
    std::int64_t size = 0;   ///< from there on
    /// Which of the 1080 SETs and of the 84,240 other triples it draws from, in an order of the
    /// seed's; in hundredths. All of them: a triple may occur in other parts, too.
    int from = 0, to = 100;
};

/// Triples of different cards. Half of the pool, in an order of the seed's, are SETs, drawn
/// uniformly; the rest are drawn uniformly from the triples that are none; the cards of each lie in
/// random order. The class is 1 for a SET. Objects are the three cards, as the table has them; or,
/// without a table, their three pairs (1 2, 1 3, 2 3), as four bits: 1 where the attribute (in the
/// order of cards.h) is the same.
class SetTriples : public core::ObjectDataset {
public:
    static constexpr std::int64_t kPool = kTriplePool;

    SetTriples(std::shared_ptr<const core::CardTable> table, std::uint64_t seed, SetPart part);
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override;
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override;
    ProbeSample sample(std::int64_t index) const override;

    std::array<int, 3> cards(std::int64_t index) const;

private:
    std::shared_ptr<const core::CardTable> m_table;
    std::uint64_t m_seed;
    SetPart m_part;
    DatasetInfo m_info;
    Permutation m_order, m_sets, m_others;
};

/// All ordered pairs of different cards in an order of the seed's, each once: numbers `first` on.
/// The answer is four bits, in the order of cards.h: 1 where the attribute is the same.
class CardPairs : public core::ObjectDataset {
public:
    static constexpr std::int64_t kPool = kCardPairs;

    CardPairs(std::shared_ptr<const core::CardTable> table, std::uint64_t seed, SetPart part);
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override;
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override;
    ProbeSample sample(std::int64_t index) const override;

    std::array<int, 2> cards(std::int64_t index) const;

private:
    std::shared_ptr<const core::CardTable> m_table;
    SetPart m_part;
    DatasetInfo m_info;
    Permutation m_order;
};

}  // namespace relascope::datasets
