// SPDX-License-Identifier: GPL-3.0-or-later
// The effect of edits on the scores of a model over a data set.
#pragma once

#include <stop_token>

#include "evaluate/example_scores.h"
#include "interventions/active_edits.h"
#include "types/edit_results.h"

namespace relascope::core {

class HeadRefit;  // head_refit.h

/// Compares two passes over the same examples: loss and accuracy (for regression the mean error),
/// and the answers that changed.
EditEffect effectOf(const ExampleScores& base, const ExampleScores& edited, bool regression);

/// Runs the data set, or `examples` of it that are drawn by seed 0 (0: all), with and without the
/// edits of the session, in evaluation mode without gradients. The edits of `below`, with which the
/// model is trained, are in force in both. `refit`: also with a head that it fits behind them.
/// Throws OptionError if an edit does not fit, Cancelled.
EditEffect measureEdits(ModelImpl& model, const ModelOptions& options, ActiveEdits& session,
                        const DatasetPtr& data, std::int64_t batchSize,
                        const std::stop_token& stop = {}, const ProgressCallback& progress = {},
                        ActiveEdits* below = nullptr, std::int64_t examples = 0,
                        const HeadRefit* refit = nullptr);

}  // namespace relascope::core
