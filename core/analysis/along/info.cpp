// SPDX-License-Identifier: GPL-3.0-or-later
// The options of values along training, and the sentences beside them.
#include "analysis/along/along_training.h"
#include "types/text_piece.h"

namespace relascope::core {

const FieldTable<AlongChoice>& alongFields() {
    using O = AlongChoice;
    constexpr double most = 1e9;
    static const FieldTable<O> table = {
        fields::integer(&O::layer, "layer", "Layer", "layer, from 1", 1, 1000),
        fields::choice(&O::kind, "kind", "Map", "relation, attention-ra, attention-sa or symbols",
                       {mapKindName(MapKind::Relation), mapKindName(MapKind::RelationalAttention),
                        mapKindName(MapKind::SensoryAttention), mapKindName(MapKind::Symbols)}),
        fields::integer(&O::index, "index", "Index", "index of the relation or head, from 1", 1,
                        100000),
        fields::integer(&O::source, "source", "i", "token i of the cell, from 0", 0, most),
        fields::integer(&O::to, "to", "j", "token j of the cell, from 0", 0, most),
        fields::text(&O::answer, "answer", "Answer", "a class, token or id, else the likeliest")};
    return table;
}

const RegisterAnalysis kAlongTraining([] {
    Analysis a;
    a.name = "along";
    a.place = 70;
    a.title = "Along training";
    a.summary = "shows a cell of a map and an answer at every kept step of a run";
    a.progressText = "Running the input at every kept step";
    a.input = AnalysisInput::KeptSteps;
    a.continues = true;
    a.remark = [](const Answer& result) {
        const auto& answer = result;
        return answer.number("answer") < 0 ? std::string()
                                           : "probability of " + quoted(answer.text("answer_name"));
    };
    return answering(a, alongFields(), OfferedIn::View);
});

}  // namespace relascope::core
