// SPDX-License-Identifier: GPL-3.0-or-later
// The options of direct attribution, and its result as tables.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "analysis/attribute/attribution.h"
#include "answers/column_table.h"
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

Answer answerOf(const Attribution& r) {
    using namespace columns;
    auto parts = tableWith("parts", "", text("part", {"Part"}), text("kind"), integer("layer"),
                           integer("head"), integer("relation"), flag("inside"),
                           number("value", {"Adds", {4, false, true}}), text("of"));
    for (const auto& part : r.parts)
        addRow(parts, part.text(), partKindName(part.kind), fromOne(part.layer), fromOne(part.head),
               fromOne(part.relation), part.inside(), part.value, part.where);
    auto facts = tableWith("", "", integer("position"), text("input"), text("answer"),
                           integer("answer_id"), text("minus"), integer("minus_id"),
                           number("logit"), number("sum"), integer("positions"));
    addRow(facts, r.whole ? kNone : static_cast<double>(r.position), r.input, r.answer.name,
           r.answer.id, r.minus.name, r.minus.id < 0 ? kNone : static_cast<double>(r.minus.id),
           r.logit, r.sum(), r.positions);
    return {{facts, parts, textsTable("offered", "answer", r.offered)}};
}

namespace {

constexpr double kShownRelation = 0.05;  // least share of the largest part, on a terminal

std::string attributionText(const Answer& result) {
    const auto& r = result;
    const auto& parts = r.table("parts");
    const auto &names = parts.texts("part"), &kinds = parts.texts("kind");
    const auto &values = parts.numbers("value"), &inside = parts.numbers("inside");
    std::ostringstream out;
    out << "logit of " << quoted(r.text("answer"));
    if (indexOf(r.number("minus_id")) >= 0) out << " minus that of " << quoted(r.text("minus"));
    if (const auto at = indexOf(r.number("position")); at >= 0) out << " at position " << at;
    if (!r.text("input").empty()) out << " (" << quoted(r.text("input")) << ")";
    out << ": " << numberText("%.4f", r.number("logit")) << "\n";
    double most = 1e-30;
    for (const double value : values) most = std::max(most, std::abs(value));
    std::size_t small = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
        const double share = values[k] / most;
        if (kinds[k] == partKindName(PartKind::Relation) && std::abs(share) < kShownRelation) {
            ++small;
            continue;
        }
        const auto less = barText('-', -share, 20), more = barText('+', share, 20);
        out << cellText((inside[k] != 0.0 ? "    " : "") + names[k], 44)
            << cellText(numberText("%.4f", values[k]), 11, true) << "  "
            << cellText("", 20 - less.size()) << less << "|" << more << "\n";
    }
    out << cellText("sum, without what is inside a head", 44)
        << cellText(numberText("%.4f", r.number("sum")), 11, true) << "\n";
    if (small > 0)
        out << small
            << " relations of less than 5 % of the largest part are left out; --json "
               "and --out have them\n";
    return out.str();
}

}  // namespace

const RegisterAnalysis kAttribution([] {
    Analysis a;
    a.name = "attribute";
    a.needsWeights = true;
    a.place = 50;
    a.title = "Attribution";
    a.summary = "shows what each part of a model adds to an answer";
    a.progressText = "Splitting the logit into its parts";
    a = answering(a, attributionFields(), OfferedIn::View);
    a.terminal = attributionText;
    return a;
});

}  // namespace relascope::core
