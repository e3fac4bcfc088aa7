// SPDX-License-Identifier: GPL-3.0-or-later
// What values along training may be asked for, and their result as text.
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/along_training.h"
#include "types/finite_json.h"
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

namespace {

std::string csvOf(const AlongTraining& along) {
    std::ostringstream text;
    text.precision(9);
    text << "step,value,probability" << (along.edited ? ",value_before,probability_before" : "")
         << "\n";
    const auto number = [&](double value) {
        text << ',';
        if (std::isfinite(value)) text << value;
    };
    for (const auto& at : along.steps) {
        text << at.step;
        number(at.now.value), number(at.now.probability);
        if (along.edited) number(at.before.value), number(at.before.probability);
        text << "\n";
    }
    return text.str();
}

nlohmann::ordered_json jsonOf(const AlongTraining& along) {
    using Json = nlohmann::ordered_json;
    Json steps = Json::array(), values = Json::array(), probabilities = Json::array();
    Json before = Json::array(), beforeProbabilities = Json::array();
    for (const auto& at : along.steps) {
        steps.push_back(at.step);
        values.push_back(finiteJson(at.now.value));
        probabilities.push_back(finiteJson(at.now.probability));
        before.push_back(finiteJson(at.before.value));
        beforeProbabilities.push_back(finiteJson(at.before.probability));
    }
    Json all = {{"kind", mapKindName(along.cell.kind)},
                {"layer", along.cell.layer + 1},
                {"layer_name", along.layerName},
                {"index", along.cell.index + 1},
                {"i", along.cell.i},
                {"j", along.cell.j},
                {"answer", along.answer},
                {"answer_name", along.answerName},
                {"steps", std::move(steps)},
                {"values", std::move(values)},
                {"probabilities", std::move(probabilities)}};
    if (!along.edited) return all;
    all["values_before"] = std::move(before);
    all["probabilities_before"] = std::move(beforeProbabilities);
    return all;
}

}  // namespace

const Analysis& alongTrainingAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "along";
        a.title = "Along training";
        a.summary = "shows a cell of a map and an answer at every kept step of a run";
        a.doing = "Running the input at every kept step";
        a.input = AnalysisInput::KeptSteps;
        a.continues = true;
        a.remark = [](const AnalysisResult& result) {
            const auto& along = std::any_cast<const AlongTraining&>(result);
            return along.answer < 0 ? std::string() : "probability of " + quoted(along.answerName);
        };
        return analysisOf<AlongChoice, AlongTraining>(a, alongFields(), OfferedIn::View, csvOf,
                                                      csvOf, jsonOf);
    }();
    return analysis;
}

}  // namespace relascope::core
