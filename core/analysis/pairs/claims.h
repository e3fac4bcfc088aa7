// SPDX-License-Identifier: GPL-3.0-or-later
// The claims that may be made about a part of a model, or about two models, and their words: the
// one place where numbers become claims. Everything is decided by intervals, which are corrected
// for the number of comparisons. Pure numbers: no model, no LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "types/edit_results.h"

namespace relascope::core {

// Few and many
// -------------------------------------------------------------------------------------------------

/// Fewer examples (of text windows) than these carry no sentence.
inline constexpr std::int64_t kFewestToSay = 50, kFewestTextsToSay = 20;
/// Fewer untrained models, or pairs of them, have no spread to compare with.
inline constexpr std::size_t kFewestUntrained = 4;

/// Whether so many examples carry a sentence.
bool enoughToSay(std::int64_t examples, bool text);
/// The words for too few examples: "10 images are too few for a sentence; 50 or more are needed".
std::string tooFewText(std::int64_t examples, bool text, const std::string& noun);

/// Which of the hypotheses with these p-values are rejected together at `level` (Holm 1979). NaN is
/// never rejected, and is not counted.
std::vector<bool> holm(std::span<const double> p, double level);

/// One-sided p of a change that is `above` the limit, from its 95 % interval, whose half on the
/// side of the limit is taken for 1.96 standard errors. NaN without an interval.
double pAbove(const PairedChange& change, double limit);

/// Whether a value is beyond the values of all untrained models by more than 1.5 times their range
/// (twice for fewer than eight models, three times for fewer than six). False for fewer than
/// kFewestUntrained. `rises`: larger is beyond.
bool beyondUntrained(double value, std::span<const double> untrained, bool rises = true);

/// Whether a share whose interval begins at `low` is shown to be above chance, and above that of
/// each of kFewestUntrained or more untrained models on the same examples.
bool shareAbove(double low, double chance, std::span<const double> untrained);
/// The words for untrained models beside a share: "4 untrained models have 31.7 to 55.0 %"; empty
/// without any.
std::string untrainedShares(std::span<const double> untrained);

// Against untrained models
// -------------------------------------------------------------------------------------------------

/// The guard of all sentences about parts: whether a model answers better than every one of its
/// untrained twins (the same options, fresh weights), by 5 % of what that one misses (of an error:
/// is below by 5 %) and, where `answers` answers are right or wrong, by the lower end of its 95 %
/// interval (Wilson 1927; 0: not asked). True without any twin: then nothing is known.
bool answersBetter(const std::string& metric, double base, std::span<const double> untrained,
                   std::int64_t answers = 0);
/// "The model answers no better than untrained ones: accuracy 50.3 %, and 8 models with fresh
/// weights reach 47.1 to 52.4 %. Nothing can be said of what its parts do."
std::string noBetterText(const std::string& metric, double base, std::span<const double> untrained);
/// The mean of the metric of untrained models; NaN without any.
double untrainedMean(std::span<const double> untrained);

// Words for a metric
// -------------------------------------------------------------------------------------------------

/// Values and changes of a metric, for people: fractions as percent, their changes as points.
class MetricWords {
public:
    explicit MetricWords(const std::string& metric);

    const std::string& key() const { return m_key; }
    const std::string& name() const { return m_name; }
    bool lowerIsBetter() const { return m_lower; }
    std::string number(double value) const;
    std::string interval(double low, double high) const;
    const char* unit() const { return m_percent ? " %" : ""; }
    const char* points() const { return m_percent ? " points" : ""; }
    /// The loss that a change of the metric means; positive is worse.
    double cost(double change) const { return m_lower ? change : -change; }
    /// A change with positive values for a loss, and its interval likewise.
    PairedChange lost(const PairedChange& change) const;
    PairedChange gained(const PairedChange& change) const;
    /// A loss in words: "0.2 points [-0.1, 0.5]".
    std::string amount(const PairedChange& change) const;
    /// The metric after a change, in words: "50.0 % [48.1, 51.6]".
    std::string after(const PairedChange& change, bool unit = true) const;
    /// The smallest loss that matters: 2 points of a fraction, or 5 % of what was learned above
    /// `untrained`, the metric of untrained models (NaN: above nothing), if that is more.
    double leastCost(double base, double untrained) const;

private:
    std::string m_key, m_name;
    bool m_percent, m_lower;
};

// Taking a part out
// -------------------------------------------------------------------------------------------------

/// The words for a part that was replaced in several ways.
enum class PartUse {
    Unmeasured,  ///< or measured on too few examples
    Needed,      ///< the mildest replacement costs
    Misleading,  ///< another example's values cost, the mildest replacement does not
    Harmful,     ///< the mildest replacement gains
    NotUsed,     ///< no replacement costs or gains as much as matters
    Used,        ///< all replacements cost something; not known is whether as much as matters
    Undecided    ///< none of these is shown
};
/// The word for a use: "needed", "misleading", "harmful", "not used", "used", "undecided";
/// empty for Unmeasured.
const char* partUseName(PartUse use);
/// Whether a model answers differently without such a part.
bool mattersBy(PartUse use);
struct UseClaim;
/// That word for a claim, or "needed together" for a part that is needed with others of its group.
std::string useWord(const UseClaim& claim);

struct Replacement {
    std::string by;    ///< "zero", "the attention of its layer at zero"
    std::string edit;  ///< the words of the edit that does it: "layer 1 relation 1 mean"
    PairedChange change;
    bool other = false;  ///< another example's values
    bool holds = false;  ///< takes out what holds the part
};

struct UseClaim {
    PartUse use = PartUse::Unmeasured;
    std::vector<Replacement> replacements;  ///< the mildest first
    double least = 0.0;                     ///< the loss that matters
    std::int64_t examples = 0;
    /// If Undecided: about how many examples would decide; 0: not known, or more than there are.
    std::int64_t examplesNeeded = 0;
    /// It is not needed alone, but with the others of its group: the group is needed, and without
    /// the others the model answers better with it than without it.
    bool together = false;
    std::string group;  ///< AblationRow::part of that group

    const Replacement& mildest() const { return replacements.front(); }
    const Replacement& harshest() const { return replacements.back(); }
    /// The one whose interval reaches furthest beyond the loss that matters, or beyond as large a
    /// gain: for which nothing can be said.
    const Replacement& deciding(const std::string& metric) const;
    /// The replacement by another example's values; the harshest one where there is none.
    const Replacement& otherExample() const {
        for (const auto& one : replacements)
            if (one.other) return one;
        return harshest();
    }
};

/// The claims of all rows of a table, which are corrected together. The replacements of a part also
/// include zeroing what holds it (the attention of its layer, or all relations of the layer) where
/// the table has that and it is the mildest. A row without its three ways has no claim, and none
/// has where the model answers no better than untrained ones.
struct UseClaims {
    std::vector<UseClaim> rows;  ///< as AblationTable::rows
    double least = 0.0;
    std::int64_t comparisons = 0;  ///< parts that were measured
    /// How many of these an uncorrected 95 % interval would claim, at most, by chance.
    double expectedFalsePositives = 0.0;
    bool better = true;  ///< answersBetter()
    const UseClaim* of(const AblationTable& table, const std::string& part) const;
};
/// Whether taking `holder` out takes `part` out together with other parts of its layer.
bool holdsPart(const AblationRow& holder, const AblationRow& part);
/// The row of the group that a part may be needed together with: all relations of its layer, or of
/// a head its attention; null: it has none, or the table lacks it.
const AblationRow* groupOf(const AblationTable& table, const AblationRow& part);
/// The claims of a table, beside its untrained models.
UseClaims useClaims(const AblationTable& table);

/// A claim in words, without a capital and a full stop: "without it accuracy falls from 93.1 to
/// between 87.6 (the attention of its layer at zero) and 51.7 % (another example's values)".
/// `it`: the part as an object of that clause; `noun`: "images".
std::string useClause(const UseClaim& claim, const MetricWords& words, const std::string& noun,
                      const std::string& it = "it");

/// A claim as a clause of a first line, without intervals and with three numbers at most: "without
/// it accuracy falls from 93.1 to between 87.6 and 51.7 %". `oneEnd`: with the milder end alone; an
/// empty `it`: "accuracy falls from ...".
std::string useMeaning(const UseClaim& claim, const MetricWords& words,
                       const std::string& it = "it", bool oneEnd = false);

}  // namespace relascope::core
