// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/figures.h"

#include "wire/answer_frame.h"
#include "wire/types.h"

namespace relascope {

inline void from_json(const wire::Json& json, CellState& state) {
    state = wire::enumOf(json, CellState::Interrupted);
}
inline void from_json(const wire::Json& json, CurveSource& source) {
    source = wire::enumOf(json, CurveSource::Relascope);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyAxis, key, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyPlan, preset, models, sizes, seeds, vary, settings,
                                   sameData)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyCell, name, model, size, values, seed, state, info, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyInfo, path, plan, cells)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyPoint, series, size, values, mean, error, low, high,
                                   parameters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PublishedPoint, series, size, mean, error, source)

namespace wire {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TintFigure::Panel, layer, source, form, reversed)

namespace {

Json messageOf(const MapFigure& figure, Bytes& blob) {
    return {{"figure", "map"},       {"result", resultToJson(figure.result, blob)},
            {"kind", figure.kind},   {"layer", figure.layer},
            {"index", figure.index}, {"source", figure.source},
            {"run", figure.run},     {"steps", figure.steps}};
}
Json messageOf(const TintFigure& figure, Bytes& blob) {
    return {{"figure", "tint"},      {"result", resultToJson(figure.result, blob)},
            {"index", figure.index}, {"panels", figure.panels},
            {"run", figure.run},     {"steps", figure.steps}};
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
            {"result", answerToJson(figure.result, blob)},
            {"caption", figure.caption}};
}

}  // namespace

const std::vector<std::string>& tintForms() {
    static const std::vector<std::string> forms = {"attention", "relation", "scaled",  "clip",
                                                   "tanh",      "sign",     "sigmoid", "softmax"};
    return forms;
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
        figure.steps = valueOf<bool>(m, "steps");
        return figure;
    }
    if (what == "tint")
        return TintFigure{resultFromJson(valueOf<Json>(m, "result"), frame.blob),
                          valueOf<int>(m, "index"),
                          valueOf<std::vector<TintFigure::Panel>>(m, "panels"),
                          valueOf<std::string>(m, "run"), valueOf<bool>(m, "steps")};
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
        return AnalysisFigure{name, answerFromJson(valueOf<Json>(m, "result"), frame.blob),
                              valueOf<std::string>(m, "caption")};
    }
    throw FrameError("there is no figure '" + what + "'");
}

}  // namespace wire
}  // namespace relascope
