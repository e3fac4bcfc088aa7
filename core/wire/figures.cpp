// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/figures.h"

#include "types/field_text.h"
#include "views/curve_look.h"
#include "views/map_look.h"
#include "wire/answer_frame.h"
#include "wire/requests.h"
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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MapLook, head, to, reversed, form, top, range, unclipped,
                                   green_red, order, parts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CurveLook, title, axis, log_x, log_y, smooth, smoothing,
                                   no_training, no_published, power_law, band, outliers, recent,
                                   second, highlight, colours)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyLook, band, log_x, no_published, reference)

namespace wire {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TintFigure::Panel, layer, source, form, reversed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExamplesFigure, examples, titles, columns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StudyFigure, study, title, metric, points, published, look)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CurvesFigure, runs, look)

namespace {

constexpr const char *kDifference = "difference", *kFields = "fields";
/// In the order of Figure.
constexpr const char* kKinds[] = {"map", "tint", "examples", "study", "analysis", "curves"};
static_assert(std::size(kKinds) == std::variant_size_v<Figure>);

Json messageOf(const MapFigure& figure, Bytes& blob) {
    return {{"result", resultToJson(figure.result, blob)},
            {"kind", figure.kind},
            {"layer", figure.layer},
            {"index", figure.index},
            {"source", figure.source},
            {"run", figure.run},
            {"steps", figure.steps},
            {"look", figure.look},
            {kDifference, figure.difference}};
}
Json messageOf(const TintFigure& figure, Bytes& blob) {
    return {{"result", resultToJson(figure.result, blob)},
            {"index", figure.index},
            {"panels", figure.panels},
            {"run", figure.run},
            {"steps", figure.steps}};
}
Json messageOf(const AnalysisFigure& figure, Bytes& blob) {
    return {{"analysis", figure.analysis},
            {"result", answerToJson(figure.result, blob)},
            {"caption", figure.caption}};
}
/// Figures without maps and answers are their fields.
template <class Plain>
Json messageOf(const Plain& figure, Bytes&) {
    return {{kFields, figure}};
}

}  // namespace

Bytes figureBytes(const Figure& figure, const FigureOrigin& origin) {
    Bytes blob;
    Json message = std::visit([&](const auto& one) { return messageOf(one, blob); }, figure);
    message["figure"] = kKinds[figure.index()];
    message["command"] = origin.command;
    message["view"] = origin.view;
    message["dpi"] = origin.dpi;
    message["dark"] = origin.dark;
    return frameBytes(message, blob);
}

FigureOrigin originOf(const Frame& frame) {
    FigureOrigin origin{valueOf<std::string>(frame.message, "command"),
                        valueOf<std::string>(frame.message, "view"),
                        valueOf<int>(frame.message, "dpi"), valueOf<bool>(frame.message, "dark")};
    if (origin.dpi < 24 || origin.dpi > 2400) throw FrameError("a figure has no valid dpi");
    return origin;
}

namespace {

template <class Look>
Look checkedLook(Look look, const FieldTable<Look>& table) {
    try {
        for (const auto& field : table)
            core::checkFieldValue(field.spec.name, field.spec, field.get(look));
    } catch (const OptionError& error) {
        throw FrameError(std::string("a figure has no valid look: ") + error.what());
    }
    return look;
}

}  // namespace

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
        figure.look = checkedLook(valueOf<MapLook>(m, "look"), core::mapLookFields());
        figure.difference = valueOf<bool>(m, kDifference);
        return figure;
    }
    if (what == "tint")
        return TintFigure{resultFromJson(valueOf<Json>(m, "result"), frame.blob),
                          valueOf<int>(m, "index"),
                          valueOf<std::vector<TintFigure::Panel>>(m, "panels"),
                          valueOf<std::string>(m, "run"), valueOf<bool>(m, "steps")};
    if (what == "examples") return valueOf<ExamplesFigure>(m, kFields);
    if (what == "study") {
        auto figure = valueOf<StudyFigure>(m, kFields);
        figure.look = checkedLook(figure.look, core::studyLookFields());
        return figure;
    }
    if (what == "curves") {
        auto figure = valueOf<CurvesFigure>(m, kFields);
        figure.look = checkedLook(figure.look, core::curveLookFields());
        return figure;
    }
    if (what == "analysis") {
        const auto name = valueOf<std::string>(m, "analysis");
        return AnalysisFigure{name, answerFromJson(valueOf<Json>(m, "result"), frame.blob),
                              valueOf<std::string>(m, "caption")};
    }
    throw FrameError("there is no figure '" + what + "'");
}

Figure figureOf(const View& view) {
    if (const auto* answer = std::get_if<std::shared_ptr<const Answer>>(&view.shown);
        answer && *answer)
        return AnalysisFigure{view.command, **answer, view.caption};
    const auto* result = std::get_if<std::shared_ptr<const ProbeResult>>(&view.shown);
    if (!result || !*result) throw Error("the view shows nothing that could be kept beside it");
    const auto number = [&](const char* name, std::int64_t otherwise) {
        const auto* value = view.option(name);
        const auto* given = value ? std::get_if<std::int64_t>(value) : nullptr;
        return static_cast<int>(given ? *given : otherwise);
    };
    MapFigure figure{**result};
    figure.layer = number("layer", 1) - 1, figure.index = number("index", 1) - 1;
    figure.source = number("source", 0);
    figure.run = view.caption, figure.steps = view.steps;
    figure.look.to = number("to", -1);
    for (const auto& field : core::mapLookFields())
        if (const auto* value = view.option(field.spec.name)) field.set(figure.look, *value);
    if (const auto* show = view.option("show"))
        figure.difference = std::get<std::string>(*show) == kDifference;
    if (const auto* turned = view.option("transposed"))
        figure.look.reversed = std::get<bool>(*turned);
    if (const auto* kind = view.option("kind"))
        for (int k = 0; k <= static_cast<int>(MapKind::Symbols); ++k)
            if (std::get<std::string>(*kind) == mapKindName(static_cast<MapKind>(k)))
                figure.kind = static_cast<MapKind>(k);
    return figure;
}

}  // namespace wire
}  // namespace relascope
