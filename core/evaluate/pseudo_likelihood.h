// SPDX-License-Identifier: GPL-3.0-or-later
// The score of a sentence under a model that reads in both directions: the sum over its tokens of
// ln P(token at its place | the sentence with it and the later tokens of its word hidden), which is
// PLL-word-l2r (Kauf and Ivanova, "A Better Way to Do Masked Language Model Scoring", 2023; Salazar
// et al. 2020).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace relascope::core {

/// A sentence once for each token that is scored.
struct HiddenRows {
    torch::Tensor rows;                ///< tokens with hidden ones, [scored, n] int64
    std::vector<std::int64_t> places;  ///< places of the scored tokens, ascending
};
/// `words`: the number of each token's word, -1 for tokens that are neither hidden nor scored.
/// Tokens before place `from` are not scored.
HiddenRows hiddenRows(const std::vector<std::int64_t>& tokens,
                      const std::vector<std::int64_t>& words, std::int64_t mask,
                      std::int64_t from = 0);

/// The log-probability (nats) of each scored token; 0 for the others. `scores`: of rows [k, n], the
/// scores [k, n, vocabulary]. So many rows at a time are asked for.
std::vector<double> hiddenWordScores(
    const std::vector<std::int64_t>& tokens, const HiddenRows& hidden, std::int64_t atATime,
    const std::function<torch::Tensor(const torch::Tensor& rows)>& scores);

}  // namespace relascope::core
