// SPDX-License-Identifier: GPL-3.0-or-later
// Fitted relations (interventions.md section 18): a relation that is fitted to a fact of pairs on a
// frozen stream, and what may be said of it. Does not include torch.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "types/answer.h"
#include "types/edit_results.h"

namespace relascope {

struct FittedOptions {
    std::string fact;
    std::string layer = "all";  ///< "all", or after which layer, from 0: before the first
    std::string form = "symmetric";
    std::string scale = "stream";
    std::int64_t directions = 64;
    std::int64_t examples = 500;
    std::int64_t untrained = 4;
    bool remove = false;
    std::string save;
    std::string attributes;  ///< a CSV file; empty: those of the data
    std::int64_t seed = 0;   ///< seed of the split
};

/// What fit-relation measured, for its sentences.
struct FittedFacts {
    struct Removal {
        std::int64_t rank = 0, dimensions = 0;
        double variance = 0.0;  ///< share
        /// Least share of a random subspace; not a number: unknown.
        double randomVariance = std::numeric_limits<double>::quiet_NaN();
        PairedChange change;                       ///< change of the metric
        double randomMean = 0.0;                   ///< mean change by random subspaces
        double randomLow = 0.0, randomHigh = 0.0;  ///< their range
        std::int64_t cheaper = 0, random = 0;      ///< random ones that cost less; all
        PairedChange beyond;                       ///< the change less the random ones' mean
        double again = 0.0;                        ///< AUC that can be fitted behind it
    };
    std::string fact, form, noun;
    std::string layer;             ///< "before layer 1", "after layer 3"
    std::int64_t layers = 0;       ///< that were tried
    std::int64_t examples = 0;     ///< to test
    std::int64_t leftOut = 0;      ///< examples beyond the most pairs
    std::int64_t yes = 0, no = 0;  ///< pairs to test
    double auc = 0.0, low = 0.0, high = 0.0;
    double beyondPlaceLow = 0.0, beyondSideLow = 0.0;  ///< lower ends of paired differences
    double place = 0.0, oneSide = 0.0, pixels = 0.0;
    std::vector<double> untrained, exchanged;
    bool converged = true, ridgeAtEnd = false;
    std::int64_t keptRank = 0;
    std::string metric;  ///< empty: nothing was taken out
    double base = 0.0;   ///< that metric
    std::vector<double> untrainedMetric;
    std::vector<Removal> removals;  ///< by rank
};

}  // namespace relascope

namespace relascope::core {

const FieldTable<FittedOptions>& fittedFields();
/// The answer without rows.
Answer emptyFitted(bool masks);

/// The words of a fitted relation: "can be read", "learned", "inborn"; empty: nothing may be said.
struct FittedWords {
    bool enough = false, read = false, learned = false;
    std::int64_t carries = -1;  ///< index of a removal that shows it; -1: none
};
FittedWords fittedWords(const FittedFacts& facts);
/// The sentences, each with a full stop.
std::vector<std::string> fittedSentences(const FittedFacts& facts);

}  // namespace relascope::core
