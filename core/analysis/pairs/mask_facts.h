// SPDX-License-Identifier: GPL-3.0-or-later
// Facts of pairs of patches that masks of the objects tell (interventions.md section 18). Does not
// include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/pairs/pair_objects.h"
#include "data/dataset.h"
#include "types/model_options.h"
#include "types/object_facts.h"

namespace relascope::core {

/// The object of each patch of a grid: that which more than half of its pixels have, as its number;
/// 0 where none has. [rows columns]
std::vector<std::uint16_t> objectsOfPatches(const ObjectMask& mask, std::size_t rows,
                                            std::size_t columns);

/// "same object", with facts of objects "same kind" (all of them), and for each fact F "same F".
std::vector<std::string> maskFactNames(const MaskFacts& about);
/// The names of the mask facts of data; empty for data without masks.
std::vector<std::string> maskFactNames(const Dataset& data);

/// Writes the truth [n, n] (PairTruth) of fact `fact` of maskFactNames() for the patches of an
/// example that lie on these objects. Throws OptionError("data", ...) for a number without an
/// object, naming the example.
void maskTruth(std::size_t fact, std::int64_t example, const std::vector<std::uint16_t>& numbers,
               const std::vector<ObjectMask::Object>& objects, std::uint8_t* truth);

/// Adds the fact of that name, of an empty one all, if the masks of the data tell it.
void addMaskFacts(PairAttributes& attributes, const PairObjects& objects, const ModelOptions& model,
                  const Dataset& data, const std::string& name);

}  // namespace relascope::core
