// SPDX-License-Identifier: GPL-3.0-or-later
// How often a language model finds the good sentence of a minimal pair more likely than the wrong
// ones, and whether it prefers them (interventions.md section 11). Does not include torch.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "types/answer.h"

namespace relascope {

/// Pair accuracy on some pairs.
struct PairPreference {
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
        std::numeric_limits<double>::quiet_NaN();  ///< accuracy by frequencies alone; NaN: unknown
};

}  // namespace relascope

namespace relascope::core {

/// Pairs that differ in fewer sets of words carry no sentence: only from six on does the interval
/// of all pairs right end above one half.
inline constexpr std::int64_t kFewestWords = 6;
/// Whether a model prefers the good sentences: of enough pairs with enough different words the
/// interval lies above one half, above each of four or more untrained models, and above word
/// frequencies where these are known. Of a phenomenon that is not preferred nothing is said.
bool prefersGood(const PairPreference& accuracy);
/// The accuracy beside chance, and where the good sentences are not shown to be preferred the
/// reason: "the model prefers the good sentences: 90.0 % [79.5, 96.2] are likelier (50 is chance, 4
/// untrained models have 31.7 to 55.0 %, word frequencies 48.3 %)".
std::string preferenceText(const PairPreference& accuracy);
/// What can be said of all phenomena, a sentence each.
std::vector<std::string> pairSentences(const std::vector<PairPreference>& phenomena);
/// "Agreement relative clause": a name of BLiMP at the beginning of a sentence.
std::string phenomenonTitle(const std::string& name);
/// The table "phenomena"; or, not `named`, the values of an answer, of all pairs.
Table accuracyTable(const std::vector<PairPreference>& rows, bool named);
/// What was left out, and what is not known, of an answer of "pair-accuracy" or "phenomena".
std::string pairsRemark(const Answer& answer);

}  // namespace relascope::core
