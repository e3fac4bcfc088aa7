// SPDX-License-Identifier: GPL-3.0-or-later
// The options of patching maps, and the maps as tables.
#include <algorithm>

#include "analysis/patching_options.h"
#include "answers/column_table.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {

std::string wordsOfPatchedCells(const std::string& over) {
    const auto numbers = over.substr(kPatchedCells.size());
    const auto colon = numbers.find(':');
    const auto layer = numbers.substr(0, colon);
    const auto relation = colon == std::string::npos ? "" : numbers.substr(colon + 1);
    const auto digits = [](const std::string& text) {
        return !text.empty() && text.size() < 7 &&
               text.find_first_not_of("0123456789") == std::string::npos;
    };
    if (!digits(layer) || !digits(relation))
        throw OptionError("over", "'" + over + "' should be cells:LAYER:RELATION, from 1");
    return "layer " + layer + " relation " + relation + " zero";
}

void PatchOptions::check() const {
    const std::vector<std::string> known = {"resid", "attn", "mlp", "heads", "relations"};
    for (const auto& name : over) {
        if (name.starts_with(kPatchedCells))
            wordsOfPatchedCells(name);
        else if (std::find(known.begin(), known.end(), name) == known.end())
            throw OptionError("over", unknownName("kind of point", name, known));
    }
}

const FieldTable<PatchOptions>& patchingFields() {
    static const FieldTable<PatchOptions> table = [] {
        using O = PatchOptions;
        FieldTable<O> all = {
            fields::text(&O::metric, "metric", "Metric",
                         "auto (the answers to A and to B), logit:A, probability:A or "
                         "logit-difference:A,B with ids of answers, @P for a position; following: "
                         "of texts, what they share behind their difference"),
            fields::texts(&O::over, "over", "Over",
                          "which parts are patched; cells:LAYER:RELATION: each cell of a relation",
                          {"resid", "attn", "mlp", "heads", "relations", "cells"}),
            fields::boolean(&O::estimateOnly, "estimate", "Estimate only",
                            "first-order estimates from one backward pass: fast, and good for the "
                            "order only"),
            fields::boolean(&O::noising, "noising", "Exchange A and B",
                            "put the parts of B into the pass of A")};
        all[1].spec.openChoices = true;
        all[1].spec.choiceTitles = {"Residual stream", "Attention", "Feed-forward",
                                    "Heads",           "Relations", "Cells of r"};
        all[1].spec.choiceHelp = {
            "The stream before each layer, at each position",
            "What attention adds, at each position",
            "What the feed-forward part adds, at each position",
            "Sensory, relational and cross heads, one at a time",
            "One relation at a time",
            "The cells i, j of the relation that is chosen in the inspector; a pass for each"};
        return all;
    }();
    return table;
}

Answer answerOf(const PatchResult& result) {
    using columns::derived;
    struct Cell {
        const PatchMap* map = nullptr;
        std::size_t row = 0, column = 0;
        double of(const std::vector<double>& values) const {
            return values[row * map->columns.size() + column];
        }
    };
    std::vector<Cell> cells;
    for (const auto& map : result.maps)
        for (std::size_t r = 0; r < map.rows.size(); ++r)
            for (std::size_t c = 0; c < map.columns.size(); ++c) cells.push_back({&map, r, c});
    const auto words = [](const char* key, const char* title, auto get) {
        return derived<Cell>(ColumnKind::Text, key, {title}, get);
    };
    const auto number = [](const char* key, const char* title, auto get) {
        return derived<Cell>(ColumnKind::Number, key, {title, {3, false, true}}, get);
    };
    const ColumnTable<Cell> table = {
        words("map", "Map", [](const Cell& cell) { return cell.map->over; }),
        words("point", "Point", [](const Cell& cell) { return cell.map->point; }),
        words("row", "Row", [](const Cell& cell) { return cell.map->rows[cell.row]; }),
        words("column", "Column", [](const Cell& cell) { return cell.map->columns[cell.column]; }),
        number("estimate", "Estimate",
               [](const Cell& cell) { return cell.of(cell.map->estimate); }),
        number("exact", "Exact", [](const Cell& cell) { return cell.of(cell.map->exact); })};
    const ColumnTable<PatchMap> maps = {
        columns::text(&PatchMap::over, "over"), columns::text(&PatchMap::point, "point"),
        derived<PatchMap>(ColumnKind::Integer, "rows", {},
                          [](const PatchMap& map) { return map.rows.size(); }),
        derived<PatchMap>(ColumnKind::Integer, "columns", {},
                          [](const PatchMap& map) { return map.columns.size(); })};
    const ColumnTable<PatchResult> facts = {
        columns::text(&PatchResult::metric, "metric", {"Metric"}),
        columns::number(&PatchResult::clean, "clean", {"With A", {4}}),
        columns::number(&PatchResult::corrupted, "corrupted", {"With B", {4}}),
        columns::number(&PatchResult::agreement, "agreement"),
        columns::integer(&PatchResult::done, "done"),
        columns::integer(&PatchResult::total, "total")};
    return {{factsOf(facts, result), tableOf("cells", "", table, cells),
             tableOf("maps", "", maps, result.maps),
             textsTable("positions", result.places ? "place" : "input", result.positions)}};
}

const Analysis& patchingAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "patch";
        a.title = "Patching";
        a.summary = "puts parts of one input's pass into another's";
        a.purpose =
            "Patching puts parts of the pass of one input into that of another: which of them "
            "carry what makes the two answers differ. Most models take seconds.";
        a.progressText = "Patching A into B";
        a.input = AnalysisInput::Pair;
        a.onDemand = a.readsPairs = true;
        return answering(a, patchingFields(), OfferedIn::Row);
    }();
    return analysis;
}

}  // namespace relascope::core
