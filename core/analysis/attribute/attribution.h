// SPDX-License-Identifier: GPL-3.0-or-later
// Direct logit attribution (Elhage et al. 2021, models.md section 7): the last stream is a sum of
// what every part of a model added to it, and a logit is linear in that stream once the final
// norm's scale is held. Does not include torch.
#pragma once

#include "analysis/analysis.h"
#include "types/answer.h"
#include "types/lens.h"
#include "types/model_options.h"

namespace relascope::core {

struct ModelImpl;
struct ModelInput;

/// Attributes a logit for an input of one example; the parts are in the order of the forward pass.
/// Names of answers and inputs are left empty. Throws OptionError for a model whose last stream is
/// no such sum, and for a position or an answer that is not there.
Attribution attributeLogit(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                           const AttributionOptions& what);

/// The options of the analysis, as words.
struct AttributionChoice {
    std::string logit, minus;
    std::int64_t position = AttributionOptions().position;
};

/// The attribution as an answer with the tables "parts" and "offered" (other answers to ask for).
Answer answerOf(const Attribution& result);
const FieldTable<AttributionChoice>& attributionFields();

}  // namespace relascope::core
