// SPDX-License-Identifier: GPL-3.0-or-later
// Pair accuracy: how often a language model finds the good sentence of a minimal pair more likely
// than the wrong ones, by phenomenon (interventions.md section 11). Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "data/dataset.h"
#include "types/answer.h"

namespace relascope {

/// Pair accuracy on some pairs.
struct PairAccuracy {
    std::string phenomenon;  ///< empty: all pairs
    std::string term = {};   ///< BLiMP's linguistics_term
    std::int64_t pairs = 0, right = 0, ties = 0;
    double accuracy = 0.0, low = 0.0, high = 0.0;  ///< a tie is not right; exact 95 % interval
    /// Mean of score(good) - score(worst wrong one), nats, and its 95 % interval.
    double difference = 0.0, differenceLow = 0.0, differenceHigh = 0.0;
};

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
        PairAccuracy accuracy;
    };
    PairAccuracy all;
    std::vector<PairAccuracy> phenomena;
    std::vector<Step> steps;  ///< by step; empty: not measured
    std::vector<Pair> pairs;
    std::vector<Token> tokens;
    std::string score;              ///< "sum" or "mean"
    std::string beginning;          ///< what is read before each sentence; empty: nothing
    std::int64_t leftOut = 0;       ///< pairs longer than the context
    std::string firstLeftOut = {};  ///< "pairs.jsonl, line 3, has 10001 tokens"
    std::int64_t unknown = 0;       ///< characters that the tokenizer does not know
};

struct PairOptions {
    std::string score = "sum";  ///< or "mean", per token
    std::int64_t examples = 0;  ///< of a phenomenon, at most; 0: all
    std::int64_t tokens = 100;  ///< pairs whose tokens are listed
    bool along = false;         ///< also at every kept step of the run
};

}  // namespace relascope

namespace relascope::core {

class OpenedModel;

/// The good sentences as a text for this model, one behind another. Throws as asPairs() and
/// tokenizePairs() (data/minimal_pairs.h, evaluate/pair_scores.h).
DatasetPtr textOfPairs(OpenedModel& model, const DatasetPtr& pairs);
/// The good sentence of a pair, numbered from 0, and its first wrong one, as inputs of this model.
std::pair<ProbeSample, ProbeSample> samplesOfPair(const OpenedModel& model, const DatasetPtr& pairs,
                                                  std::int64_t number);

/// The results as an answer with the tables "phenomena", "pairs" and "tokens".
Answer answerOf(const PairResults& results);
/// What was left out, and what is not known, of an answer of this analysis or of "phenomena".
std::string pairsRemark(const Answer& answer);
/// The analysis "pair-accuracy".
const Analysis& pairsAnalysis();
const FieldTable<PairOptions>& pairFields();
const AnalysisRunner& pairsRunner();

}  // namespace relascope::core
