// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics of single examples, for comparing runs over the same data.
#pragma once

#include <torch/types.h>
#include <cstdint>
#include <vector>

#include "data/batches.h"
#include "evaluate/paired_change.h"

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
    /// contentOf() each example; empty: not asked for.
    std::vector<std::uint64_t> content;

    /// Adds a batch: scores [b, outputs] or [b, n, outputs] on any device.
    void add(const torch::Tensor& scores, const Batch& batch, std::int64_t ignore);
    /// Adds the content of the examples of a batch, for one of the scores that are compared.
    void addContent(const Batch& batch);
    /// Appends the examples of other scores.
    void append(const ExampleScores& more);
};

}  // namespace relascope::core
