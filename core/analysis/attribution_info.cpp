// SPDX-License-Identifier: GPL-3.0-or-later
// What direct attribution may be asked for, and its result as text.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/answer_names.h"
#include "analysis/attribution.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {

const FieldTable<AttributionChoice>& attributionFields() {
    using O = AttributionChoice;
    constexpr double all = 1e15;
    static const FieldTable<O> table = {
        fields::text(&O::logit, "logit", "Logit of",
                     "the answer: a class, the text of a token, or an id; by default the model's "
                     "own"),
        fields::text(&O::minus, "minus", "minus", "an answer whose logit is taken off"),
        fields::integer(&O::position, "position", "at position",
                        "position, from 0; negative numbers count from the end (-1)", -all, all)};
    return table;
}

namespace {

constexpr double kShownRelation = 0.05;  // of the largest part, on a terminal

std::string csvOf(const Attribution& r) {
    std::ostringstream text;
    text.precision(9);
    text << "part,kind,layer,head,relation,inside,value\n";
    const auto counted = [](int at) { return at < 0 ? std::string() : std::to_string(at + 1); };
    for (const auto& part : r.parts)
        text << csvField(part.text()) << ',' << csvField(partKindName(part.kind)) << ','
             << counted(part.layer) << ',' << counted(part.head) << ',' << counted(part.relation)
             << ',' << part.inside() << ',' << part.value << "\n";
    return text.str();
}

nlohmann::ordered_json jsonOf(const Attribution& r) {
    using Json = nlohmann::ordered_json;
    Json parts = Json::array();
    for (const auto& part : r.parts) {
        Json one = {{"part", part.text()}, {"kind", partKindName(part.kind)}};
        if (part.layer >= 0) one["layer"] = part.layer + 1;
        if (part.head >= 0) one["head"] = part.head + 1;
        if (part.relation >= 0) one["relation"] = part.relation + 1;
        if (!part.where.empty()) one["of"] = part.where;
        one["inside"] = part.inside(), one["value"] = part.value;
        parts.push_back(std::move(one));
    }
    return {{"position", r.whole ? Json() : Json(r.position)},
            {"input", r.input},
            {"answer", answerJson(r.answer)},
            {"minus", r.minus.id < 0 ? Json() : answerJson(r.minus)},
            {"logit", r.logit},
            {"sum", r.sum()},
            {"parts", std::move(parts)}};
}

std::string terminalText(const Attribution& r) {
    std::ostringstream out;
    out << "logit of " << quoted(r.answer.name);
    if (r.minus.id >= 0) out << " minus that of " << quoted(r.minus.name);
    if (!r.whole) out << " at position " << r.position;
    if (!r.input.empty()) out << " (" << quoted(r.input) << ")";
    out << ": " << numberText("%.4f", r.logit) << "\n";
    double most = 1e-30;
    for (const auto& part : r.parts) most = std::max(most, std::abs(part.value));
    std::size_t small = 0;
    for (const auto& part : r.parts) {
        const double share = std::abs(part.value) / most;
        if (part.kind == PartKind::Relation && share < kShownRelation) {
            ++small;
            continue;
        }
        const auto less = barText('-', -part.value / most, 20),
                   more = barText('+', part.value / most, 20);
        out << cellText((part.inside() ? "    " : "") + part.text(), 44)
            << cellText(numberText("%.4f", part.value), 11, true) << "  "
            << cellText("", 20 - less.size()) << less << "|" << more << "\n";
    }
    out << cellText("sum, without what is inside a head", 44)
        << cellText(numberText("%.4f", r.sum()), 11, true) << "\n";
    if (small > 0)
        out << small
            << " relations of less than 5 % of the largest part are left out; --json "
               "and --out have them\n";
    return out.str();
}

}  // namespace

const Analysis& attributionAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "attribute";
        a.title = "Attribution";
        a.summary = "shows what each part of a model adds to an answer";
        a.doing = "Splitting the logit into its parts";
        return analysisOf<AttributionChoice, Attribution>(a, attributionFields(), OfferedIn::View,
                                                          csvOf, terminalText, jsonOf);
    }();
    return analysis;
}

}  // namespace relascope::core
