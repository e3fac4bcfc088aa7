// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics of single examples, for comparing runs over the same data.
#pragma once

#include <torch/types.h>
#include <span>
#include <string>
#include <vector>

#include "data/batches.h"
#include "types/edit_results.h"

namespace relascope::core {

/// Values of the examples of a data set, in its order.
struct ExampleScores {
    std::vector<double> loss;      ///< mean over the example's targets that count; nats
    std::vector<double> accuracy;  ///< fraction of targets that are right; for regression the MAE
    /// How many targets count: the weight of the example in the metrics of the data set, which are
    /// means over targets.
    std::vector<double> targets;
    /// For every target that counts, the answer (a class, token or bit) and whether it is right.
    std::vector<std::int64_t> answers;
    std::vector<bool> right;

    /// Adds a batch: scores [b, outputs] or [b, n, outputs] on any device.
    void add(const torch::Tensor& scores, const Batch& batch, std::int64_t ignore);
    /// Appends the examples of other scores.
    void append(const ExampleScores& more);
};

/// The change of a metric that is a mean over targets, of which example i has `weights[i]`: the
/// sums of values times weights over the sum of the weights. The 95 % interval is by bootstrap over
/// examples with their weights (Efron 1979, percentiles of 2,000 draws with a fixed seed); where
/// all differences of a fraction are equal it is the exact bound for a change that none of these
/// examples showed. Examples without weight, and NaN values with their pair, are left out.
PairedChange pairedChange(const std::string& metric, std::span<const double> base,
                          std::span<const double> edited, std::span<const double> weights);

}  // namespace relascope::core
