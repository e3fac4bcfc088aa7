// SPDX-License-Identifier: GPL-3.0-or-later
// Pair accuracy: how often a language model finds the good sentence of a minimal pair more likely
// than the wrong ones, by phenomenon (interventions.md section 11). Does not include torch.
#pragma once

#include <cstdint>
#include <limits>
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
    /// A tie is not right; accuracyByWords() (evaluate/pair_scores.h).
    double accuracy = 0.0, low = 0.0, high = 0.0;
    /// Mean of score(good) - score(worst wrong one), nats, and its 95 % interval.
    double difference = 0.0, differenceLow = 0.0, differenceHigh = 0.0;
    std::int64_t words = 0;  ///< how many different words the pairs differ in (differingWords())
    /// Pairs whose sentences have different numbers of tokens, and of these those whose good
    /// sentence has the fewest.
    std::int64_t unequal = 0, shorter = 0;
    std::vector<double> untrained = {};  ///< the accuracy of each model with fresh weights
    double frequencies =
        std::numeric_limits<double>::quiet_NaN();  ///< of these alone; NaN: unknown
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

class OpenedModel;

/// The good sentences as a text for this model, one behind another. Throws as asPairs() and
/// tokenizePairs() (data/minimal_pairs.h, evaluate/pair_scores.h).
DatasetPtr textOfPairs(OpenedModel& model, const DatasetPtr& pairs);
/// The good sentence of a pair, numbered from 0, and its first wrong one, as inputs of this model.
std::pair<ProbeSample, ProbeSample> samplesOfPair(const OpenedModel& model, const DatasetPtr& pairs,
                                                  std::int64_t number);

/// Pairs that differ in fewer sets of words carry no sentence: only from six on does the interval
/// of all pairs right end above one half.
inline constexpr std::int64_t kFewestWords = 6;
/// Whether a model prefers the good sentences: of enough pairs with enough different words the
/// interval lies above one half, above each of four or more untrained models, and above word
/// frequencies where these are known. Of a phenomenon that is not preferred nothing is said.
bool prefersGood(const PairAccuracy& accuracy);
/// The accuracy beside chance, and where the good sentences are not shown to be preferred the
/// reason: "the model prefers the good sentences: 90.0 % [79.5, 96.2] are likelier (50 is chance, 4
/// untrained models have 31.7 to 55.0 %, word frequencies 48.3 %)".
std::string preferenceText(const PairAccuracy& accuracy);
/// What can be said of all phenomena, a sentence each.
std::vector<std::string> pairSentences(const std::vector<PairAccuracy>& phenomena);
/// "Agreement relative clause": a name of BLiMP at the beginning of a sentence.
std::string phenomenonTitle(const std::string& name);

/// The results as an answer with the tables "phenomena", "says", "pairs" and "tokens".
Answer answerOf(const PairResults& results);
/// What was left out, and what is not known, of an answer of this analysis or of "phenomena".
std::string pairsRemark(const Answer& answer);
/// The analysis "pair-accuracy".
const Analysis& pairsAnalysis();
const FieldTable<PairOptions>& pairFields();
const AnalysisRunner& pairsRunner();

}  // namespace relascope::core
