// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/pair_preference.h"

#include <algorithm>
#include <cmath>

#include "analysis/pairs/claims.h"
#include "answers/answer_text.h"
#include "answers/column_table.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr double kEvenChance = 0.5;

std::pair<double, double> rangeOf(const std::vector<double>& values) {
    if (values.empty()) return {columns::kNone, columns::kNone};
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {*low, *high};
}

/// What keeps "prefers" from being said; empty: nothing.
std::string reasonAgainst(const PairPreference& one) {
    if (!enoughToSay(one.pairs, false)) return tooFewText(one.pairs, false, "pairs");
    if (!(one.low > kEvenChance) && one.words >= kFewestWords)
        return "the interval is not above 50 %";
    if (one.words < kFewestWords)
        return "the pairs differ in " + std::to_string(one.words) +
               (one.words == 1 ? " set of words" : " sets of words") + ", and " +
               std::to_string(kFewestWords) + " or more are needed";
    if (one.untrained.size() < kFewestUntrained)
        return "whether untrained models do as well takes " + std::to_string(kFewestUntrained) +
               " of them or more";
    if (!shareAbove(one.low, kEvenChance, one.untrained))
        return "an untrained model may do as well";
    if (one.frequencies >= one.low) return "word frequencies alone may do as well";
    return {};
}

}  // namespace

bool prefersGood(const PairPreference& accuracy) {
    return reasonAgainst(accuracy).empty();
}

std::string preferenceText(const PairPreference& one) {
    const MetricWords words("pair_accuracy");
    const auto reason = reasonAgainst(one);
    auto text =
        std::string(reason.empty() ? "the model prefers the good sentences: "
                                   : "the model is not shown to prefer the good sentences: ") +
        words.number(one.accuracy) + " % " + words.interval(one.low, one.high) +
        " are likelier (50 is chance";
    if (!one.untrained.empty()) text += ", " + untrainedShares(one.untrained);
    if (std::isfinite(one.frequencies))
        text += ", word frequencies alone " + words.number(one.frequencies) + " %";
    return text + ")" + (reason.empty() ? "" : "; " + reason);
}

std::string phenomenonTitle(const std::string& name) {
    auto words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    return capitalized(words);
}

std::vector<std::string> pairSentences(const std::vector<PairPreference>& phenomena) {
    std::vector<std::string> sentences;
    std::string rest, unequal;
    std::size_t others = 0;
    for (const auto& one : phenomena) {
        const auto title = phenomenonTitle(one.phenomenon);
        // What only seems to be preferred is said, too; the rest is counted.
        const bool seems = enoughToSay(one.pairs, false) && 2 * one.right > one.pairs &&
                           (one.low > kEvenChance || one.words < kFewestWords);
        if (prefersGood(one) || seems)
            sentences.push_back(title + ": " + preferenceText(one) + ".");
        else
            rest += (others++ == 0 ? "" : ", ") + title;
        if (one.unequal > 0)
            unequal += (unequal.empty() ? "" : "; ") + title + ": " + groupedNumber(one.unequal) +
                       " of " + groupedNumber(one.pairs) +
                       ", of which the good sentence has fewer in " + groupedNumber(one.shorter);
    }
    if (others > 0)
        sentences.push_back("Nothing can be said of " + std::to_string(others) +
                            (others == 1 ? " phenomenon: " : " phenomena: ") + rest + ".");
    if (!unequal.empty())
        sentences.push_back(
            "Sentences of a pair that have different numbers of tokens favour the shorter one in a "
            "model that knows nothing. " +
            unequal + ".");
    return sentences;
}

Table accuracyTable(const std::vector<PairPreference>& rows, bool named) {
    using namespace columns;
    const NumberFormat percent{1, true}, nats{2, false, true};
    auto table = tableWith(
        named ? "phenomena" : "", named ? "Phenomena" : "",
        integer(named ? "pairs" : "count", {"Pairs"}), integer("right"),
        integer("ties", {"Ties", {}, "Equal scores, which are not right"}),
        number("pair_accuracy", {"Pair accuracy", percent,
                                 "How often the good sentence is the more likely one; 95 % "
                                 "interval, in which pairs that "
                                 "differ in the same words count together",
                                 "low", "high"}),
        number("low", {{}, percent}), number("high", {{}, percent}),
        number("untrained", {"Untrained", percent,
                             "Mean and range of models with fresh weights on the same pairs",
                             "untrained_low", "untrained_high"}),
        number("untrained_low", {{}, percent}), number("untrained_high", {{}, percent}),
        number("frequencies",
               {"Frequencies", percent,
                "By how often each token occurs in the training text, and nothing else"}),
        integer("words", {"Words", {}, "How many sets of words the pairs differ in"}),
        integer("unequal_tokens",
                {"Unequal", {}, "Pairs whose sentences have different numbers of tokens"}),
        integer("good_shorter",
                {"Shorter", {}, "Pairs whose good sentence has fewer tokens than the wrong one"}),
        flag("preferred", {"Preferred",
                           {},
                           "The interval is above 50 %, above all untrained models and above "
                           "frequencies; from 50 "
                           "pairs with 6 sets of words on"}),
        number("difference", {"Difference", nats,
                              "Mean score of the good sentence less that of the wrong one, nats",
                              "difference_low", "difference_high"}),
        number("difference_low", {{}, nats}), number("difference_high", {{}, nats}));
    auto phenomenon = text("phenomenon", {"Phenomenon"}), term = text("term", {"Term"});
    for (const auto& row : rows) {
        double sum = 0.0;
        for (const double one : row.untrained) sum += one;
        const auto [least, most] = rangeOf(row.untrained);
        addRow(table, row.pairs, row.right, row.ties, row.accuracy, row.low, row.high,
               sum / static_cast<double>(row.untrained.size()), least, most, row.frequencies,
               row.words, row.unequal, row.shorter, prefersGood(row), row.difference,
               row.differenceLow, row.differenceHigh);
        add(phenomenon, row.phenomenon), add(term, row.term);
    }
    if (named) table.columns.insert(table.columns.begin(), {phenomenon, term});
    return table;
}

std::string pairsRemark(const Answer& answer) {
    std::string text;
    const auto count = [&](const char* key) {
        return answer.has(key) ? static_cast<std::int64_t>(answer.number(key)) : 0;
    };
    const auto add = [&](const std::string& sentence) {
        text += (text.empty() ? "" : " ") + sentence;
    };
    if (const auto left = count("left_out"); left > 0)
        add(groupedNumber(left) + (left == 1 ? " pair is" : " pairs are") +
            " left out: longer than the context of the model; the first, " +
            answer.text("first_left_out") + ".");
    if (const auto unknown = count("unknown_characters"); unknown > 0)
        add(groupedNumber(unknown) + (unknown == 1 ? " character is" : " characters are") +
            " unknown to the tokenizer.");
    if (const auto alike = count("alike"); alike > 0)
        add("In " + groupedNumber(alike) + (alike == 1 ? " pair" : " pairs") +
            " both sentences are the same tokens, so that no model with this tokenizer can prefer "
            "one: such pairs count as not right, and 50 % is no chance for them; the first, " +
            answer.text("first_alike") + ".");
    if (answer.has("frequencies") && std::isnan(answer.number("frequencies")))
        add("The training text of this model is not known: word frequencies are not compared.");
    if (answer.has("read_before") && answer.text("read_before").empty())
        add("This tokenizer has no beginning token: the first token of a sentence is only read.");
    return text;
}

}  // namespace relascope::core
