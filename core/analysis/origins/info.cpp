// SPDX-License-Identifier: GPL-3.0-or-later
// The options of qk-attribution, and its tables.
#include <cmath>

#include "analysis/origins/origins.h"
#include "answers/column_table.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr double kLargeParts = 10.0;  // cancellation above which terms are read against a cell

// The cell, its value and how many terms it is made of.
std::string originsHead(const Origins& o) {
    const auto object = [](int at, const std::string& words) {
        return std::to_string(at) + (words.empty() ? "" : " " + quoted(words));
    };
    std::string head = o.map + ", i " + object(o.i, o.iText) + " -> j " + object(o.j, o.jText) +
                       ": score " + numberText("%.4g", o.value);
    if (std::isfinite(o.capped)) head += " (" + numberText("%.4g", o.capped) + " behind the cap)";
    const bool alone = o.against == "none";
    if (!alone) head += " against ";
    if (!alone) head += o.against == "row" ? "the mean of its row" : "cell (" + o.against + ")";
    head += " = sum of " + groupedNumber(o.terms) + " terms";
    if (o.cancellation > kLargeParts)
        head += "; large parts cancel (" + numberText("%.0f", o.cancellation) +
                (alone ? " times the value): read against another cell" : " times the value)");
    return head;
}

}  // namespace

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

Answer answerOf(const Origins& origins) {
    using columns::derived;
    const NumberFormat bar{4, false, true, true}, plain{4, false, true};
    const ColumnTable<OriginTerm> pairs = {
        columns::text(&OriginTerm::i, "i", {"Part of i"}),
        columns::text(&OriginTerm::j, "j", {"Part of j"}),
        columns::number(&OriginTerm::value, "value", {"Adds", bar})};
    const ColumnTable<OriginTerm> matrix = {
        columns::text(&OriginTerm::i, "i", {"i"}), columns::text(&OriginTerm::j, "j", {"j"}),
        columns::number(&OriginTerm::value, "value", {"Adds", plain})};
    const auto number = [](const char* key, int AttributionPart::*member) {
        return columns::countedBy<OriginPart>(
            key, [member](OriginPart& p) -> int& { return p.part.*member; });
    };
    const ColumnTable<OriginPart> parts = {
        derived<OriginPart>(ColumnKind::Text, "part", {"Part"},
                            [](const OriginPart& p) { return p.text(); }),
        derived<OriginPart>(ColumnKind::Text, "kind", {},
                            [](const OriginPart& p) { return partKindName(p.part.kind); }),
        number("layer", &AttributionPart::layer),
        number("head", &AttributionPart::head),
        number("relation", &AttributionPart::relation),
        derived<OriginPart>(ColumnKind::Text, "of", {},
                            [](const OriginPart& p) { return p.part.where; }),
        columns::text(&OriginPart::stack, "stack"),
        derived<OriginPart>(ColumnKind::Number, "value",
                            {"Adds", bar, "Sum of its terms with all parts of the other side"},
                            [](const OriginPart& p) { return p.part.value; })};
    const ColumnTable<OriginToken> tokens = {
        columns::integer(&OriginToken::position, "position", {"Token"}),
        columns::text(&OriginToken::token, "token", {"Text"}),
        columns::number(&OriginToken::value, "value",
                        {"Adds", bar,
                         "What the part got from that token, with all parts of the "
                         "other side"})};
    const ColumnTable<Origins> facts = {
        derived<Origins>(ColumnKind::Text, "summary", {"Score"}, originsHead),
        columns::text(&Origins::map, "map"),
        columns::integer(&Origins::i, "i"),
        columns::integer(&Origins::j, "j"),
        columns::text(&Origins::iText, "i_text"),
        columns::text(&Origins::jText, "j_text"),
        columns::text(&Origins::against, "against"),
        columns::number(&Origins::value, "value"),
        columns::number(&Origins::capped, "capped"),
        columns::number(&Origins::sum, "sum"),
        columns::integer(&Origins::terms, "terms"),
        columns::number(&Origins::cancellation, "cancellation"),
        columns::text(&Origins::tokensOf, "tokens_of")};
    Answer answer{{factsOf(facts, origins),
                   tableOf("pairs", "Strongest pairs", pairs, origins.pairs),
                   tableOf("matrix", "Groups of parts", matrix, origins.matrix),
                   tableOf("parts_i", "Parts of i", parts, origins.partsI),
                   tableOf("parts_j", "Parts of j", parts, origins.partsJ)}};
    const auto add = [&](const char* key, const std::string& title, int at,
                         const std::vector<OriginToken>& rows) {
        if (rows.empty()) return;
        answer.tables.push_back(tableOf(key, title, tokens, rows));
        for (const auto& token : rows) {
            auto link = origins.from;
            link.i = at, link.j = token.position;
            answer.tables.back().links.push_back(link);
        }
    };
    add("tokens_i", "Tokens of i: " + origins.tokensOf, origins.i, origins.tokensI);
    add("tokens_j", "Tokens of j: " + origins.tokensOf, origins.j, origins.tokensJ);
    return answer;
}

const RegisterAnalysis kOrigins([] {
    Analysis a;
    a.name = "qk-attribution";
    a.place = 120;
    a.formerNames = {"origins"};
    a.title = "Where a score comes from";
    a.group = AnalysisGroup::Pairs;
    a.summary = "shows which parts of the streams of i and j a value of a map comes from";
    a.progressText = "Splitting the score into its parts";
    return answering(a, originFields(), OfferedIn::View);
});

}  // namespace relascope::core
