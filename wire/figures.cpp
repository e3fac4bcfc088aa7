// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/figures.h"

#include <functional>
#include <map>

#include "wire/answer_frame.h"
#include "wire/packed.h"
#include "wire/result_checks.h"
#include "wire/types.h"

namespace relascope {

inline void from_json(const wire::Json& json, CellState& state) {
    state = wire::enumOf(json, CellState::Interrupted);
}
inline void from_json(const wire::Json& json, CurveSource& source) {
    source = wire::enumOf(json, CurveSource::Relascope);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AblationRow::Way, how, change, changedAnswers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas::Attribute, name, ordered)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas::Fit, plain, fixed, low, high, p, untrained,
                                   untrainedLow, untrainedHigh, initial, apart)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas::Use, how, change, low, high, groupChange,
                                   groupLow, groupHigh)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas::Distribution, mean, sd, positive, low, high,
                                   quantiles, bins)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas::Pair, example, i, j, value, text, picture, row,
                                   column)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas::Relation, name, layer, point, index, layerIndex,
                                   head, values, sent, symmetry, weightSymmetry, rank, weightRank,
                                   shares, fits, uses, group, highest, lowest, nearZero, attribute,
                                   labelled, also, asGood, reading, condition, origin, use, label,
                                   development, appearedAfter, appearedBy, match, matchCorrelation)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas::Step, step, accuracy, fits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas::Join, first, second, correlation)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas::LayerMatch, layer, heads, matched, any, explained)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RelationAtlas, attributes, relations, correlation, tree, data,
                                   noun, examples, objects, columns, causal, permutations,
                                   untrainedModels, untrainedFits, untrainedScores, initial, metric,
                                   base, usedExamples, steps, otherRun, matches, remark, basis)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyAxis, key, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyPlan, preset, models, sizes, seeds, vary, settings,
                                   sameData)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyCell, name, model, size, values, seed, state, info, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyInfo, path, plan, cells)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyPoint, series, size, values, mean, error, low, high,
                                   parameters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PublishedPoint, series, size, mean, error, source)

// The edit of a row goes as a list of one, as files hold it.
void to_json(wire::Json& json, const AblationRow& row) {
    EditList edits;
    edits.edits = {row.edit};
    json = {{"part", row.part},         {"group", row.group},           {"edits", edits},
            {"partNorm", row.partNorm}, {"streamNorm", row.streamNorm}, {"ways", row.ways}};
}
void from_json(const wire::Json& json, AblationRow& row) {
    json.at("part").get_to(row.part);
    json.at("group").get_to(row.group);
    const auto edits = json.at("edits").get<EditList>();
    if (edits.edits.size() != 1) throw wire::FrameError("a row of an ablation has no edit");
    row.edit = edits.edits.front();
    json.at("partNorm").get_to(row.partNorm);
    json.at("streamNorm").get_to(row.streamNorm);
    json.at("ways").get_to(row.ways);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelScan::Part, title, row, estimate, estimatedSize, together,
                                   use)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelScan::Finding::Check, edit, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelScan::Finding, text, part, maps, effect, checks, confirm,
                                   selectivity, example, i, j, layer, index, head)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelScan, data, noun, where, step, metric, base, text, tokens,
                                   wanted, measured, estimated, choosing, shift, exact, untrained,
                                   otherExamples, along, passes, described, allMaps, parts, atlas,
                                   least, looks, byChance, findings, notFound, remark, basis)

namespace wire {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TintFigure::Panel, layer, source, form, reversed)

namespace {

struct Codec {
    std::function<Json(const std::any&)> toJson;
    std::function<std::any(const Json&)> fromJson;
};

template <class Result>
Codec codecOf() {
    return {[](const std::any& result) { return Json(std::any_cast<const Result&>(result)); },
            [](const Json& json) {
                auto result = json.get<Result>();
                check(result);
                return std::any(std::move(result));
            }};
}

/// Null for analyses whose result is an Answer.
const Codec* codecOf(const std::string& analysis) {
    static const std::map<std::string, Codec> codecs = {
        {"atlas", codecOf<RelationAtlas>()},
        {"scan", codecOf<ModelScan>()},
    };
    const auto found = codecs.find(analysis);
    return found == codecs.end() ? nullptr : &found->second;
}

Json messageOf(const MapFigure& figure, Bytes& blob) {
    return {{"figure", "map"},       {"result", resultToJson(figure.result, blob)},
            {"kind", figure.kind},   {"layer", figure.layer},
            {"index", figure.index}, {"source", figure.source},
            {"run", figure.run}};
}
Json messageOf(const TintFigure& figure, Bytes& blob) {
    return {{"figure", "tint"},
            {"result", resultToJson(figure.result, blob)},
            {"index", figure.index},
            {"panels", figure.panels},
            {"run", figure.run}};
}
Json messageOf(const ExamplesFigure& figure, Bytes&) {
    return {{"figure", "examples"},
            {"examples", figure.examples},
            {"titles", figure.titles},
            {"columns", figure.columns}};
}
Json messageOf(const StudyFigure& figure, Bytes&) {
    return {{"figure", "study"},       {"study", figure.study},   {"title", figure.title},
            {"metric", figure.metric}, {"points", figure.points}, {"published", figure.published}};
}
Json messageOf(const AnalysisFigure& figure, Bytes& blob) {
    return {{"figure", "analysis"},
            {"analysis", figure.analysis},
            {"result", analysisResultToJson(figure.analysis, figure.result, blob)},
            {"caption", figure.caption}};
}

}  // namespace

const std::vector<std::string>& tintForms() {
    static const std::vector<std::string> forms = {"attention", "relation", "scaled",  "clip",
                                                   "tanh",      "sign",     "sigmoid", "softmax"};
    return forms;
}

Json analysisResultToJson(const std::string& analysis, const std::any& result, Bytes& blob) {
    if (const auto* codec = codecOf(analysis)) return pack(codec->toJson(result), blob);
    return answerToJson(std::any_cast<const Answer&>(result), blob);
}

std::any analysisResultFromJson(const std::string& analysis, const Json& json,
                                std::span<const std::uint8_t> blob) {
    const auto* codec = codecOf(analysis);
    try {
        if (!codec) return answerFromJson(json, blob);
        return codec->fromJson(unpack(json, blob));
    } catch (const std::exception& error) {
        throw FrameError("a result of '" + analysis + "' is not as agreed on: " + error.what());
    }
}

Bytes figureBytes(const Figure& figure) {
    Bytes blob;
    const Json message = std::visit([&](const auto& one) { return messageOf(one, blob); }, figure);
    return frameBytes(message, blob);
}

Figure figureFromFrame(const Frame& frame) {
    const Json& m = frame.message;
    const auto what = valueOf<std::string>(m, "figure");
    if (what == "map") {
        MapFigure figure;
        figure.result = resultFromJson(valueOf<Json>(m, "result"), frame.blob);
        figure.kind = valueOf<MapKind>(m, "kind");
        figure.layer = valueOf<int>(m, "layer");
        figure.index = valueOf<int>(m, "index");
        figure.source = valueOf<int>(m, "source");
        figure.run = valueOf<std::string>(m, "run");
        return figure;
    }
    if (what == "tint")
        return TintFigure{
            resultFromJson(valueOf<Json>(m, "result"), frame.blob), valueOf<int>(m, "index"),
            valueOf<std::vector<TintFigure::Panel>>(m, "panels"), valueOf<std::string>(m, "run")};
    if (what == "examples")
        return ExamplesFigure{valueOf<std::vector<DataExample>>(m, "examples"),
                              valueOf<std::vector<std::string>>(m, "titles"),
                              valueOf<int>(m, "columns")};
    if (what == "study")
        return StudyFigure{valueOf<StudyInfo>(m, "study"), valueOf<std::string>(m, "title"),
                           valueOf<std::string>(m, "metric"),
                           valueOf<std::vector<StudyPoint>>(m, "points"),
                           valueOf<std::vector<PublishedPoint>>(m, "published")};
    if (what == "analysis") {
        const auto name = valueOf<std::string>(m, "analysis");
        return AnalysisFigure{name,
                              analysisResultFromJson(name, valueOf<Json>(m, "result"), frame.blob),
                              valueOf<std::string>(m, "caption")};
    }
    throw FrameError("there is no figure '" + what + "'");
}

}  // namespace wire
}  // namespace relascope
