// SPDX-License-Identifier: GPL-3.0-or-later
// Biases of scores by the places of two patches (BEiT; Bao et al. 2021).
#pragma once

#include <torch/types.h>

#include "model/blocks/block_details.h"

namespace relascope::core {

/// What places add to the scaled scores of the class token and the patches of a grid:
/// [heads, n, n], n = rows * columns + 1. A table [(2 H - 1)(2 W - 1) + 3, heads] of the grid H x W
/// that it was learned with has the row (r_i - r_j + H - 1)(2 W - 1) + c_i - c_j + W - 1 for
/// patches i and j; its last three are of scores from the class token, to it, and of it with
/// itself. On another grid the first part is scaled bilinearly as a picture of each head. Tables
/// are of the block and of all blocks, whose sum counts; at least one is defined.
torch::Tensor placeScores(const ScoreOptions& options, const torch::Tensor& own,
                          const torch::Tensor& shared);

}  // namespace relascope::core
