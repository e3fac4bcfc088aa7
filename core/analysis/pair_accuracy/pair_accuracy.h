// SPDX-License-Identifier: GPL-3.0-or-later
// Pair accuracy: how often a language model finds the good sentence of a minimal pair more likely
// than the wrong ones, by phenomenon (interventions.md section 11). Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/pairs/pair_preference.h"
#include "types/answer.h"

namespace relascope {

struct PairResults {
    struct Pair {
        std::int64_t number = 0;  ///< in the data, from 0
        int phenomenon = 0;       ///< of `phenomena`
        std::string good, bad;    ///< the most likely of the wrong ones
        double goodScore = 0.0, badScore = 0.0, difference = 0.0;
        bool right = false, tie = false;
    };
    /// A token of a listed pair. Scores of tokens add up to those of sentences.
    struct Token {
        int pair = 0;  ///< of `pairs`
        bool good = true;
        std::string text;
        double score = 0.0;  ///< NaN: it is only read
    };
    /// The pair accuracy at a kept step of a run, of all pairs or of a phenomenon.
    struct Step {
        std::int64_t step = 0;
        PairPreference accuracy;
    };
    PairPreference all;
    std::vector<PairPreference> phenomena;
    std::vector<Step> steps;  ///< by step; empty: not measured
    std::vector<Pair> pairs;
    std::vector<Token> tokens;
    std::string score;              ///< "sum" or "mean"
    std::string beginning;          ///< what is read before each sentence; empty: nothing
    std::int64_t leftOut = 0;       ///< pairs longer than the context
    std::string firstLeftOut = {};  ///< "pairs.jsonl, line 3, has 10001 tokens"
    std::int64_t unknown = 0;       ///< characters that the tokenizer does not know
    std::int64_t alike = 0;         ///< pairs whose sentences are the same tokens
    std::string firstAlike = {};    ///< "pairs.jsonl, line 3"
};

struct PairOptions {
    std::string score = "sum";  ///< or "mean", per token
    std::int64_t examples = 0;  ///< of a phenomenon, at most; 0: all
    std::int64_t tokens = 100;  ///< pairs whose tokens are listed
    std::int64_t untrained = 4;
    bool along = false;  ///< also at every kept step of the run
};

}  // namespace relascope

namespace relascope::core {

/// The results as an answer with the tables "phenomena", "says", "pairs" and "tokens".
Answer answerOf(const PairResults& results);
const FieldTable<PairOptions>& pairFields();

}  // namespace relascope::core
