// SPDX-License-Identifier: GPL-3.0-or-later
// Contrast: which parts of the streams make a map tell pairs of objects apart, over a data set
// (interventions.md section 14). Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "types/answer.h"

namespace relascope {

/// A share of the difference. NaN: not measured.
struct ContrastShare {
    /// "receiver": part `i` alone; "sender": part `j` alone; "both": the two compared.
    std::string side;
    std::string i, j;
    double share = 0.0, low = 0.0, high = 0.0;
    double untrainedLow = 0.0, untrainedHigh = 0.0;  ///< of fresh models
};

struct Contrast {
    std::string map, attribute, data, noun;
    std::int64_t examples = 0, yes = 0, no = 0;  ///< pairs
    double difference = 0.0, low = 0.0, high = 0.0;
    double untrainedLow = 0.0, untrainedHigh = 0.0;  ///< of the difference
    /// The difference is not told from 0: nothing is split.
    bool split = true;
    double cancellation = 0.0;
    std::string strongestI, strongestJ;  ///< the pair of parts with the largest share
    double auc = 0.0, alone = 0.0, without = 0.0;
    std::string metric;  ///< of the use of that pair; empty: not measured
    double base = 0.0, change = 0.0, changeLow = 0.0, changeHigh = 0.0;
    std::int64_t untrained = 0;  ///< fresh models
    bool first = false;          ///< and step 0 of the run, which counts as one of them
    std::string throughOf;       ///< the part of `through`; empty: none
    bool byFacts = false;        ///< facts come first
    std::vector<ContrastShare> parts, facts, through;
};

struct ContrastOptions {
    std::int64_t layer = 1, index = 1;  ///< from 1
    std::string kind = "relation";
    std::string attribute;
    std::int64_t examples = 1000;
    std::string by = "parts";
    std::string through;  ///< a head of both sides, in words
    bool use = false;
    std::int64_t untrained = 8;
    std::string attributes;  ///< a file; empty: none
};

}  // namespace relascope

namespace relascope::core {

/// The contrast as an answer with the tables "parts", "facts" and "through".
Answer answerOf(const Contrast& contrast);

/// The analysis "contrast". Throws OptionError for a map or an attribute that is not there, and for
/// fewer than 50 pairs of either kind; Cancelled.
const Analysis& contrastAnalysis();
const FieldTable<ContrastOptions>& contrastFields();
const AnalysisRunner& contrastRunner();

}  // namespace relascope::core
