// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/view_options.h"

#include <string>

#include "views/look.h"
#include "views/map_look.h"

namespace relascope::widgets {
namespace {

constexpr const char* kOrderField = "order";

/// The choices of a field of MapLook as an enumeration.
template <class Enum>
std::string choiceName(const char* field, Enum value) {
    return core::choiceName(core::mapLookFields(), field, value);
}
template <class Enum>
Enum choiceOf(const char* field, const std::string& word) {
    return core::choiceOf<Enum>(core::mapLookFields(), field, word);
}

MapLook lookOfView(const InspectorView& view, FigureParts parts) {
    MapLook look;
    look.head = view.head + 1;
    look.form = choiceName("form", view.processing);
    look.top = view.topK;
    look.range = choiceName("range", view.range);
    look.unclipped = !view.robust;
    look.green_red = view.paper;
    look.order = choiceName(kOrderField, view.order);
    look.parts.clear();
    if (parts & FigurePart::Source) look.parts.emplace_back("source");
    if (parts & FigurePart::Map) look.parts.emplace_back("map");
    if (parts & FigurePart::SmallMaps) look.parts.emplace_back("small");
    return look;
}

const char* shownName(Shown shown) {
    static const char* const names[] = {"after", "before", "difference"};
    return names[static_cast<std::size_t>(shown)];
}

}  // namespace

void addViewOptions(View& options, const InspectorView& view, FigureParts parts) {
    const auto add = [&](const char* name, FieldValue value) {
        options.options.push_back({name, std::move(value)});
    };
    add("layer", std::int64_t{view.layer} + 1);
    add("kind", std::string(mapKindName(view.kind)));
    add("index", std::int64_t{view.index} + 1);
    add("source", std::int64_t{view.source});
    add("to", std::int64_t{view.target});
    if (view.reversed) add("transposed", true);
    if (view.shown != Shown::After) add("show", std::string(shownName(view.shown)));
    const auto look = lookOfView(view, parts);
    for (const auto& field : core::mapLookFields()) {
        const bool ofOther =
            field.spec.name == "head" && view.kind != MapKind::AttentionTimesRelation;
        const bool ofForm = field.spec.name == "top" && view.processing != Processing::TopK;
        const bool ofSmall = field.spec.name == kOrderField && !(parts & FigurePart::SmallMaps);
        if (!ofOther && !ofForm && !ofSmall && field.get(look) != field.get(MapLook()))
            add(field.spec.name.c_str(), field.get(look));
    }
}

InspectorView withLook(InspectorView view, const MapLook& look) {
    view.head = static_cast<int>(look.head) - 1;
    if (look.to >= 0) view.target = static_cast<int>(look.to);
    view.reversed = look.reversed;
    view.processing = choiceOf<Processing>("form", look.form);
    view.topK = static_cast<int>(look.top);
    view.range = choiceOf<Range>("range", look.range);
    view.robust = !look.unclipped;
    view.paper = look.green_red;
    view.order = choiceOf<MapOrder>(kOrderField, look.order);
    return view;
}

FigureParts partsOf(const MapLook& look) {
    FigureParts parts;
    for (const auto& part : look.parts)
        parts |= part == "source" ? FigurePart::Source
                 : part == "map"  ? FigurePart::Map
                                  : FigurePart::SmallMaps;
    return parts ? parts : FigurePart::Source | FigurePart::Map;
}

InspectorView inspectorViewOf(const View& options) {
    InspectorView view;
    auto look = core::lookOf(options, core::mapLookFields());
    const auto number = [&](const char* name, std::int64_t otherwise) {
        const auto* value = options.option(name);
        const auto* given = value ? std::get_if<std::int64_t>(value) : nullptr;
        return static_cast<int>(given ? *given : otherwise);
    };
    const auto text = [&](const char* name) {
        const auto* value = options.option(name);
        const auto* given = value ? std::get_if<std::string>(value) : nullptr;
        return given ? *given : std::string();
    };
    view.layer = number("layer", 1) - 1;
    view.index = number("index", 1) - 1;
    view.source = number("source", 0);
    look.to = number("to", 0);
    look.reversed = options.option("transposed") != nullptr;
    for (int kind = 0; kind <= static_cast<int>(MapKind::Symbols); ++kind)
        if (text("kind") == mapKindName(static_cast<MapKind>(kind)))
            view.kind = static_cast<MapKind>(kind);
    for (const auto shown : {Shown::Before, Shown::Difference})
        if (text("show") == shownName(shown)) view.shown = shown;
    return withLook(view, look);
}

}  // namespace relascope::widgets
