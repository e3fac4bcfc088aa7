// SPDX-License-Identifier: GPL-3.0-or-later
// The duel: two models (two runs, two steps of one, with and without edits) on the same examples.
// Which maps of one are which of the other, how alike their streams are, and where their answers
// differ; each beside what chance gives. Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "types/answer.h"
#include "types/edit_results.h"

namespace relascope {

struct Duel {
    /// One of the two: A or B.
    struct Side {
        std::string name;  ///< "dat-occurs, step 250, edited: layer 2 relations zero"
        std::string architecture;
        std::vector<std::string> streams;  ///< "layer 1", in the order of the forward pass
    };
    /// The matching between the maps of one layer of A and one of B.
    struct Match {
        std::string a, b;                   ///< "layer 1"; both empty: all layers at once
        bool heads = false;                 ///< attention; else relations
        std::int64_t ours = 0, theirs = 0;  ///< how many maps
        double matched = 0.0;         ///< mean |correlation| of the best assignment, place removed
        double meanOfAllPairs = 0.0;  ///< mean |correlation| over all assignments, place removed
        double explained = 0.0;       ///< held-out R^2 of a linear map from B's maps to A's
        double back = 0.0;            ///< from A's to B's; both NaN for all layers
        /// `matched` and `explained` of each pair of untrained models.
        std::vector<double> untrained, untrainedExplained;
        double level = -1.0;  ///< the largest of untrainedLevels(); -1: there is none
        bool better = false;  ///< than chance: beyondUntrained() of these
        bool operator==(const Match&) const = default;
    };
    /// A map of A and the one of B that it is assigned to among all layers.
    struct Partner {
        std::string a, b;  ///< "layer 2 relation 1"; b empty: there are fewer of B
        bool heads = false;
        double correlation = 0.0;  ///< with its sign
        /// Layers in the inspector and maps of their kind there, from 0; -1: it has none.
        std::int64_t layerA = -1, indexA = -1, layerB = -1, indexB = -1;
        bool operator==(const Partner&) const = default;
    };
    /// A target that the two answer differently, or an example of numbers.
    struct Difference {
        std::int64_t example = 0;    ///< number in the split
        std::int64_t position = -1;  ///< position in the text or the answer; -1: one answer
        double divergence = 0.0;     ///< Duel::divergence
        bool rightA = false, rightB = false;
        std::string wanted, a, b;                       ///< answers as text; empty: not known
        double probabilityA = 0.0, probabilityB = 0.0;  ///< probability of `wanted`; NaN: not known
        bool operator==(const Difference&) const = default;
    };
    /// Minimal pairs of one phenomenon, scored by both.
    struct PairChange {
        std::string phenomenon;             ///< "all": of all of them
        std::int64_t pairs = 0;             ///< that both can read
        PairedChange accuracy;              ///< from A to B
        PairedChange difference;            ///< change: score(good) - score(worst wrong one), nats
        std::int64_t onlyA = 0, onlyB = 0;  ///< right in one alone
        std::int64_t words = 0;             ///< sets of words that the pairs differ in
        double untrainedA = 0.0, untrainedB = 0.0;  ///< the most of untrained models; NaN: none
        bool prefersA = false, prefersB = false;    ///< prefersGood() (pair_accuracy.h)
    };

    Side a, b;
    bool same = false;          ///< whether A and B have the same weights and edits
    std::string data, noun;     ///< "occurs, pentos"; "images"
    std::int64_t examples = 0;  ///< read so far
    std::int64_t objects = 0;   ///< objects of each example to compare maps on; 0: they differ
    std::string whyNot;         ///< why maps are not compared; empty: they are

    std::string divergence;  ///< "KL(A || B), nats"; empty: answers do not compare
    /// Mean of Difference::divergence, and largest difference of scores; NaN: of other shapes.
    double meanDivergence = 0.0, largestDifference = 0.0;
    std::vector<PairedChange> changes;  ///< from A to B; loss, accuracy
    std::int64_t answers = 0, bothRight = 0, onlyA = 0, onlyB = 0, bothWrong = 0, different = 0;
    /// p of McNemar's exact test, whose inversion is the interval of fewer than kFewChanged changed
    /// answers; NaN for more, and where an example has many answers or stands there twice.
    double mcnemar = 1.0;
    std::vector<PairChange> pairs;  ///< all of them first; empty: no minimal pairs
    /// A right and B wrong first, then the other way round, then the rest, by divergence.
    std::vector<Difference> differences;

    std::int64_t rows = 0;    ///< that streams are compared on; 0: not compared
    std::vector<double> cka;  ///< [streams of A, of B]
    std::vector<double>
        untrainedCka;  ///< the largest of pairs of untrained models; empty: none yet
    std::vector<double> untrainedCkas;  ///< [pairs, streams of A, of B]
    std::vector<bool> alike;            ///< beyondUntrained() of these; empty: none yet
    std::vector<Match> matches;
    std::vector<Partner> partners;
    std::int64_t untrained = 0;  ///< pairs of untrained models so far

    bool text = false;                   ///< examples are windows of text
    std::vector<std::string> sentences;  ///< duelSentences()
    bool complete = false;
    std::string basis;  ///< basisOf() A and B, with which alone it is continued
};

struct DuelOptions {
    static constexpr std::int64_t kText = 5;  ///< fewer windows than examples
    std::int64_t examples = 500;
    std::vector<std::string> what = {"relations", "heads"};
    std::int64_t tokens = 128;
    std::int64_t untrained = 6;
    std::int64_t show = 20;
    bool operator==(const DuelOptions&) const = default;
};

}  // namespace relascope

namespace relascope::core {

/// "matching", "says" (its sentences), "changes", "differences", "partners", "streams", of all of
/// them what untrained models give, and back. The latter throws Error for what is no duel.
Answer answerOf(const Duel& duel);
Duel duelOf(const Answer& answer);

const FieldTable<DuelOptions>& duelFields();

/// What can be said of it, a sentence each; what is not better than chance is said to be so.
std::vector<std::string> duelSentences(const Duel& duel);
/// What untrained pairs reach where such a match is the best of many: of each pair the largest over
/// all pairs of layers; of a match of all layers its own.
std::vector<double> untrainedLevels(const Duel& duel, const Duel::Match& match);

}  // namespace relascope::core
