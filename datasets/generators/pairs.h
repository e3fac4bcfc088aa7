// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs of ordered objects; the task is to predict their order (ABS 4.1).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "datasets/generators/random.h"
#include "datasets/generators/sorting.h"

namespace relascope::datasets {

/// Objects in their order, [count, width] row-major.
struct OrderedObjects {
    std::int64_t count = 0, width = 0;
    std::vector<float> vectors;
    bool sorting = false;  ///< these are SortingObjects, which have names and pictures
};

/// `count` objects ~ N(0, I_width), in the order in which they are drawn. Throws OptionError for
/// more than 100 million numbers.
OrderedObjects randomObjects(std::int64_t count, std::int64_t width, std::uint64_t seed);
/// The 48 objects of the sorting task with that seed, in its order.
OrderedObjects sortingObjects(std::uint64_t seed);

/// All ordered pairs i != j of the objects in a random order that depends on the seed, from number
/// `first` on. The class is 1 when the first object comes before the second.
class Pairs : public core::ObjectDataset {
public:
    Pairs(std::shared_ptr<const OrderedObjects> objects, std::uint64_t seed, std::int64_t first,
          std::int64_t size, const std::string& split);
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override { return {2, m_objects->width, 1}; }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override;
    ProbeSample sample(std::int64_t index) const override;
    /// The ranks of the objects; for sorting objects also the ranks of A and of B.
    const ObjectFacts* objectFacts() const override { return &m_facts; }
    void readFacts(std::int64_t index, std::span<std::int32_t> facts) const override;

    /// The two objects, by their positions in the order.
    std::pair<std::int64_t, std::int64_t> pair(std::int64_t index) const;

private:
    std::shared_ptr<const OrderedObjects> m_objects;
    std::int64_t m_first;
    std::string m_split;
    DatasetInfo m_info;
    ObjectFacts m_facts;
    Permutation m_order;
};

}  // namespace relascope::datasets
