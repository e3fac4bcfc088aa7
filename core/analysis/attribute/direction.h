// SPDX-License-Identifier: GPL-3.0-or-later
// The direction of an answer in the last stream, for direct attribution.
#pragma once

#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/attribute/attribution.h"
#include "analysis/parts/answer_stream.h"
#include "analysis/parts/block_parts.h"

namespace relascope::core {

/// The logit as a linear function of the last stream: sum_q <weights_q, x_q> + biases, over the
/// positions q that the answer is read from. Norms are held at their scale, the weights of a
/// learned query at their values; what its feed-forward adds is one of the biases.
struct Direction {
    std::int64_t first = 0;  ///< the first of the positions
    torch::Tensor weights;   ///< [positions, d]
    std::vector<std::pair<std::string, double>> biases;

    /// The rows of a point's tensor [1, n, ...] for those positions.
    torch::Tensor rows(const torch::Tensor& point) const {
        return precise(point[0].slice(0, first, first + weights.size(0)));
    }
};

/// The direction of an answer, less that of another, for the last stream x [1, n, d]. `position`
/// counts for models with an answer for each position.
Direction directionOf(const AnswerStream& stream, const torch::Tensor& x,
                      const AttributionOptions& what, std::int64_t position);

}  // namespace relascope::core
