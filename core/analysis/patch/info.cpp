// SPDX-License-Identifier: GPL-3.0-or-later
// The options of patching maps, and the maps as tables.
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "analysis/patch/options.h"
#include "answers/answer_text.h"
#include "answers/column_table.h"
#include "answers/layout.h"
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
    using namespace columns;
    const NumberFormat effect{3, false, true};
    auto cells =
        tableWith("cells", "", text("map", {"Map"}), text("point", {"Point"}), text("row", {"Row"}),
                  text("column", {"Column"}), number("estimate", {"Estimate", effect}),
                  number("exact", {"Exact", effect}));
    auto maps =
        tableWith("maps", "", text("over"), text("point"), integer("rows"), integer("columns"));
    for (const auto& map : result.maps) {
        addRow(maps, map.over, map.point, map.rows.size(), map.columns.size());
        std::size_t at = 0;
        for (const auto& row : map.rows)
            for (const auto& column : map.columns) {
                addRow(cells, map.over, map.point, row, column, map.estimate[at], map.exact[at]);
                ++at;
            }
    }
    return {{tableWith("", "", fact("metric", result.metric, {"Metric"}),
                       fact("clean", result.clean, {"With A", {4}}),
                       fact("corrupted", result.corrupted, {"With B", {4}}),
                       fact("agreement", result.agreement), fact("done", result.done),
                       fact("total", result.total)),
             cells, maps,
             textsTable("positions", result.places ? "place" : "input", result.positions)}};
}

std::string blockTitle(const std::string& block) {
    std::istringstream in(block);
    std::string title;
    int parts = 0;
    for (std::string part; std::getline(in, part, '.'); ++parts) {
        if (parts == 0 && part == "blocks") part = "layer";
        const bool number = !part.empty() && part.size() < 9 &&
                            part.find_first_not_of("0123456789") == std::string::npos;
        title += (parts == 0   ? ""
                  : parts == 1 ? " "
                               : ", layer ") +
                 (number ? std::to_string(std::stoi(part) + 1) : part);
    }
    return title;
}

namespace {

/// "Residual stream before the layer", "Relational heads".
std::string mapTitle(const std::string& over, const std::string& point) {
    static const std::map<std::string, std::string> titles = {
        {"hook_resid_pre", "Residual stream before the layer"},
        {"hook_attn_out", "Attention"},
        {"hook_mlp_out", "Feed-forward"},
        {"attn.hook_z", "Sensory heads"},
        {"rel.hook_z", "Relational heads"},
        {"rca.hook_z", "Heads of relational cross-attention"},
        {"cross_attn.hook_z", "Cross heads"},
        {"rel.hook_r", "Relations"},
        {"rca.hook_r", "Relations of relational cross-attention"}};
    if (over.starts_with(kPatchedCells)) return "Cells of " + point + ", rows i, columns j";
    const auto at = titles.find(point);
    return at == titles.end() ? point : at->second;
}

/// "1,2" of "patch (1, 2)", "cls" of "class token": what fits below a column, as beside a map.
/// Other places have their names.
std::string placeHead(std::string place) {
    constexpr std::string_view patch = "patch (";
    if (place == "class token") return "cls";
    if (!place.starts_with(patch)) return place;
    place = place.substr(patch.size(), place.size() - patch.size() - 1);
    std::erase(place, ' ');
    return place;
}

std::vector<GridPanel> patchPanels(const Seen& seen) {
    const auto &maps = seen.answer.table("maps"), &named = seen.answer.table("positions");
    const auto cells = std::make_shared<const Table>(seen.answer.table("cells"));
    const auto &exact = cells->numbers("exact"), &estimate = cells->numbers("estimate");
    const bool places = named.find("place");
    std::vector<std::string> positions;
    for (const auto& name : named.texts(places ? "place" : "input"))
        positions.push_back(shownPiece(name));
    std::vector<GridPanel> panels;
    std::size_t begin = 0;
    for (std::size_t m = 0; m < maps.rows(); ++m) {
        const auto rows = static_cast<std::size_t>(indexOf(maps.numbers("rows")[m])),
                   columns = static_cast<std::size_t>(indexOf(maps.numbers("columns")[m]));
        if (columns > 0 && rows > (cells->rows() - begin) / columns)
            throw Error("the maps of an answer have more cells than it holds");
        const auto &over = maps.texts("over")[m], &point = maps.texts("point")[m];
        GridPanel panel{mapTitle(over, point)};
        panel.note = panel.title == point ? "" : point;
        panel.columnName = over == "heads" || over == "relations" ? over.substr(0, over.size() - 1)
                           : over.starts_with(kPatchedCells)      ? "j"
                                                                  : "position";
        for (std::size_t r = 0; r < rows; ++r)
            panel.rows.push_back(blockTitle(cells->texts("row")[begin + r * columns]));
        for (std::size_t c = 0; rows > 0 && c < columns; ++c)
            panel.columns.push_back(cells->texts("column")[begin + c]);
        if (panel.columnName == "position" && positions.size() >= panel.columns.size())
            for (const auto& name : positions) panel.inputs.push_back(placeHead(name));
        // `cells` keeps both of its columns.
        const auto at = [cells, begin, columns, &exact, &estimate](int row, int column) {
            const auto k = begin + std::size_t(row) * columns + std::size_t(column);
            return std::pair(exact[k], estimate[k]);
        };
        panel.cell = [at](int row, int column) {
            const auto [known, about] = at(row, column);
            const bool rough = std::isnan(known);
            const double value = rough ? about : known, size = std::abs(value);
            if (std::isnan(value)) return GridCell{.value = value};
            return GridCell{.value = value,
                            .text = shownSigned(value, size >= 100  ? 0
                                                       : size >= 10 ? 1
                                                                    : 2),
                            .hatched = rough};
        };
        panel.text = [at, title = panel.title, name = panel.columnName, rows = panel.rows,
                      columns = panel.columns,
                      inputs = panel.inputs.empty() ? panel.inputs : positions,
                      places](int row, int column) {
            const auto [known, about] = at(row, column);
            const auto c = std::size_t(column);
            auto where = title + ": " + rows[std::size_t(row)] + ", ";
            if (inputs.empty() || !places) where += name + " " + columns[c];
            if (!inputs.empty()) where += places ? inputs[c] : " \u201C" + inputs[c] + "\u201D";
            if (std::isnan(known) && std::isnan(about)) return where + ": none";
            return std::isnan(known) ? where + ": about " + shownSigned(about, 3) + " (estimate)"
                                     : where + ": " + shownSigned(known, 3) + " (estimate " +
                                           shownSigned(about, 3) + ")";
        };
        begin += rows * columns;
        panels.push_back(std::move(panel));
    }
    return panels;
}

std::string patchAbout(const Seen& seen) {
    const auto& answer = seen.answer;
    const auto done = indexOf(answer.number("done")), total = indexOf(answer.number("total"));
    const double agreement = answer.number("agreement");
    auto text = answer.text("metric") + ": A " + shownSigned(answer.number("clean"), 3) + ", B " +
                shownSigned(answer.number("corrupted"), 3);
    if (total == 0) return text + "; estimates only";
    text += "; " + groupedNumber(done) + " of " + groupedNumber(total) + " cells exact";
    if (done >= 3 && !std::isnan(agreement))
        text += ", correlation with their estimates " + shownDecimals(agreement, 2);
    return text;
}

Layout patchLayout() {
    Layout::Grid grid{"Patching maps", patchPanels};
    grid.style = {.leastCell = 9, .mostCell = 46, .rowHeight = 22, .numbersFrom = 40};
    grid.caption = "share of the way from B to A, 0: as B, +1: as A";
    grid.hint = [](const Seen&) { return std::string(); };
    grid.numbers = grid.widens = true;
    Layout layout{
        patchAbout, {{grid, 1}}, "Choose a second input: drop it here with Shift.", "patching"};
    layout.heads = [](const Seen& seen) {
        return std::vector<Layout::Heading>{{.text = "Patching A into B: " + patchAbout(seen)}};
    };
    layout.figureWidth = 480;
    return layout;
}

}  // namespace

const RegisterAnalysis kPatching([] {
    Analysis a;
    a.name = "patch";
    a.place = 30;
    a.title = "Patching";
    a.summary = "puts parts of one input's pass into another's";
    a.purpose =
        "Patching puts parts of the pass of one input into that of another: which of them "
        "carry what makes the two answers differ. Most models take seconds.";
    a.progressText = "Patching A into B";
    a.layout = patchLayout;
    a.input = AnalysisInput::Pair;
    a.onDemand = a.readsPairs = true;
    return answering(a, patchingFields(), OfferedIn::Row);
});

}  // namespace relascope::core
