// SPDX-License-Identifier: GPL-3.0-or-later
// The options of shares, and their tables.
#include "analysis/shares/shares.h"
#include "answers/column_table.h"

namespace relascope::core {

const FieldTable<ShareOptions>& shareFields() {
    static const FieldTable<ShareOptions> table = {
        fields::integer(&ShareOptions::examples, "examples", "Examples",
                        "number of examples, at most; of text a tenth as many windows", 2, 1e8)};
    return table;
}

Answer answerOf(const LayerShares& shares) {
    using Row = LayerShare;
    using columns::derived;
    const NumberFormat bar{1, true, false, true};
    const auto kind = derived<Row>(ColumnKind::Text, "kind", {"Part"},
                                   [](const Row& row) { return partKindName(row.kind); });
    const auto share =
        columns::number(&Row::mean, "share",
                        {"Share", bar, "Of the square of the layer's output, mean over examples"});
    const auto spread = columns::number(&Row::deviation, "deviation",
                                        {"Spread", {1, true}, "Standard deviation over examples"});
    const ColumnTable<Row> parts = {columns::counted(&Row::layer, "layer", {"Layer"}),
                                    kind,
                                    columns::counted(&Row::head, "head", {"Head"}),
                                    columns::counted(&Row::relation, "relation", {"Relation"}),
                                    share,
                                    spread};
    const ColumnTable<Row> kinds = {columns::counted(&Row::layer, "layer", {"Layer"}), kind, share,
                                    spread};
    const ColumnTable<LayerShares> facts = {
        columns::integer(&LayerShares::examples, "examples", {"Examples"})};
    Answer answer{{factsOf(facts, shares), tableOf("parts", "Parts", parts, shares.parts),
                   tableOf("layers", "Layers", kinds, shares.kinds)}};
    for (const auto& part : shares.parts) {
        MapLink link{MapKind::SensoryAttention, shares.linked ? part.layer : -1, part.head};
        if (part.kind == PartKind::Relation)
            link.kind = MapKind::Relation, link.index = part.relation;
        if (part.kind == PartKind::RelationalHead || part.kind == PartKind::Symbols)
            link.kind = MapKind::RelationalAttention;
        if (part.kind == PartKind::Bias) link.layer = -1;
        answer.tables[1].links.push_back(link);
    }
    return answer;
}

const RegisterAnalysis kShares([] {
    Analysis a;
    a.name = "shares";
    a.place = 60;
    a.title = "Shares";
    a.summary = "measures what of each layer's output comes from each head, relation and symbols";
    a.purpose =
        "Shares say how much of the output of each layer comes from each head, each relation "
        "and the symbols: which of them the layer works with. Most models take seconds.";
    a.progressText = "Measuring the shares of each layer";
    a.input = AnalysisInput::Data;
    a.onDemand = true;
    return answering(a, shareFields(), OfferedIn::Row);
});

}  // namespace relascope::core
