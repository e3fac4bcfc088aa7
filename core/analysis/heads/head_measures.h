// SPDX-License-Identifier: GPL-3.0-or-later
// Head measures: how much attention each head of a model pays to places of a kind (head_places.h).
// Does not include torch.
#pragma once

#include <cstdint>

#include "analysis/analysis.h"

namespace relascope {

struct HeadMeasureOptions {
    std::int64_t length = 50;  ///< random tokens that are repeated, for language models
    std::int64_t seed = 0;     ///< draws these tokens
};

}  // namespace relascope

namespace relascope::core {

class OpenedModel;

/// For a language model: random tokens without a repetition among them, twice. `length` is cut to
/// half the context and to the vocabulary. Throws OptionError("length", ...) below 2.
ProbeSample repeatedTokens(const OpenedModel& model, const HeadMeasureOptions& options);

const FieldTable<HeadMeasureOptions>& headMeasureFields();

}  // namespace relascope::core
