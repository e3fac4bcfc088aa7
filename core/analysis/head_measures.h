// SPDX-License-Identifier: GPL-3.0-or-later
// Head measures: how much attention each head of a model pays to places of a kind (head_places.h).
// Does not include torch.
#pragma once

#include <optional>

#include "interventions/edit_data.h"
#include "types/head_measures.h"

namespace relascope::core {

class OpenedModel;

/// For a language model: random tokens without a repetition among them, twice. `length` is cut to
/// half the context and to the vocabulary. Throws OptionError("length", ...) below 2.
ProbeSample repeatedTokens(const OpenedModel& model, const HeadMeasureOptions& options);

/// Of one pass on the sample; without one, of repeatedTokens(). Throws OptionError for a model that
/// reads neither text nor images, or has no attention among its own elements.
HeadMeasures measureHeads(OpenedModel& model, const std::optional<ProbeSample>& sample,
                          const HeadMeasureOptions& options,
                          const Interventions& interventions = {});

}  // namespace relascope::core
