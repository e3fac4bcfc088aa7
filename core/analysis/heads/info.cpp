// SPDX-License-Identifier: GPL-3.0-or-later
// Head measures: the options, and the grid of each measure.
#include "analysis/heads/head_measures.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "answers/answer_text.h"
#include "answers/layout.h"
#include "types/text_format.h"

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

namespace {

std::string attentionText(double value) {
    return std::isfinite(value) ? shownDecimals(value, 2) : "\u2014";
}

/// The heads of an answer by their layer and column: sensory ones before relational ones.
struct HeadCells {
    explicit HeadCells(const Table& heads) : links(heads.links), readings(heads.texts("reading")) {
        for (const auto& link : links) {
            auto& most = isRelational(link) ? relational : sensory;
            most = std::max(most, link.index + 1);
        }
        for (std::size_t k = 0; k < links.size(); ++k)
            rows[{links[k].layer, links[k].index + (isRelational(links[k]) ? sensory : 0)}] = k;
    }
    static bool isRelational(const MapLink& link) {
        return link.kind == MapKind::RelationalAttention;
    }
    /// -1: there is none.
    int rowAt(int layer, int column) const {
        const auto at = rows.find({layer, column});
        return at == rows.end() ? -1 : static_cast<int>(at->second);
    }
    std::vector<MapLink> links;
    std::vector<std::string> readings;
    int sensory = 0, relational = 0;
    std::map<std::pair<int, int>, std::size_t> rows;
};

/// For each measure layers by heads.
std::vector<GridPanel> measurePanels(const Seen& seen) {
    const auto& table = seen.answer.table("heads");
    const auto heads = std::make_shared<const HeadCells>(table);
    const auto &measures = seen.answer.table("even").texts("measure"),
               &layers = seen.answer.table("layers").texts("name");
    const auto& even = seen.answer.table("even").numbers("value");
    GridPanel panel;
    for (std::size_t k = 0; k < layers.size(); ++k) panel.rows.push_back(std::to_string(k + 1));
    for (int k = 0; k < heads->sensory + heads->relational; ++k)
        panel.columns.push_back(std::to_string(k + 1));
    panel.groups = {{{"sensory heads", "sensory", "S"}, heads->sensory},
                    {{"relational heads", "relational", "R"}, heads->relational}};
    std::erase_if(panel.groups, [](const GridGroup& group) { return group.columns == 0; });
    std::vector<GridPanel> panels;
    for (std::size_t m = 0; m < measures.size(); ++m) {
        panel.title = capitalized(measures[m]);
        panel.note = "even: " + attentionText(even[m]);
        panel.cell = [heads, values = table.numbers(measures[m])](int layer, int column) {
            const int row = heads->rowAt(layer, column);
            if (row < 0) return GridCell{.present = false};
            return GridCell{values[std::size_t(row)], attentionText(values[std::size_t(row)])};
        };
        panel.text = [heads, values = table.numbers(measures[m]), layers, name = measures[m],
                      flat = even[m]](int layer, int column) {
            const auto row = std::size_t(std::max(0, heads->rowAt(layer, column)));
            const auto& link = heads->links[row];
            return layers[std::size_t(layer)] + ", " +
                   (HeadCells::isRelational(link) ? "relational" : "sensory") + " head " +
                   std::to_string(link.index + 1) + ": " + name + " " + attentionText(values[row]) +
                   "; even attention " + attentionText(flat) +
                   (heads->readings[row].empty() ? "" : "; it " + heads->readings[row]);
        };
        panels.push_back(panel);
    }
    return panels;
}

Layout headsLayout() {
    Layout::Grid grid{"Head measures", measurePanels, {.beside = true}, Layout::Tint::Likelihood};
    grid.hint = [](const Seen&) {
        return std::string(
            "Mean attention of each head to places of a kind, from 0 (light) to 1. A click shows "
            "the head in the inspector.");
    };
    grid.request = [](const Seen& seen) {
        const auto& heads = seen.answer.table("heads");
        return requestOf(heads, HeadCells(heads).rowAt(seen.chosen[0].row, seen.chosen[0].column));
    };
    grid.widest = 1000, grid.widens = true;
    Layout layout{
        [](const Seen& seen) { return "mean attention over " + seen.answer.text("input"); },
        {{grid, 1}},
        "Open a language or vision model first."};
    layout.figureWidth = 480;
    return layout;
}

}  // namespace

const RegisterAnalysis kHeadMeasures([] {
    Analysis a;
    a.name = "heads";
    a.place = 130;
    a.title = "Head measures";
    a.group = AnalysisGroup::Text;
    a.summary = "measures the attention of each head to places of a kind (induction, ...)";
    a.progressText = "Measuring the attention of each head";
    a.input = AnalysisInput::OwnText;
    a.layout = headsLayout;
    return answering(a, headMeasureFields(), OfferedIn::Row);
});

}  // namespace relascope::core
