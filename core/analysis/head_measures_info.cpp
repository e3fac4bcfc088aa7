// SPDX-License-Identifier: GPL-3.0-or-later
// The options of head measures, and their result as tables.
#include "analysis/head_measures.h"
#include "answers/column_table.h"

namespace relascope::core {

const FieldTable<HeadMeasureOptions>& headMeasureFields() {
    using O = HeadMeasureOptions;
    static const FieldTable<O> table = {
        fields::integer(
            &O::length, "length", "Random tokens, twice",
            "language models: random tokens, all different, which stand twice in a row, "
            "so that nothing but their copies can be found",
            2, 1000000),
        fields::integer(&O::seed, "seed", "Seed", "random seed of these tokens", 0, 1e15)};
    return table;
}

Answer answerOf(const HeadMeasures& result) {
    using Head = HeadMeasures::Head;
    using columns::derived;
    ColumnTable<Head> table = {
        columns::counted(&Head::layer, "layer", {"Layer"}),
        derived<Head>(ColumnKind::Text, "kind", {"Kind"},
                      [](const Head& head) { return mapKindName(head.kind); }),
        columns::counted(&Head::index, "head", {"Head"})};
    for (std::size_t m = 0; m < result.measures.size(); ++m)
        table.push_back(derived<Head>(ColumnKind::Number, result.measures[m], {result.measures[m]},
                                      [m](const Head& head) { return head.values[m]; }));
    table.push_back(columns::text(&Head::reading, "reading", {"By place alone"}));
    Answer answer;
    answer.tables.push_back(tableOf("heads", "", table, result.heads));
    for (const auto& head : result.heads)
        answer.tables.back().links.push_back({head.kind, head.layer, head.index});
    auto measure = columns::columnOf(ColumnKind::Text, "measure", {"Places"}),
         value = columns::columnOf(ColumnKind::Number, "value", {"Value"}),
         input = columns::columnOf(ColumnKind::Text, "input", {"Mean attention over"});
    measure.texts = result.measures, value.numbers = result.even, input.texts = {result.input};
    answer.tables.push_back({"even", "Attention that is spread evenly", {measure, value}});
    answer.tables.push_back(textsTable("layers", "name", result.layers));
    answer.tables.push_back({"", "", {input}});
    return answer;
}

const Analysis& headMeasuresAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "heads";
        a.title = "Head measures";
        a.group = AnalysisGroup::Text;
        a.summary = "measures the attention of each head to places of a kind (induction, ...)";
        a.progressText = "Measuring the attention of each head";
        a.input = AnalysisInput::OwnText;
        return answering(a, headMeasureFields(), OfferedIn::Row);
    }();
    return analysis;
}

}  // namespace relascope::core
