// SPDX-License-Identifier: GPL-3.0-or-later
// What head measures may be asked for, and their result as text.
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/head_measures.h"
#include "types/finite_json.h"
#include "types/text_format.h"
#include "types/text_piece.h"

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

std::string csvOf(const HeadMeasures& result) {
    std::string text = "layer,kind,head";
    for (const auto& name : result.measures) text += "," + csvField(name);
    text += "\n";
    for (const auto& head : result.heads) {
        text += std::to_string(head.layer + 1) + "," + mapKindName(head.kind) + "," +
                std::to_string(head.index + 1);
        for (const double value : head.values) text += "," + shortestField(value);
        text += "\n";
    }
    text += ",even attention,";
    for (const double value : result.even) text += "," + shortestField(value);
    return text + "\n";
}

nlohmann::ordered_json jsonOf(const HeadMeasures& r) {
    using Json = nlohmann::ordered_json;
    Json heads = Json::array(), even;
    for (const auto& head : r.heads) {
        Json values;
        for (std::size_t m = 0; m < r.measures.size(); ++m)
            values[r.measures[m]] = finiteJson(head.values[m]);
        heads.push_back({{"layer", head.layer + 1},
                         {"kind", mapKindName(head.kind)},
                         {"head", head.index + 1},
                         {"values", std::move(values)}});
    }
    for (std::size_t m = 0; m < r.measures.size(); ++m) even[r.measures[m]] = finiteJson(r.even[m]);
    return {{"input", r.input}, {"even", std::move(even)}, {"heads", std::move(heads)}};
}

std::string terminalText(const HeadMeasures& r) {
    std::ostringstream out;
    out << "mean attention over " << r.input << "\n" << cellText("", 32);
    for (const auto& name : r.measures) out << cellText(name, 17, true);
    out << "\n";
    const auto line = [&](const std::string& name, const std::vector<double>& values) {
        out << cellText(name, 32);
        for (const double value : values) out << cellText(numberText("%.3f", value), 17, true);
        out << "\n";
    };
    for (const auto& head : r.heads)
        line(r.layers.at(static_cast<std::size_t>(head.layer)) +
                 (head.kind == MapKind::SensoryAttention ? " sensory head " : " relational head ") +
                 std::to_string(head.index + 1),
             head.values);
    line("even attention", r.even);
    return out.str();
}

}  // namespace

const Analysis& headMeasuresAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "heads";
        a.title = "Head measures";
        a.summary = "measures the attention of each head to places of a kind (induction, ...)";
        a.doing = "Measuring the attention of each head";
        a.input = AnalysisInput::OwnText;
        return analysisOf<HeadMeasureOptions, HeadMeasures>(a, headMeasureFields(), OfferedIn::Row,
                                                            csvOf, terminalText, jsonOf);
    }();
    return analysis;
}

}  // namespace relascope::core
