// SPDX-License-Identifier: GPL-3.0-or-later
// Minimal pairs as inputs of a model and of analyses. Does not include torch.
#pragma once

#include <cstdint>
#include <utility>

#include "data/dataset.h"

namespace relascope::core {

class OpenedModel;

/// The good sentences as a text for this model, one behind another. Throws as asPairs() and
/// tokenizePairs() (data/minimal_pairs.h, evaluate/pair_scores.h).
DatasetPtr textOfPairs(OpenedModel& model, const DatasetPtr& pairs);
/// The good sentence of a pair, numbered from 0, and its first wrong one, as inputs of this model.
std::pair<ProbeSample, ProbeSample> samplesOfPair(const OpenedModel& model, const DatasetPtr& pairs,
                                                  std::int64_t number);

}  // namespace relascope::core
