// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/along/answer.h"

#include <algorithm>
#include <utility>

#include "answers/column_table.h"

namespace relascope::core {
namespace {

const ColumnTable<AlongStep>& stepColumns(bool edited) {
    using Row = AlongStep;
    const auto number = [](const char* key, const char* title, auto ref) {
        return columns::found<Row>(ColumnKind::Number, key, ref, {title, {4}});
    };
    static const ColumnTable<Row> now = {
        columns::integer(&Row::step, "step", {"Step"}),
        number("value", "Value", [](Row& row) -> double& { return row.now.value; }),
        number("probability", "Probability",
               [](Row& row) -> double& { return row.now.probability; })};
    const auto withWeights = [&](ColumnTable<Row> all, bool before) {
        if (before) {
            all.push_back(number("value_before", "Value without the edits",
                                 [](Row& row) -> double& { return row.before.value; }));
            all.push_back(number("probability_before", "Probability without them",
                                 [](Row& row) -> double& { return row.before.probability; }));
        }
        all.push_back(columns::integer(&Row::weights, "weights", {"Checksum of the weights"}));
        return all;
    };
    static const ColumnTable<Row> plain = withWeights(now, false), both = withWeights(now, true);
    return edited ? both : plain;
}

const ColumnTable<AlongTraining>& alongFacts() {
    using Row = AlongTraining;
    const auto counted = [](const char* key, int MapCell::*member) {
        return columns::countedBy<Row>(key,
                                       [member](Row& row) -> int& { return row.cell.*member; });
    };
    const auto cell = [](const char* key, int MapCell::*member) {
        return columns::found<Row>(ColumnKind::Integer, key,
                                   [member](Row& row) -> int& { return row.cell.*member; });
    };
    static const ColumnTable<Row> facts = {
        columns::found<Row>(
            ColumnKind::Text, "kind", [](Row& row) -> MapKind& { return row.cell.kind; }, {"Map"},
            {mapKindName(MapKind::Relation), mapKindName(MapKind::RelationalAttention),
             mapKindName(MapKind::SensoryAttention), mapKindName(MapKind::AttentionTimesRelation),
             mapKindName(MapKind::Symbols)}),
        counted("layer", &MapCell::layer),
        columns::text(&Row::layerName, "layer_name", {"Layer"}),
        counted("index", &MapCell::index),
        counted("head", &MapCell::head),
        cell("i", &MapCell::i),
        cell("j", &MapCell::j),
        columns::integer(&Row::answer, "answer"),
        columns::text(&Row::answerName, "answer_name", {"Answer"}),
        columns::integer(&Row::rows, "rows"),
        columns::integer(&Row::columns, "columns"),
        columns::integer(&Row::block, "block"),
        columns::flag(&Row::causal, "causal"),
        columns::flag(&Row::libraryRows, "library_rows"),
        columns::flag(&Row::edited, "edited"),
        columns::integer(&Row::wanted, "wanted")};
    return facts;
}

}  // namespace

Answer answerOf(const AlongTraining& along) {
    Answer answer{{tableOf("steps", "", stepColumns(along.edited), along.steps),
                   factsOf(alongFacts(), along)}};
    const auto add = [&](const AlongValues& values) {
        answer.maps.push_back({along.cell.kind, along.cell.layer, along.cell.index, along.mapRows(),
                               along.mapColumns(), values.map, along.causal, along.libraryRows});
    };
    for (const auto& step : along.steps) {
        add(step.now);
        if (along.edited) add(step.before);
    }
    answer.complete = static_cast<std::int64_t>(along.steps.size()) == along.wanted;
    return answer;
}

AlongTraining alongTrainingOf(const Answer& answer) {
    auto along = factsIn(alongFacts(), answer);
    along.steps = rowsOf(stepColumns(along.edited), answer.table("steps"));
    const auto& cell = along.cell;
    if (along.block < 1 || along.rows < 0 || along.columns < 0 ||
        along.rows > std::numeric_limits<int>::max() - along.block ||
        along.columns > std::numeric_limits<int>::max() - along.block)
        throw Error("the map has " + std::to_string(along.rows) + " x " +
                    std::to_string(along.columns) + " cells in blocks of " +
                    std::to_string(along.block));
    for (const int index : {cell.layer, cell.index, cell.head})
        if (index < 0) throw Error("the map has no layer, index or head");
    const std::size_t each = along.edited ? 2 : 1;
    if (answer.maps.size() != each * along.steps.size())
        throw Error(std::to_string(along.steps.size()) + " steps have " +
                    std::to_string(answer.maps.size()) + " maps");
    std::int64_t before = -1;
    for (std::size_t k = 0; k < along.steps.size(); ++k) {
        auto& step = along.steps[k];
        if (step.step <= std::exchange(before, step.step))
            throw Error("step " + std::to_string(step.step) + " is not in its place");
        for (std::size_t m = 0; m < each; ++m) {
            const auto& map = answer.maps[each * k + m];
            if (map.rows != along.mapRows() || map.columns != along.mapColumns())
                throw Error("a map has another size than the others");
            (m == 0 ? step.now : step.before).map = map.all();
        }
    }
    return along;
}

}  // namespace relascope::core
