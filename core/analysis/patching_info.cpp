// SPDX-License-Identifier: GPL-3.0-or-later
// What a patching map may be asked for, and the map as text.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/patching_options.h"
#include "types/error.h"
#include "types/finite_json.h"
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
                         "logit-difference:A,B with ids of answers; @P for a position"),
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

namespace {

std::string csvOf(const PatchResult& result) {
    std::string text = "map,point,row,column,estimate,exact\n";
    for (const auto& map : result.maps)
        for (std::size_t r = 0; r < map.rows.size(); ++r)
            for (std::size_t c = 0; c < map.columns.size(); ++c) {
                const auto at = r * map.columns.size() + c;
                text += map.over + "," + map.point + "," + map.rows[r] + "," + map.columns[c] +
                        "," + shortestField(map.estimate[at]) + "," + shortestField(map.exact[at]) +
                        "\n";
            }
    return text;
}

nlohmann::ordered_json jsonOf(const PatchResult& result) {
    using Json = nlohmann::ordered_json;
    const auto numbers = [](const std::vector<double>& values) {
        Json list = Json::array();
        for (const double value : values) list.push_back(finiteJson(value));
        return list;
    };
    Json maps = Json::array();
    for (const auto& map : result.maps)
        maps.push_back({{"over", map.over},
                        {"point", map.point},
                        {"rows", map.rows},
                        {"columns", map.columns},
                        {"estimate", numbers(map.estimate)},
                        {"exact", numbers(map.exact)}});
    return {{"metric", result.metric},
            {"clean", result.clean},
            {"corrupted", result.corrupted},
            {"agreement", finiteJson(result.agreement)},
            {"maps", maps}};
}

std::string terminalText(const PatchResult& result) {
    return result.metric + numberText(": %.4g with A, ", result.clean) +
           numberText("%.4g with B\n", result.corrupted) + csvOf(result);
}

}  // namespace

const Analysis& patchingAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "patch";
        a.title = "Patching";
        a.summary = "puts parts of one input's pass into another's";
        a.doing = "Patching A into B";
        a.input = AnalysisInput::Pair;
        a.onDemand = true;
        return analysisOf<PatchOptions, PatchResult>(a, patchingFields(), OfferedIn::Row, csvOf,
                                                     terminalText, jsonOf);
    }();
    return analysis;
}

}  // namespace relascope::core
