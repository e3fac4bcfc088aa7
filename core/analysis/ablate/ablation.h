// SPDX-License-Identifier: GPL-3.0-or-later
// The ablation table: every part of a model taken out, one at a time.
#pragma once

#include <functional>
#include <stop_token>

#include "analysis/ablate/options.h"
#include "interventions/active_edits.h"
#include "types/edit_results.h"

namespace relascope::core {

/// Measures every part. `partial` gets the table after each batch of examples; both it and
/// `progress` are called on this thread. Means are taken over EditReference::usual() of the
/// training set (or of the data set, without one). Like all values that are taken from other
/// passes, they come from passes without the edits in force. `kept`: see AblationProgress.
/// Throws OptionError if the model has no such parts or an edit does not fit, Cancelled. The
/// interventions are in force in every pass on the data; means of parts take their values from
/// them, too.
AblationTable ablate(ModelImpl& model, const ModelOptions& options, const DatasetPtr& data,
                     const Interventions& interventions, const AblationOptions& how,
                     std::stop_token stop = {}, const ProgressCallback& progress = {},
                     const std::function<void(const AblationTable&)>& partial = {},
                     AblationProgress* kept = nullptr);

}  // namespace relascope::core
