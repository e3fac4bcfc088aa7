// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens (nostalgebraist 2020, models.md section 7): the output layer applied to the
// residual stream before and after every layer, as if the later layers added nothing. Does not
// include torch.
#pragma once

#include "analysis/analysis.h"
#include "types/answer.h"
#include "types/lens.h"
#include "types/model_options.h"

namespace relascope::core {

struct ModelImpl;
struct ModelInput;

/// The lens on an input of one example. Names of answers and inputs are left empty. Throws
/// OptionError for a model without such a stream, and for a position or an answer that is not
/// there.
LensResult logitLens(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                     const LensOptions& what = {});

/// The options of the analysis, as words.
struct LensChoice {
    std::int64_t top = LensOptions().top, position = LensOptions::kEvery;
    std::vector<std::string> answers;
};

/// The lens as an answer with the tables "cells" (the answers of each cell), "answers" (the model's
/// own) and "layers" (their names); see analysis/lens/table.h.
Answer answerOf(const LensResult& result);
const FieldTable<LensChoice>& lensFields();

}  // namespace relascope::core
