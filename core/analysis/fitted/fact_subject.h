// SPDX-License-Identifier: GPL-3.0-or-later
// The pairs that a relation is fitted to, from data: objects in masks, attributes of pairs, or a
// file; their split; and the same facts exchanged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/fitted/fact_pairs.h"
#include "analysis/fitted/fitted.h"
#include "analysis/pairs/pair_objects.h"
#include "data/dataset.h"
#include "types/model_options.h"

namespace relascope::core {

/// What the masks of examples say of patches.
struct MaskedPatches {
    std::vector<ObjectMask> masks;       ///< mask of each example, without pixels
    std::vector<std::uint16_t> numbers;  ///< [examples, patches]: the object; 0: none
    bool groups = false;
};

class FactSubject {
public:
    /// Throws OptionError("fact", ...) for a fact that the data do not have, that differs by order
    /// with a form that does not, or that has one answer alone to test; OptionError("data", ...)
    /// where no example shows two objects; FileError.
    FactSubject(const ModelOptions& model, DatasetPtr data, const FittedOptions& options);

    const FactPairs& pairs() const { return m_pairs; }
    const PairObjects& objects() const { return m_objects; }
    const Dataset& data() const { return *m_data; }
    const DatasetPtr& dataPtr() const { return m_data; }
    /// Null for data without masks.
    const MaskedPatches* masked() const { return m_masked.get(); }
    std::size_t leftOut() const { return m_leftOut; }
    /// The same pairs with the facts of other examples, drawn by `seed`; those that take part and
    /// the split stay.
    FactPairs exchanged(std::uint64_t seed) const;
    /// The fact that is asked; of an empty one the first that the data have.
    const std::string& fact() const { return m_options.fact; }

private:
    void readMasks(const ImageDataset& images, const ModelOptions& model);
    void readAttributes(const ModelOptions& model);
    void splitExamples();
    void check() const;
    /// The truth of all pairs of an example, of objects with these numbers and facts.
    void readTruth(std::size_t example, const std::vector<std::uint16_t>& numbers,
                   const std::vector<ObjectMask::Object>& objects,
                   std::vector<std::uint8_t>& truth) const;

    DatasetPtr m_data;
    FittedOptions m_options;
    PairObjects m_objects;
    FactPairs m_pairs;
    std::unique_ptr<MaskedPatches> m_masked;
    std::vector<std::int32_t> m_occupied;  // group of each example, to exchange attributes within
    std::vector<std::string> m_known;
    std::size_t m_fact = 0;  // index of the fact in maskFactNames(), for masks
    std::size_t m_leftOut = 0;
};

}  // namespace relascope::core
