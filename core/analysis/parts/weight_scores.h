// SPDX-License-Identifier: GPL-3.0-or-later
// What a map compares, from its weights (interventions.md section 15): the queries and keys of all
// tokens, and the form on pixels or features of its scores. The stream is the embedding alone, as
// if the layers before the map added nothing; the norms that these have around their sums are
// passed.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>

#include "analysis/parts/score_factors.h"
#include "analysis/parts/score_parts.h"

namespace relascope::core {

/// Where the two tokens stand.
struct TokenPlaces {
    std::int64_t i = -1, j = -1;  ///< -1: learned positions are their mean
    std::int64_t offset = 0;      ///< i - j, for rotary positions
};

/// How many tokens the vocabulary has that the map's objects are of. Throws OptionError for a map
/// whose two sides are no tokens of one vocabulary.
std::int64_t vocabularyOf(const ScoreParts& parts);
/// The factors of the scores of all pairs of tokens, [vocabulary, k]. `progress` gets the fraction
/// done; it may throw. Throws OptionError("at", ...), Error for weights that are not finite.
ScoreFactors tokenFactors(const ScoreParts& parts, const TokenPlaces& places,
                          const std::function<void(double)>& progress = {});

/// Scores of objects (patches, or members of sets) that a linear map embeds. A norm divides by one
/// number an object, which is held, so that numbers x numbers of a score is gain_i gain_j x_i^T M
/// x_j, M = scale filtersI^T filtersJ, exactly.
class LinearScores {
public:
    /// Throws OptionError for a map whose sides are no such objects.
    explicit LinearScores(const ScoreParts& parts);

    /// Behind the norms and the embedding, with the mean taken out where a norm does so at first:
    /// [k, numbers], pixels as (row, column, channel).
    const torch::Tensor& filters(ScoreSide side) const { return side == ScoreSide::I ? m_i : m_j; }
    /// Whether the mean of an object's numbers is taken out, which makes no difference to the form.
    bool centres() const { return m_centres; }
    double scale() const { return m_parts.scale(); }
    /// scale filtersI^T filtersJ, [numbers, numbers], less means where centres().
    torch::Tensor form() const;
    /// |(M + M^T) / 2|^2 / |M|^2, M = scale filtersI^T filtersJ, of the weights alone; NaN for 0.
    double symmetric() const;

    struct Objects {
        torch::Tensor numbers;  ///< [e, n, numbers], times the gain, less means where centres()
        torch::Tensor gain;     ///< [e, n]
        torch::Tensor q, k;     ///< whole queries and keys, [e, n, k]
    };
    /// Images as the model gets them, or sets of objects.
    Objects read(const ModelInput& input) const;
    /// Numbers x numbers of the scores, [e, n, n].
    torch::Tensor pixels(const Objects& objects) const;
    /// The scores, [e, n, n]: in layer 1 those that the model computes.
    torch::Tensor scores(const Objects& objects) const;

private:
    /// The linear map [d, numbers] and the bias that make the embedding, and the norms around.
    struct Embedder {
        torch::Tensor weight, bias;
        const NormImpl *before = nullptr, *after = nullptr;
        double factor = 1.0;
    };
    torch::Tensor numbersOf(const ModelInput& input) const;

    const ScoreParts& m_parts;
    ScoreParts::Projection m_queries, m_keys;
    Embedder m_embedder;
    torch::Tensor m_i, m_j;
    bool m_centres = false;
};

}  // namespace relascope::core
