// SPDX-License-Identifier: GPL-3.0-or-later
// What may be said of a fitted relation.
#include <algorithm>
#include <cmath>

#include "analysis/fitted/fitted.h"
#include "analysis/pairs/claims.h"
#include "answers/answer_text.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr double kReadable = 0.6;      // that an AUC's interval is above
constexpr double kBeyondFresh = 0.05;  // or half of what untrained models miss to 1,
constexpr double kLeastBeyond = 0.01;  // but never less: near 1 half of nothing shows nothing
constexpr double kLogitDeviations = 4.0;
constexpr std::int64_t kFewestPairs = 50;  // of either kind
constexpr double kOneSidedLevel = 0.025;
constexpr double kLeastStrength = 0.95;  // share of the variance of random subspaces, of its own

double logitOf(double p) {
    const double inside = std::clamp(p, 1e-4, 1.0 - 1e-4);
    return std::log(inside / (1.0 - inside));
}

bool beyondFresh(double auc, double low, const std::vector<double>& untrained) {
    if (untrained.size() < kFewestUntrained) return false;
    const double most = *std::max_element(untrained.begin(), untrained.end());
    const double least = std::max(kLeastBeyond, std::min(kBeyondFresh, 0.5 * (1.0 - most)));
    if (auc - most < least || low <= most) return false;
    double sum = 0.0, squares = 0.0;
    for (const double one : untrained) sum += logitOf(one);
    const double count = static_cast<double>(untrained.size()), mean = sum / count;
    for (const double one : untrained) squares += std::pow(logitOf(one) - mean, 2);
    return logitOf(auc) - mean > kLogitDeviations * std::sqrt(squares / (count - 1.0));
}

std::string auc(double value) {
    return numberText("%.3f", value);
}

std::string rangeOf(const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return auc(*low) + (auc(*low) == auc(*high) ? "" : " to " + auc(*high));
}

std::string chanceOf(const FittedFacts& facts) {
    std::string text;
    if (!facts.untrained.empty()) text += "untrained models " + rangeOf(facts.untrained);
    if (std::isfinite(facts.pixels))
        text += (text.empty() ? "the input " : ", the input ") + auc(facts.pixels);
    return text;
}

std::string removalSentence(const FittedFacts& facts, std::int64_t which) {
    const MetricWords words(facts.metric);
    const auto& one = facts.removals[static_cast<std::size_t>(which)];
    const auto lost = [&](double change) {
        return words.number(words.cost(change)) + words.points();
    };
    const bool all = words.lowerIsBetter();
    return "With " + std::to_string(one.dimensions) + " of its directions at their mean (" +
           numberText("%.1f", 100.0 * one.variance) + " % of the variance) " + words.name() +
           (all ? " rises by " : " falls by ") + words.amount(one.change) + "; " +
           std::to_string(one.random) + " random subspaces as strong: by " + lost(one.randomMean) +
           " (" + lost(std::max(one.randomLow, one.randomHigh)) + " to " +
           lost(std::min(one.randomLow, one.randomHigh)) + ").";
}

// Weaker subspaces are no control: of some dimensions none holds as much of the variance.
bool randomIsWeaker(const FittedFacts::Removal& one) {
    return one.randomVariance < kLeastStrength * one.variance;
}

}  // namespace

FittedWords fittedWords(const FittedFacts& facts) {
    FittedWords words;
    words.enough = facts.examples >= kFewestToSay && std::min(facts.yes, facts.no) >= kFewestPairs;
    if (!words.enough) return words;
    const double exchanged =
        facts.exchanged.empty() ? 0.0
                                : *std::max_element(facts.exchanged.begin(), facts.exchanged.end());
    words.read = facts.low > kReadable && facts.low > exchanged && facts.beyondPlaceLow > 0.0 &&
                 facts.beyondSideLow > 0.0;
    words.learned = words.read && beyondFresh(facts.auc, facts.low, facts.untrained);
    if (!words.read || facts.removals.empty() ||
        !answersBetter(facts.metric, facts.base, facts.untrainedMetric))
        return words;
    const MetricWords metric(facts.metric);
    const double least = metric.leastCost(facts.base, untrainedMean(facts.untrainedMetric));
    std::vector<double> p;
    for (const auto& one : facts.removals) p.push_back(pAbove(metric.lost(one.beyond), 0.0));
    const auto shown = holm(p, kOneSidedLevel);
    for (std::size_t k = 0; k < facts.removals.size() && words.carries < 0; ++k) {
        const auto& one = facts.removals[k];
        if (one.rank <= facts.keptRank && shown[k] && !randomIsWeaker(one) &&
            20 * one.cheaper >= 19 * one.random && one.random > 0 &&
            metric.cost(one.change.change) > least)
            words.carries = static_cast<std::int64_t>(k);
    }
    return words;
}

std::vector<std::string> fittedSentences(const FittedFacts& facts) {
    const auto words = fittedWords(facts);
    std::vector<std::string> all;
    const auto name = quoted(capitalized(facts.fact));
    if (!words.enough) {
        all.push_back("Nothing can be said from " + std::to_string(facts.examples) + " " +
                      facts.noun + " to test, with " + groupedNumber(facts.yes) +
                      " pairs of yes and " + groupedNumber(facts.no) + " of no; " +
                      std::to_string(kFewestToSay) + " " + facts.noun + " and " +
                      std::to_string(kFewestPairs) + " pairs of each are needed.");
        if (facts.leftOut > 0)
            all.push_back(groupedNumber(facts.leftOut) + " " + facts.noun +
                          " were left out, since each split has at most 200,000 pairs; "
                          "masks, or a file of --attributes, may say which pairs count.");
        return all;
    }
    const auto chance = chanceOf(facts);
    const auto where = "from the stream " + facts.layer;
    if (!words.read)
        all.push_back(name + " cannot be read this way " + where + ": AUC " + auc(facts.auc) +
                      " [" + auc(facts.low) + ", " + auc(facts.high) + "], place alone " +
                      auc(facts.place) + ", one side alone " + auc(facts.oneSide) + ".");
    else if (words.learned || facts.untrained.size() < kFewestUntrained)
        all.push_back(name + " can be read " + where + " by a fitted relation (" + facts.form +
                      "): AUC " + auc(facts.auc) + " [" + auc(facts.low) + ", " + auc(facts.high) +
                      "] on " + std::to_string(facts.examples) + " " + facts.noun +
                      " that it was not fitted on" + (chance.empty() ? "" : "; " + chance) +
                      (words.learned ? ": it was learned." : "."));
    else
        all.push_back(name + " can be read (" + auc(facts.auc) + "), as from untrained models (" +
                      rangeOf(facts.untrained) + ")" +
                      (std::isfinite(facts.pixels) ? " and the input (" + auc(facts.pixels) + ")"
                                                   : std::string()) +
                      ": nothing is shown to have been learned for it.");
    if (words.read && facts.untrained.size() < kFewestUntrained)
        all.push_back("Whether it was learned takes " + std::to_string(kFewestUntrained) +
                      " untrained models or more.");
    if (facts.layers > 1)
        all.push_back("The layer is the best of " + std::to_string(facts.layers) +
                      " on other examples.");
    if (!facts.converged)
        all.push_back("The fit did not reach its minimum: its numbers may change with more steps.");
    if (facts.ridgeAtEnd)
        all.push_back(
            "The best ridge is the smallest that was tried: more may be read with a "
            "smaller one.");
    if (facts.removals.empty() || !words.read) return all;
    if (!answersBetter(facts.metric, facts.base, facts.untrainedMetric)) {
        all.push_back(noBetterText(facts.metric, facts.base, facts.untrainedMetric));
        return all;
    }
    if (words.carries >= 0) {
        all.push_back(removalSentence(facts, words.carries));
        return all;
    }
    const auto weaker = std::count_if(facts.removals.begin(), facts.removals.end(), randomIsWeaker);
    if (weaker == std::ssize(facts.removals))
        all.push_back(
            "Whether it is used cannot be said: no random subspace holds as much of the "
            "variance.");
    else
        all.push_back(
            "It is not shown to be used: at no rank was it found to cost more than random "
            "subspaces as strong" +
            std::string(weaker > 0 ? "; where none is as strong nothing is compared." : "."));
    return all;
}

}  // namespace relascope::core
