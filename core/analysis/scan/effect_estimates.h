// SPDX-License-Identifier: GPL-3.0-or-later
// The effects of all parts of a model on its loss, to first order.
#pragma once

#include <any>
#include <functional>
#include <stop_token>
#include <vector>

#include "analysis/open_model.h"

namespace relascope {

/// First-order estimates of how much the loss per target of a data set changes without each part.
struct EffectEstimates {
    std::vector<double> change;  ///< for each part; positive: the loss rises
    /// As `change`, with the absolute value at each example and position, so that nothing cancels.
    std::vector<double> size;
    std::int64_t examples = 0;  ///< measured so far
};

}  // namespace relascope

namespace relascope::core {

/// The parts whose effects are estimated, and the examples of the data.
struct EstimateOptions {
    std::vector<AblationRow> parts;
    std::vector<std::int64_t> examples;
    std::int64_t batchSize = 250;
    bool operator==(const EstimateOptions&) const = default;
};

/// Estimates of all parts at once: sum (mean(T) - T) dL/dT over the examples, where the mean of T
/// is over the same examples at each position (in texts over all positions, in cells for each
/// j - i), with one forward and one backward pass a batch (attribution patching, Nanda 2023). A
/// cancelled call leaves its sums in `kept`, and the next one with the same model, data and options
/// continues there to the same numbers. Throws Error for values that are not finite, Cancelled.
EffectEstimates estimateEffects(ModelImpl& model, const ModelOptions& options,
                                const DatasetPtr& data, const Interventions& interventions,
                                const EstimateOptions& what, const std::stop_token& stop = {},
                                const ProgressCallback& progress = {},
                                const std::function<void(const EffectEstimates&)>& partial = {},
                                std::any* kept = nullptr);
/// Estimates for an open model, above the edits that its weights were trained with.
EffectEstimates estimateEffects(OpenedModel& model, const DatasetPtr& data,
                                const Interventions& interventions, const EstimateOptions& what,
                                const std::stop_token& stop = {},
                                const ProgressCallback& progress = {},
                                const std::function<void(const EffectEstimates&)>& partial = {},
                                std::any* kept = nullptr);

}  // namespace relascope::core
