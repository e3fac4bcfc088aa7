// SPDX-License-Identifier: GPL-3.0-or-later
// The ablation table: every part of a model taken out, one at a time.
#pragma once

#include <any>
#include <functional>
#include <stop_token>

#include "analysis/ablate/options.h"
#include "analysis/open_model.h"
#include "interventions/active_edits.h"
#include "types/edit_results.h"

namespace relascope::core {

/// Measures every part. `partial` gets the table after each batch of examples; both it and
/// `progress` are called on this thread. Means are taken over EditReference::usual() of the
/// training set (or of the data set, without one). Like all values that are taken from other
/// passes, they come from passes without the edits in force.
/// Throws OptionError if the model has no such parts or an edit does not fit, Cancelled. Cancelled,
/// it leaves its measurements in `kept`; called again with it and the same model, data, options and
/// edits in force, it continues at the batch, or the joint measurement, where it ended, and gives
/// the same table to the last bit; called with anything else, it starts anew. The
/// interventions are in force in every pass on the data; means of parts take their values from
/// them, too.
AblationTable ablate(ModelImpl& model, const ModelOptions& options, const DatasetPtr& data,
                     const Interventions& interventions, const AblationOptions& how,
                     std::stop_token stop = {}, const ProgressCallback& progress = {},
                     const std::function<void(const AblationTable&)>& partial = {},
                     std::any* kept = nullptr, const HeadRefit* refit = nullptr);
/// The table of an open model, above the edits that its weights were trained with. With
/// AblationOptions::refit throws OptionError for a head that was not fitted (headRefit()).
AblationTable ablate(OpenedModel& model, const DatasetPtr& data, const Interventions& interventions,
                     const AblationOptions& how, const std::stop_token& stop = {},
                     const ProgressCallback& progress = {},
                     const std::function<void(const AblationTable&)>& partial = {},
                     std::any* kept = nullptr);

}  // namespace relascope::core
