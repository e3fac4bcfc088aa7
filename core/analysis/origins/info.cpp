// SPDX-License-Identifier: GPL-3.0-or-later
// The options of qk-attribution, and its tables.
#include <cmath>

#include "analysis/origins/origins.h"
#include "analysis/parts/relation_field.h"
#include "answers/column_table.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
constexpr double kLargeParts = 10.0;  // cancellation above which terms are read against a cell

std::string originsSummary(const Answer& o) {
    const auto object = [&](const std::string& side) {
        const auto& words = o.text(side + "_text");
        return std::to_string(indexOf(o.number(side))) + (words.empty() ? "" : " " + quoted(words));
    };
    std::string head = o.text("map") + ", i " + object("i") + " -> j " + object("j") + ": score " +
                       numberText("%.4g", o.number("value"));
    if (const double capped = o.number("capped"); std::isfinite(capped))
        head += " (" + numberText("%.4g", capped) + " behind the cap)";
    const auto& against = o.text("against");
    const bool alone = against == "none";
    if (!alone) head += " against ";
    if (!alone) head += against == "row" ? "the mean of its row" : "cell (" + against + ")";
    head += " = sum of " + groupedNumber(indexOf(o.number("terms"))) + " terms";
    if (const double cancels = o.number("cancellation"); cancels > kLargeParts)
        head += "; large parts cancel (" + numberText("%.0f", cancels) +
                (alone ? " times the value): read against another cell" : " times the value)");
    return head;
}

const FieldTable<OriginOptions>& originFields() {
    using O = OriginOptions;
    constexpr double most = 1e9;
    static const FieldTable<O> table = {
        fields::integer(&O::layer, "layer", "Layer",
                        "layer, from 1; with --stack it counts in that stack", 1, 1000),
        fields::choice(&O::kind, "kind", "Map", "relation, attention-ra, attention-sa or cross",
                       {"relation", "attention-ra", "attention-sa", "cross"}),
        fields::integer(&O::index, "index", "Index", "index of the relation or head, from 1", 1,
                        1e6),
        relationField(&O::relation),
        fields::integer(&O::source, "source", "i", "token i of the cell, from 0", 0, most),
        fields::integer(&O::to, "to", "j", "token j of the cell, from 0", 0, most),
        fields::text(&O::stack, "stack", "Stack",
                     "encoder, decoder or abstractor, where a model has several"),
        fields::text(&O::against, "against", "against",
                     "none, row (the mean of the row; the default where a softmax follows), or a "
                     "cell I,J that is taken off"),
        fields::choice(&O::grain, "grain", "Grain",
                       "parts put together for the matrix: layers, heads or all",
                       {"layers", "heads", "all"}),
        fields::text(&O::tokens, "tokens_of", "Tokens of",
                     "a head of the table of parts, to be split by the tokens that it attended: "
                     "'layer 1 relational head 2'"),
        fields::integer(&O::top, "top", "Pairs", "how many of the strongest pairs of each sign", 1,
                        10000)};
    return table;
}

Answer originTables() {
    using namespace columns;
    const NumberFormat bar{4, false, true, true};
    const auto facts =
        tableWith("", "", fact("summary", "", {"Score"}), fact("map", ""), fact("i", 0),
                  fact("j", 0), fact("i_text", ""), fact("j_text", ""), fact("against", ""),
                  fact("value", 0.0), fact("capped", kNone), fact("sum", 0.0), fact("terms", 0),
                  fact("cancellation", 0.0), fact("tokens_of", ""));
    const std::vector<Column> parts = {
        text("part", {"Part"}),
        text("kind"),
        integer("layer"),
        integer("head"),
        integer("relation"),
        text("of"),
        text("stack"),
        number("value", {"Adds", bar, "Sum of its terms with all parts of the other side"})};
    const std::vector<Column> tokens = {
        integer("position", {"Token"}), text("token", {"Text"}),
        number("value", {"Adds", bar,
                         "What the part got from that token, with all parts of the other side"})};
    return {{facts,
             tableWith("pairs", "Strongest pairs", text("i", {"Part of i"}),
                       text("j", {"Part of j"}), number("value", {"Adds", bar})),
             tableWith("matrix", "Groups of parts", text("i", {"i"}), text("j", {"j"}),
                       number("value", {"Adds", {4, false, true}})),
             {"parts_i", "Parts of i", parts},
             {"parts_j", "Parts of j", parts},
             {"tokens_i", "Tokens of i: ", tokens},
             {"tokens_j", "Tokens of j: ", tokens}}};
}

const RegisterAnalysis kOrigins([] {
    Analysis a;
    a.name = "qk-attribution";
    a.needsWeights = true;
    a.place = 120;
    a.formerNames = {"origins"};
    a.title = "Where a score comes from";
    a.group = AnalysisGroup::Pairs;
    a.summary = "shows which parts of the streams of i and j a value of a map comes from";
    a.progressText = "Splitting the score into its parts";
    return answering(a, originFields(), OfferedIn::View);
});

}  // namespace relascope::core
