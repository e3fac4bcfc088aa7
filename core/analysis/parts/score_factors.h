// SPDX-License-Identifier: GPL-3.0-or-later
// A table of scores scale <q_t, k_u> of all pairs of V rows, by its factors q and k [V, width]:
// what it compares, its extremes, without the table (interventions.md section 15). The pair part is
// what is left of it after the means of its rows and columns.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace relascope::core {

struct ScoreFactors {
    torch::Tensor q, k;  ///< [V, width] double, finite
    double scale = 1.0;
};

/// The pair part as sum_c value_c receiver_c(t) sender_c(u), exactly.
struct ScoreComponents {
    torch::Tensor values;  ///< [c] positive, the largest first; above 1e-9 of the first
    /// [V, some], mean 0 and variance 1 under the weights, 0 where the weight is 0; the entry of a
    /// receiver that is largest in size is positive.
    torch::Tensor receiver, sender;
    /// [width, c]: receiver = (q - mean q) receiverOf, likewise the sender of k.
    torch::Tensor receiverOf, senderOf;
    double receiverShare = 0.0, senderShare = 0.0, pairShare = 0.0;  ///< shares of the variance
    double symmetric = 0.0;  ///< |symmetric part|^2 / |pair part|^2, by the weights; chance 0.5
    double deviation = 0.0;  ///< standard deviation of the scores, under the weights
    /// Whether all scores are the same, up to rounding: nothing is compared, and the shares are 0.
    bool constant = false;
    /// Whether the pair part is 0 up to rounding: no components.
    bool oneSided = false;
};
/// `weights` [V] sum to 1. By the SVD of two QR factors, V width^2 operations. All values, and the
/// receivers and senders of the first `most`.
ScoreComponents componentsOf(const ScoreFactors& factors, const torch::Tensor& weights,
                             std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// The covariance of the scores of two maps over all pairs, each side drawn by the weights.
double scoreCovariance(const ScoreFactors& one, const ScoreFactors& other,
                       const torch::Tensor& weights);

/// The factors of the scores less the mean of each row, by the weights: what a softmax sees.
ScoreFactors lessRowMeans(ScoreFactors factors, const torch::Tensor& weights);

struct ScoredPair {
    std::int64_t receiver = 0, sender = 0;
    double score = 0.0;
};
struct ExtremePairs {
    std::vector<ScoredPair> highest, lowest;  ///< the most extreme first
    std::int64_t tiles = 0, looked = 0;       ///< tiles of the table, and those that were computed
};
/// The `top` highest and lowest scores. Takes one tile beside two copies of the factors in
/// float32; tiles that the lengths of their rows rule out are not computed. `progress` gets the
/// fraction done; it may throw.
ExtremePairs extremePairs(const ScoreFactors& factors, std::int64_t top,
                          const std::function<void(double)>& progress = {});

/// P(S(t, t) > S(t, u)) for t, u != t drawn by the weights, ties half.
struct SelfPreference {
    double value = 0.0;
    double error = 0.0;      ///< standard error; 0 where all rows were taken
    std::int64_t drawn = 0;  ///< rows; 0: all
};
SelfPreference selfPreference(const ScoreFactors& factors, const torch::Tensor& weights);

}  // namespace relascope::core
