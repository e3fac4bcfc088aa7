// SPDX-License-Identifier: GPL-3.0-or-later
// Questions and answers of the five modules of DAT 4.2, in the form of the Mathematics Dataset
// (Saxton et al. 2019, arXiv 1904.01557): made by us, for the published files are large and far.
#pragma once

#include <string>

#include "datasets/generators/random.h"

namespace relascope::datasets::mathematics {

struct Problem {
    std::string question, answer;
    bool operator==(const Problem&) const = default;
};

/// Difficulty is entropy: training questions have 3 to 10, in three equal steps; the interpolation
/// set has exactly 8. There is no extrapolation set of these modules.
struct Entropies {
    double least = 3.0, most = 10.0;
};
inline constexpr Entropies kEasy{3.0, 3.0 + 7.0 / 3.0}, kMedium{3.0 + 7.0 / 3.0, 10.0 - 7.0 / 3.0},
    kHard{10.0 - 7.0 / 3.0, 10.0}, kInterpolate{8.0, 8.0};

/// A question of the module "algebra__linear_1d", "algebra__sequence_next_term",
/// "calculus__differentiate", "polynomials__add" or "polynomials__expand": at most 160 characters,
/// its answer at most 30; longer ones are drawn again. Throws OptionError for another module.
Problem makeProblem(const std::string& module, const Entropies& entropies, SplitMix random);

}  // namespace relascope::datasets::mathematics
