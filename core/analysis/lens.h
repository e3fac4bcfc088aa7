// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens (nostalgebraist 2020, models.md section 7): the output layer applied to the
// residual stream before and after every layer, as if the later layers added nothing.
#pragma once

#include "analysis/analysis.h"
#include "model/model.h"
#include "types/lens.h"
#include "types/model_options.h"

namespace relascope::core {

/// Of an input of one example. Names of answers and inputs are left empty. Throws OptionError for a
/// model without such a stream, and for a position or an answer that is not there.
LensResult logitLens(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                     const LensOptions& what = {});

/// "lens": a LensResult.
const Analysis& lensAnalysis();

}  // namespace relascope::core
