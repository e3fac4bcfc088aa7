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
    double untrainedLow = 0.0, untrainedHigh = 0.0;  ///< range over fresh models
};

struct Contrast {
    std::string map, attribute, data, noun;
    std::int64_t layer = 1;  ///< from 1
    bool softmax = false;    ///< follows the scores
    std::string things;      ///< what is compared: "patches", "tokens", "objects"
    std::int64_t examples = 0, yes = 0, no = 0;  ///< pairs
    std::int64_t different = 0;                  ///< examples by what they show
    double difference = 0.0, low = 0.0, high = 0.0;
    double untrainedLow = 0.0, untrainedHigh = 0.0;  ///< range of the difference over fresh models
    /// The difference is not told from 0: nothing is split.
    bool split = true;
    double cancellation = 0.0;
    std::string strongestI, strongestJ;  ///< the pair of parts with the largest share
    double auc = 0.0, alone = 0.0, without = 0.0;
    std::string metric;  ///< metric of the use of a pair; empty: not measured
    /// What was taken off: the strongest pair of parts, or by facts of facts.
    std::string usedI, usedJ;
    double base = 0.0, change = 0.0, changeLow = 0.0, changeHigh = 0.0;
    std::int64_t untrained = 0;  ///< fresh models
    bool first = false;          ///< and step 0 of the run
    /// Why nothing is said: the model answers no better than the untrained ones. Empty: it does.
    std::string guard;
    /// Fresh models and step 0 that tell the pairs apart by their mean; these alone have shares.
    std::int64_t untrainedSplit = 0;
    std::string throughOf;  ///< the part of `through`; empty: none
    bool byFacts = false;   ///< facts come first
    std::vector<ContrastShare> parts, facts, through;
    std::vector<ContrastShare> sides;  ///< the sums of all receivers, senders and pairs of parts
};

struct ContrastOptions {
    std::int64_t layer = 1, index = 1;  ///< from 1
    std::string kind = "relation";
    std::string relation;  ///< file of a fitted relation, in place of a map of the model
    std::string attribute;
    std::int64_t examples = 1000;
    std::string by = "parts";
    std::string through;  ///< a head of both sides, in words
    bool use = false;
    std::string use_of;  ///< "colour x colour": what is taken off; empty: the strongest
    std::int64_t untrained = 8;
    std::string attributes;  ///< a file; empty: none
};

}  // namespace relascope

namespace relascope::core {

struct AnalysisSubject;  // run_analysis.h
template <class Result>
struct Watch;  // run_analysis.h

/// The contrast as an answer with the tables "parts", "facts", "through", "sides" and "sentences".
Answer answerOf(const Contrast& contrast);

/// What may be said of the difference, at most two sentences about the map ("It compares ..."), by
/// the rules of interventions.md section 14; nothing without four untrained models. Of a model that
/// answers no better than these that alone is said.
std::vector<std::string> sentencesOf(const Contrast& contrast);
/// Whether that part of both sides may be said to be compared, so that `through` is of interest.
bool isHeadPart(const std::string& part);

const FieldTable<ContrastOptions>& contrastFields();
/// The options of a contrast, as a printed command has them.
std::string contrastOptionText(const ContrastOptions& options);
/// Computes the contrast, for analyses that need it.
Contrast contrastOf(AnalysisSubject& subject, const ContrastOptions& options,
                    const Watch<Contrast>& watch);

}  // namespace relascope::core
