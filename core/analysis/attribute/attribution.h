// SPDX-License-Identifier: GPL-3.0-or-later
// Direct logit attribution (Elhage et al. 2021, models.md section 7): the last stream is a sum of
// what every part of a model added to it, and a logit is linear in that stream once the final
// norm's scale is held. Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/lens/lens.h"
#include "analysis/parts/model_part.h"
#include "types/answer.h"
#include "types/model_options.h"

namespace relascope {

struct AttributionOptions {
    std::int64_t answer = 0;
    std::int64_t minus = -1;     ///< answer whose logit is subtracted; -1: none
    std::int64_t position = -1;  ///< negative: from the end
    bool operator==(const AttributionOptions&) const = default;
};

struct Attribution {
    LensAnswer answer, minus;  ///< minus.id is -1 without one
    bool whole = false;        ///< the model gives one answer for the whole input
    std::int64_t position = 0;
    std::string input;   ///< token or element at the position, as text
    double logit = 0.0;  ///< as the model computed it; the difference for two answers
    std::vector<AttributionPart> parts;
    /// Other answers to ask for: the classes, or the likeliest tokens.
    std::vector<std::string> offered;
    int positions = 0;  ///< how many the input has; 0: one answer for the whole input

    /// The sum of the parts that are not inside another: `logit`, up to rounding.
    double sum() const {
        double total = 0.0;
        for (const auto& part : parts) total += part.inside() ? 0.0 : part.value;
        return total;
    }
};

}  // namespace relascope

namespace relascope::core {

struct ModelImpl;
struct ModelInput;

/// Attributes a logit for an input of one example; the parts are in the order of the forward pass.
/// Names of answers and inputs are left empty. Throws OptionError for a model whose last stream is
/// no such sum, and for a position or an answer that is not there.
Attribution attributeLogit(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                           const AttributionOptions& what);

/// The attribution of the subject's input, with its edits in force and all names. Throws as
/// attributeLogit(), OptionError if the sample does not fit the model.
Attribution attributionOf(AnalysisSubject& subject, const AttributionOptions& what);

/// The options of the analysis, as words.
struct AttributionChoice {
    std::string logit, minus;
    std::int64_t position = AttributionOptions().position;
};

/// The attribution as an answer with the tables "parts" and "offered" (other answers to ask for).
Answer answerOf(const Attribution& result);
const FieldTable<AttributionChoice>& attributionFields();

}  // namespace relascope::core
