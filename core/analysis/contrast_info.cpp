// SPDX-License-Identifier: GPL-3.0-or-later
// The options of contrast, and its tables.
#include <cmath>

#include "analysis/claims.h"
#include "analysis/contrast.h"
#include "answers/column_table.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr double kMuchCancels = 2.0;  // sum of |shares| above which large parts cancel

// What was compared, by how much, and what tells it.
std::string contrastHead(const Contrast& c) {
    const auto range = [](double low, double high, const char* format) {
        return " [" + numberText(format, low) + ", " + numberText(format, high) + "]";
    };
    std::string head = c.map + ", " + quoted(c.attribute) + " on " + groupedNumber(c.examples) +
                       " " + c.noun + ": the score differs by " + numberText("%.3g", c.difference) +
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
        head += "; taking it off changes " + words.name() + " by " + words.number(c.change) +
                words.points() + " " + words.interval(c.changeLow, c.changeHigh);
    }
    if (c.cancellation > kMuchCancels)
        head += ". Large shares cancel: together they are " +
                numberText("%.0f %%", 100.0 * c.cancellation);
    return head;
}

}  // namespace

const FieldTable<ContrastOptions>& contrastFields() {
    using O = ContrastOptions;
    static const FieldTable<O> table = {
        fields::integer(&O::layer, "layer", "Layer", "layer, from 1", 1, 1000),
        fields::choice(&O::kind, "kind", "Map", "relation, attention-ra or attention-sa",
                       {"relation", "attention-ra", "attention-sa"}),
        fields::integer(&O::index, "index", "Index", "index of the relation or head, from 1", 1,
                        1e6),
        fields::text(&O::attribute, "attribute", "Attribute",
                     "what separates the pairs: an attribute of the atlas, as 'same object'"),
        fields::integer(&O::examples, "examples", "Examples",
                        "examples that are described, at most", 2, 1e6),
        fields::choice(&O::by, "by", "By",
                       "what comes first: parts of the streams, or facts of "
                       "the objects",
                       {"parts", "facts"}),
        fields::text(&O::through, "through", "Through",
                     "a head of both sides, to be split by where it brought its part from: "
                     "'layer 1 relational head 1 relation 1'"),
        fields::boolean(&O::use, "use", "Use",
                        "also the metric without the strongest pair of parts"),
        fields::integer(&O::untrained, "untrained", "Untrained",
                        "untrained models that are compared", 0, 100),
        fields::text(&O::attributes, "attributes", "Attributes",
                     "a CSV file of own attributes: columns example, i, j, and one for each "
                     "attribute")};
    return table;
}

Answer answerOf(const Contrast& contrast) {
    const NumberFormat bar{1, true, false, true}, plain{1, true};
    using S = ContrastShare;
    const auto table = [&](const char* key, const char* title, const char* i, const char* j,
                           const std::vector<S>& rows, bool sides) {
        ColumnTable<S> all;
        if (sides) all.push_back(columns::text(&S::side, "side", {"Side"}));
        all.push_back(columns::text(&S::i, "i", {i}));
        all.push_back(columns::text(&S::j, "j", {j}));
        all.push_back(columns::number(
            &S::share, "share",
            {"Share", bar, "Of the difference between pairs with yes and no", "low", "high"}));
        all.push_back(columns::number(&S::low, "low"));
        all.push_back(columns::number(&S::high, "high"));
        all.push_back(
            columns::number(&S::untrainedLow, "untrained_low", {"Untrained, least", plain}));
        all.push_back(
            columns::number(&S::untrainedHigh, "untrained_high", {"Untrained, most", plain}));
        return tableOf(key, title, all, rows);
    };
    using C = Contrast;
    const ColumnTable<C> facts = {
        columns::derived<C>(ColumnKind::Text, "says", {"Difference"}, contrastHead),
        columns::text(&C::map, "map"),
        columns::text(&C::attribute, "attribute"),
        columns::text(&C::data, "data"),
        columns::text(&C::noun, "noun"),
        columns::integer(&C::examples, "examples"),
        columns::integer(&C::yes, "yes"),
        columns::integer(&C::no, "no"),
        columns::number(&C::difference, "difference"),
        columns::number(&C::low, "low"),
        columns::number(&C::high, "high"),
        columns::number(&C::untrainedLow, "untrained_low"),
        columns::number(&C::untrainedHigh, "untrained_high"),
        columns::integer(&C::untrained, "untrained"),
        columns::flag(&C::first, "step_0"),
        columns::flag(&C::split, "split"),
        columns::number(&C::cancellation, "cancellation"),
        columns::text(&C::strongestI, "strongest_i"),
        columns::text(&C::strongestJ, "strongest_j"),
        columns::number(&C::auc, "auc"),
        columns::number(&C::alone, "alone"),
        columns::number(&C::without, "without"),
        columns::text(&C::metric, "metric"),
        columns::number(&C::base, "base"),
        columns::number(&C::change, "change"),
        columns::number(&C::changeLow, "change_low"),
        columns::number(&C::changeHigh, "change_high"),
        columns::text(&C::throughOf, "through_of")};
    Answer answer{{factsOf(facts, contrast)}};
    auto parts = table("parts", "By parts", "Part of i", "Part of j", contrast.parts, true);
    if (contrast.facts.empty()) {
        answer.tables.push_back(std::move(parts));
    } else {
        auto known = table("facts", "By facts", "Fact of i", "Fact of j", contrast.facts, false);
        if (contrast.byFacts) std::swap(parts, known);
        answer.tables.push_back(std::move(parts));
        answer.tables.push_back(std::move(known));
    }
    if (!contrast.through.empty())
        answer.tables.push_back(
            table("through", "Through", "i has it from", "j has it from", contrast.through, false));
    return answer;
}

const Analysis& contrastAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "contrast";
        a.title = "Contrast";
        a.summary = "shows which parts of the streams make a map tell pairs of objects apart";
        a.purpose =
            "Contrast takes the pairs that have an attribute and those that have not, and says "
            "which parts of the streams, and which facts of the objects, make the difference "
            "between their scores. Most models take seconds.";
        a.doing = "Comparing pairs";
        a.input = AnalysisInput::Data;
        a.onDemand = true;
        return answering(a, contrastFields(), OfferedIn::Row);
    }();
    return analysis;
}

}  // namespace relascope::core
