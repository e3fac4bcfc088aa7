// SPDX-License-Identifier: GPL-3.0-or-later
// The options of contrast, and its tables.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/contrast/contrast.h"
#include "analysis/pairs/claims.h"
#include "analysis/parts/relation_field.h"
#include "answers/column_table.h"
#include "answers/layout.h"
#include "files/command_line.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr double kMuchCancels = 2.0;  // sum of |shares| above which large parts cancel
// What a sentence asks for.
constexpr double kTooMuchCancels = 3.0, kComparison = 0.7, kFact = 0.15, kPartShare = 0.25,
                 kOneSide = 0.4, kBeyond = 0.1, kNearer = 0.05, kMostReach = 0.15;
constexpr std::size_t kFactsSaid = 4, kMostSentences = 2;

// What was compared, by how much, and what tells it.
std::string contrastHead(const Contrast& c) {
    const auto range = [](double low, double high, const char* format) {
        return " [" + numberText(format, low) + ", " + numberText(format, high) + "]";
    };
    std::string head = c.map + ", " + quoted(c.attribute) + " on " + groupedNumber(c.examples) +
                       " " + c.noun +
                       (c.different < c.examples ? " (" + groupedNumber(c.different) + " different)"
                                                 : std::string()) +
                       ": the score differs by " + numberText("%.3g", c.difference) +
                       range(c.low, c.high, "%.3g") + ", AUC " + numberText("%.3f", c.auc);
    if (c.untrained > 0)
        head += std::string("; untrained models ") + (c.first ? "and step 0 " : "") +
                numberText("%.3g", c.untrainedLow) + " to " + numberText("%.3g", c.untrainedHigh);
    if (!c.split) return head + ". It does not tell them apart by its mean; nothing is split";
    head += ". The strongest pair of parts is " + c.strongestI + " x " + c.strongestJ +
            ": alone AUC " + numberText("%.3f", c.alone) + ", without it " +
            numberText("%.3f", c.without);
    if (!c.metric.empty()) {
        const MetricWords words(c.metric);
        head += "; taking " + c.usedI + " x " + c.usedJ + " off changes " + words.name() + " by " +
                words.number(c.change) + words.points() + " " +
                words.interval(c.changeLow, c.changeHigh);
    }
    if (c.cancellation > kMuchCancels)
        head += ". Large shares cancel: together they are " +
                numberText("%.0f %%", 100.0 * c.cancellation);
    return head;
}

std::string wholePercent(double share) {
    return numberWithMinus(std::round(100.0 * share) + 0.0, 0);
}
/// "42 % [40, 45]".
std::string shareText(const ContrastShare& share) {
    return wholePercent(share.share) + " % [" + wholePercent(share.low) + ", " +
           wholePercent(share.high) + "]";
}
/// "11 to 13 %"; "none tells them apart".
std::string untrainedText(const ContrastShare& share) {
    if (std::isnan(share.untrainedLow)) return "none tells them apart";
    const auto low = wholePercent(share.untrainedLow), high = wholePercent(share.untrainedHigh);
    return (low == high ? low : low + " to " + high) + " %";
}
/// Whether the interval is narrow enough to be told: 15 points to either side.
bool isSure(const ContrastShare& share) {
    return (share.high - share.low) / 2.0 <= kMostReach;
}

/// How a share lies to those of all untrained models: beyond them by ten points, with an interval
/// that does not reach them.
enum class Beside { NotTold, More, Less };
Beside besideUntrained(const Contrast& c, const ContrastShare& share) {
    // Some of them alone are no spread.
    if (c.untrainedSplit < static_cast<std::int64_t>(kFewestUntrained))
        return c.untrainedSplit == 0 ? Beside::More : Beside::NotTold;
    if (share.share > share.untrainedHigh + kBeyond && share.low > share.untrainedHigh)
        return Beside::More;
    return share.share < share.untrainedLow - kBeyond && share.high < share.untrainedLow
               ? Beside::Less
               : Beside::NotTold;
}

/// By what facts of the objects the pairs differ.
std::string factSentence(const Contrast& c) {
    std::vector<const ContrastShare*> facts;
    const ContrastShare* rest = nullptr;
    std::size_t count = 0;
    for (const auto& share : c.facts) {
        if (share.i != share.j) continue;
        count += share.i != "rest";
        if (!isSure(share)) continue;
        if (share.i == "rest")
            rest = &share;
        else
            facts.push_back(&share);
    }
    std::stable_sort(facts.begin(), facts.end(),
                     [](const auto* a, const auto* b) { return a->share > b->share; });
    facts.resize(std::min(facts.size(), kFactsSaid));
    const auto found = [&](Beside how) -> const ContrastShare* {
        const auto at = std::find_if(facts.begin(), facts.end(), [&](const auto* one) {
            return one->share >= kFact && besideUntrained(c, *one) == how;
        });
        return at == facts.end() ? nullptr : *at;
    };
    std::string text = "Of what separates *" + c.attribute + "* from the rest ";
    if (!found(Beside::More)) {
        const auto* less = found(Beside::Less);
        if (!less) return {};
        return text + shareText(*less) + " is " + less->i + ", less than in untrained models (" +
               untrainedText(*less) + "): training turned it elsewhere.";
    }
    // As they are written the shares add up to 100 %.
    long left = 100;
    const auto add = [&](const ContrastShare& share, const std::string& words) {
        text += shareText(share) + words + ", ";
        left -= std::lround(100.0 * share.share);
    };
    for (const auto* fact : facts)
        add(*fact, (fact == facts.front() ? " is " : " ") + fact->i +
                       (c.untrainedSplit == 0 ? ""
                        : besideUntrained(c, *fact) == Beside::Less
                            ? " (less than in untrained models: " + untrainedText(*fact) + ")"
                            : " (untrained models: " + untrainedText(*fact) + ")"));
    if (rest)
        add(*rest, count == 1   ? " what it does not say"
                   : count == 2 ? " both together or neither"
                                : " several together or none");
    text += "the rest " + numberWithMinus(static_cast<double>(left), 0) + " %";
    return text + (c.untrainedSplit == 0 ? "; no untrained model tells them apart." : ".");
}

/// A head's part, "layer 1 relational head 2 relation 3": its words, and whether it is a part of
/// a head.
struct HeadWords {
    std::string text;
    bool inside = false;
};
HeadWords headWords(const std::string& part, const std::string& each) {
    int layer = 0, head = 0, relation = 0, end = 0;
    const auto* text = part.c_str();
    const auto whole = [&] { return end == static_cast<int>(part.size()); };
    const auto gave = " gave each " + each;
    if (std::sscanf(text, "layer %d relational head %d relation %d%n", &layer, &head, &relation,
                    &end) == 3 &&
        whole())
        return {"what relation " + std::to_string(relation) + " of layer " + std::to_string(layer) +
                    gave + " through head " + std::to_string(head),
                true};
    if (std::sscanf(text, "layer %d relational head %d symbols%n", &layer, &head, &end) == 2 &&
        whole())
        return {"what the symbols of layer " + std::to_string(layer) + gave + " through head " +
                    std::to_string(head),
                true};
    for (const char* kind : {"relational", "sensory"})
        if (std::sscanf(text, ("layer %d " + std::string(kind) + " head %d%n").c_str(), &layer,
                        &head, &end) == 2 &&
            whole())
            return {std::string("what ") + kind + " head " + std::to_string(head) + " of layer " +
                        std::to_string(layer) + gave,
                    false};
    return {};
}

/// Which part of both objects is compared, and what happens without it. What has a smaller share
/// than in untrained models is none that training made the map compare.
std::string partSentence(const Contrast& c) {
    if (c.layer < 2 || c.strongestI != c.strongestJ || c.cancellation > kTooMuchCancels) return {};
    const auto at = std::find_if(c.parts.begin(), c.parts.end(), [&](const auto& share) {
        return share.side == "both" && share.i == c.strongestI && share.j == c.strongestJ;
    });
    if (at == c.parts.end() || !(at->low >= kPartShare) || !isSure(*at)) return {};
    // The loss of the AUC, on the side that it has.
    const bool nearer = std::abs(c.without - 0.5) <= std::abs(c.auc - 0.5) - kNearer;
    const auto beside = besideUntrained(c, *at);
    if (beside == Beside::NotTold && !nearer) return {};
    const auto each = c.things.substr(0, c.things.size() - (c.things == "patches" ? 2 : 1));
    std::string what;
    int layer = 0, end = 0;
    if (c.strongestI == "embedding") {
        what = "the " + c.things + " themselves";
    } else if (std::sscanf(c.strongestI.c_str(), "layer %d feed-forward%n", &layer, &end) == 1 &&
               end == static_cast<int>(c.strongestI.size())) {
        what = "what the feed-forward of layer " + std::to_string(layer) + " made of each " + each;
    } else {
        const auto words = headWords(c.strongestI, each);
        if (words.text.empty() || (words.inside && c.cancellation > kMuchCancels)) return {};
        what = words.text;
        for (const auto& share : c.through)
            if (share.i == "the other" && share.j == "the other" && share.share > at->share / 2.0 &&
                c.throughOf == c.strongestI)
                what += " from the other (a relation of a relation)";
    }
    std::string text = beside == Beside::Less
                           ? shareText(*at) + " of the difference comes from comparing " + what +
                                 ", less than in untrained models (" + untrainedText(*at) +
                                 "): training turned it elsewhere"
                           : "It compares " + what + ": " + shareText(*at) +
                                 " (untrained models: " + untrainedText(*at) +
                                 (beside == Beside::More ? "" : ", so not shown to be learned") +
                                 ")";
    // As high as the word beside them, of an attribute that does not hold, too.
    const auto side = [&](double auc) { return numberText("%.2f", c.auc < 0.5 ? 1.0 - auc : auc); };
    const auto both = side(c.without) + " for " + side(c.auc);
    text += nearer ? "; without it the AUC of its scores is " + both
                   : "; the rest tells them apart as well (AUC of its scores " + both + ")";
    if (!c.metric.empty() && c.usedI == c.strongestI && c.usedJ == c.strongestJ) {
        const MetricWords words(c.metric);
        PairedChange change;
        change.metric = c.metric, change.base = c.base, change.edited = c.base + c.change;
        change.change = c.change, change.low = c.changeLow, change.high = c.changeHigh;
        text += "; taking that term out costs " + words.amount(change);
    }
    return text + ".";
}

/// What one object alone does.
std::string sideSentence(const Contrast& c) {
    if (c.cancellation > kTooMuchCancels) return {};
    for (const auto& side : c.sides) {
        // A softmax does not see what a receiver gives its whole row.
        if (side.side == "both" || (c.softmax && side.side == "receiver")) continue;
        if (side.low >= kOneSide && isSure(side) && besideUntrained(c, side) == Beside::More)
            return shareText(side) + " of the difference comes from the " + side.side +
                   " alone, which is no comparison (untrained models: " + untrainedText(side) +
                   ").";
    }
    return {};
}

}  // namespace

std::vector<std::string> sentencesOf(const Contrast& c) {
    const auto fresh = static_cast<std::size_t>(c.untrained);
    if (!c.split || fresh < kFewestUntrained || !enoughToSay(c.different, c.things == "tokens"))
        return {};
    if (!c.guard.empty()) return {c.guard};
    std::vector<std::string> sentences;
    const auto comparison = std::find_if(c.sides.begin(), c.sides.end(),
                                         [](const auto& side) { return side.side == "both"; });
    if (c.cancellation <= kMuchCancels && comparison != c.sides.end() &&
        comparison->share >= kComparison && isSure(*comparison))
        sentences.push_back(factSentence(c));
    sentences.push_back(partSentence(c));
    sentences.push_back(sideSentence(c));
    std::erase(sentences, std::string());
    sentences.resize(std::min(sentences.size(), kMostSentences));
    return sentences;
}

bool isHeadPart(const std::string& part) {
    return !headWords(part, {}).text.empty();
}

const FieldTable<ContrastOptions>& contrastFields() {
    using O = ContrastOptions;
    static const FieldTable<O> table = {
        fields::integer(&O::layer, "layer", "Layer", "layer, from 1", 1, 1000),
        fields::choice(&O::kind, "kind", "Map", "relation, attention-ra or attention-sa",
                       {"relation", "attention-ra", "attention-sa"}),
        fields::integer(&O::index, "index", "Index", "index of the relation or head, from 1", 1,
                        1e6),
        relationField(&O::relation, "; without untrained models"),
        fields::text(&O::attribute, "attribute", "Attribute",
                     "what separates the pairs: an attribute of the atlas, as 'same object'"),
        fields::integer(&O::examples, "examples", "Examples",
                        "examples that are described, at most", 2, 1e6),
        fields::choice(&O::by, "by", "By",
                       "what comes first: parts of the streams, or facts of "
                       "the objects",
                       {"parts", "facts"}),
        fields::text(&O::through, "through", "Split by the head",
                     "a head of both sides, to be split by where it brought its part from: "
                     "'layer 1 relational head 1 relation 1'"),
        fields::boolean(&O::use, "use", "Measure use",
                        "also the metric without the strongest pair of parts, or of facts"),
        fields::text(&O::use_of, "use_of", "Pair taken off",
                     "the pair that is taken off in place of the strongest one: 'embedding x "
                     "embedding', or facts, 'colour x colour'"),
        fields::integer(&O::untrained, "untrained", "Untrained",
                        "untrained models that are compared", 0, 100),
        fields::text(&O::attributes, "attributes", "Own attributes",
                     "a CSV file of own attributes: columns example, i, j, and one for each "
                     "attribute")};
    return table;
}

Answer answerOf(const Contrast& c) {
    using namespace columns;
    const auto table = [](const char* key, const char* title, const char* i, const char* j,
                          const std::vector<ContrastShare>& rows, bool sides) {
        auto all = tableWith(key, title, text("i", {i}), text("j", {j}),
                             number("share", {"Share",
                                              {1, true, false, true},
                                              "Of the difference between pairs with yes and no",
                                              "low",
                                              "high"}),
                             number("low"), number("high"),
                             number("untrained_low", {"Untrained, least", {1, true}}),
                             number("untrained_high", {"Untrained, most", {1, true}}));
        for (const auto& row : rows)
            addRow(all, row.i, row.j,
                   std::vector{row.share, row.low, row.high, row.untrainedLow, row.untrainedHigh});
        if (!sides) return all;
        all.columns.insert(all.columns.begin(), text("side", {"Side"}));
        for (const auto& row : rows) add(all.columns.front(), row.side);
        return all;
    };
    auto facts =
        tableWith("", "", fact("summary", contrastHead(c), {"Difference"}), fact("map", c.map),
                  fact("attribute", c.attribute), fact("data", c.data), fact("noun", c.noun),
                  fact("examples", c.examples), fact("different", c.different), fact("yes", c.yes),
                  fact("no", c.no), fact("difference", c.difference), fact("low", c.low),
                  fact("high", c.high), fact("untrained_low", c.untrainedLow),
                  fact("untrained_high", c.untrainedHigh), fact("untrained", c.untrained),
                  fact("untrained_split", c.untrainedSplit), fact("step_0", c.first),
                  fact("split", c.split), fact("cancellation", c.cancellation),
                  fact("strongest_i", c.strongestI), fact("strongest_j", c.strongestJ),
                  fact("auc", c.auc), fact("alone", c.alone), fact("without", c.without),
                  fact("metric", c.metric), fact("used_i", c.usedI), fact("used_j", c.usedJ),
                  fact("base", c.base), fact("change", c.change), fact("change_low", c.changeLow),
                  fact("change_high", c.changeHigh), fact("through_of", c.throughOf));
    Answer answer{{facts, table("parts", "By parts", "Part of i", "Part of j", c.parts, true)}};
    if (!c.facts.empty())
        answer.tables.insert(answer.tables.end() - (c.byFacts ? 1 : 0),
                             table("facts", "By facts", "Fact of i", "Fact of j", c.facts, false));
    if (!c.through.empty())
        answer.tables.push_back(
            table("through", "Through", "i has it from", "j has it from", c.through, false));
    // Of the sums the bars of the parts say the same.
    auto sides = tableWith("sides", "", text("side"), number("sum"), number("low"), number("high"),
                           number("untrained_low"), number("untrained_high"));
    for (const auto& row : c.sides)
        addRow(sides, row.side, row.share, row.low, row.high, row.untrainedLow, row.untrainedHigh);
    answer.tables.push_back(sides);
    auto sentences = sentencesOf(c);
    for (auto& sentence : sentences) std::replace(sentence.begin(), sentence.end(), '*', '\'');
    answer.tables.push_back(textsTable("sentences", "sentence", std::move(sentences)));
    answer.tables.back().columns.front().title = "What this says";
    return answer;
}

namespace {

std::string contrastAbout(const Seen& seen) {
    return seen.answer.text("map") + ", \u201C" + seen.answer.text("attribute") + "\u201D";
}

Layout contrastLayout() {
    const auto summary = [](const Seen& seen) { return seen.answer.text("summary"); };
    Layout::Tables tables{"", shownTables};
    tables.most = 12;  // the bars say the rest
    tables.sorted = false;
    tables.inFigure = [](const Table& table) { return table.find("share") && table.rows() > 0; };
    Layout layout{
        contrastAbout,  // the sentence itself is too long for the head
        {{Layout::Shares{summary}, 4}, {shownSentences(), 2, Layout::Place::Window}, {tables, 3}}};
    layout.heads = [summary](const Seen& seen) {
        using H = Layout::Heading;
        return std::vector<H>{{H::Title, contrastAbout(seen)},
                              {H::Text, summary(seen)},
                              {H::Text, shownSentences().text(seen)}};
    };
    layout.figureWidth = 900;
    layout.ruled = false;
    return layout;
}

}  // namespace

const RegisterAnalysis kContrast([] {
    Analysis a;
    a.name = "contrast";
    a.needsWeights = true;
    a.place = 100;
    a.title = "Contrast";
    a.group = AnalysisGroup::Pairs;
    a.summary = "shows which parts of the streams make a map tell pairs of objects apart";
    a.purpose =
        "Contrast takes the pairs that have an attribute and those that have not, and says "
        "which parts of the streams, and which facts of the objects, make the difference "
        "between their scores. Most models take seconds.";
    a.progressText = "Comparing pairs";
    a.layout = contrastLayout;
    a.input = AnalysisInput::Data;
    a.onDemand = true;
    a = answering(a, contrastFields(), OfferedIn::Row);
    for (auto& field : a.fields) field.attribute = field.spec.name == "attribute";
    return a;
});

std::string contrastOptionText(const ContrastOptions& o) {
    std::vector<std::string> words;
    addField(words, "layer", o.layer);
    addField(words, "kind", o.kind);
    addField(words, "index", o.index);
    addField(words, "attribute", o.attribute);
    addField(words, "examples", o.examples);
    addField(words, "untrained", o.untrained);
    if (!o.through.empty()) addField(words, "through", o.through);
    addField(words, "use", o.use);
    if (!o.attributes.empty()) addField(words, "attributes", o.attributes);
    return shellText(words);
}

}  // namespace relascope::core
