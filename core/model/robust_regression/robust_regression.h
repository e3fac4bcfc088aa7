// SPDX-License-Identifier: GPL-3.0-or-later
// Relations from noisy symbols: recovers the mixture weights of a column with outliers (the earlier
// manuscript of ABS, 3.4-3.5). Solved by optimisation, not learned.
#pragma once

#include "model/blocks/recording.h"
#include "model/model.h"
#include "model/robust_regression/robust_regression_options.h"

namespace relascope::core {

/// argmin_u |a - S u|_1 + lambda |u|_1 of every example, by the alternating direction method of
/// multipliers (Boyd et al. 2011, sections 3.3, 3.4.1, 3.4.3 and 6.1): until the primal and the
/// dual residual are at most 1e-8, with at most 10,000 iterations. With very many outliers this is
/// slow: every 50 iterations the vertex that the multipliers suggest is computed, and accepted if
/// they prove it to be the minimum. symbols [b, d, m], observed [b, d], both double; lambda >= 0.
/// -> [b, m] double.
torch::Tensor leastAbsoluteDeviations(const torch::Tensor& symbols, const torch::Tensor& observed,
                                      double lambda);

struct RobustRegressionLayerImpl : torch::nn::Module, RecordingPoint {
    explicit RobustRegressionLayerImpl(double weight);
    torch::Tensor forward(const torch::Tensor& objects);

    torch::Tensor lambda;  ///< [1], never trained
};
TORCH_MODULE(RobustRegressionLayer);

/// `RobustRegression`: no parameters are trained. `rel_scale` is lambda, 0 for dense relations.
struct RobustRegressionImpl : ModelWith<RobustRegressionOptions> {
    explicit RobustRegressionImpl(const Options& options);

    RobustRegressionLayer regression{nullptr};

protected:
    /// objects [b, m + 1, d], the symbols and then the column -> [b, m], without gradient.
    torch::Tensor outputs(const torch::Tensor& objects) override;
};

}  // namespace relascope::core
