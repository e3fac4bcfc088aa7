// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/view_choice.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "widgets/export/export.h"
#include "widgets/inspector/background.h"
#include "widgets/inspector/layer_maps.h"
#include "widgets/inspector/view_text.h"

namespace relascope::widgets {

void ViewChoice::setResult(std::shared_ptr<const ProbeResult> result) {
    m_maps.setResult(std::move(result));
    m_row = m_column = -1;
    const ProbeResult* now = m_maps.result();
    if (!now) return;
    if (!m_started) {  // the first patch says more than the class token
        // The first layer may have no relations.
        if (const auto first =
                std::find_if(now->maps.begin(), now->maps.end(),
                             [&](const RelationMap& map) { return map.kind == m_view.kind; });
            first != now->maps.end())
            m_view.layer = first->layer;
        m_view.source = now->grid.classToken ? 1 : 0;
        m_view.target = m_view.source + 1;
        // Under a causal mask the first token attends only to itself, the last one to all.
        if (now->grid.tokens() == 0 && !now->maps.empty() && now->maps.front().causal) {
            m_view.source = now->maps.front().rows - 1;
            m_view.target = 0;
        }
        // Of a partial result the map of the first view may follow.
        m_started = !now->partial;
    }
    m_view = m_maps.clamped(m_view);
}

void ViewChoice::setView(const InspectorView& view) {
    m_started = true;
    m_view = empty() ? view : m_maps.clamped(view);
    m_lastIndex[static_cast<std::size_t>(m_view.kind)] = m_view.index;
    m_lastIndex[static_cast<std::size_t>(storedKind(m_view.kind))] = m_view.index;
}

InspectorView ViewChoice::granted(InspectorView request) {
    if (request.kind != m_view.kind) {
        m_wanted = request.kind;
        // A layer that is still computed may have the kind.
        const bool awaited = m_maps.awaited(request.layer);
        for (int away = 1;
             !awaited && m_maps.count(request.kind, request.layer) == 0 && away < m_maps.layers();
             ++away)
            for (const int layer : {m_view.layer - away, m_view.layer + away})
                if (m_maps.count(request.kind, layer) > 0) request.layer = layer;
    } else if (request.layer != m_view.layer && m_maps.count(m_wanted, request.layer) > 0) {
        request.kind = m_wanted;
    }
    if (request.kind != m_view.kind && storedKind(request.kind) != storedKind(m_view.kind) &&
        request.index == m_view.index)
        request.index = m_lastIndex[static_cast<std::size_t>(request.kind)];
    return m_maps.clamped(request);
}

InspectorView ViewChoice::stepped(int InspectorView::*field, int step) const {
    InspectorView request = m_view;
    request.*field += step;
    return request;
}

std::optional<InspectorView> ViewChoice::ofKind(int number) {
    if (number < 1 || number > 5) return {};
    const bool mayFollow = m_maps.result() && m_maps.result()->partial;
    if (!mayFollow && !m_maps.has(static_cast<MapKind>(number - 1))) return {};
    InspectorView request = m_view;
    request.kind = m_wanted = static_cast<MapKind>(number - 1);
    return request;
}

InspectorView ViewChoice::turned() const {
    InspectorView request = m_view;
    if (m_maps.canReverse(m_view)) request.reversed = !request.reversed;
    return request;
}

InspectorView ViewChoice::nextProcessing() const {
    InspectorView request = m_view;
    // Attention supports raw and top k only.
    if (storedKind(request.kind) == MapKind::Relation)
        request.processing =
            static_cast<Processing>((static_cast<int>(request.processing) + 1) % 5);
    else
        request.processing =
            request.processing == Processing::TopK ? Processing::Raw : Processing::TopK;
    return request;
}

InspectorView ViewChoice::ofMap(MapKind kind, int index) {
    InspectorView request = m_view;
    const bool both = m_view.kind == MapKind::AttentionTimesRelation;
    if (both && kind == MapKind::RelationalAttention) {
        request.head = index;  // alpha x r has two choices, and each group makes its own
    } else {
        request.kind = both && kind == MapKind::Relation ? MapKind::AttentionTimesRelation : kind;
        request.index = index;
        m_lastIndex[static_cast<std::size_t>(kind)] = index;
    }
    return request;
}

InspectorView ViewChoice::ofCell(int row, int column) const {
    InspectorView request = m_view;
    request.source = row;
    request.target = column;
    return request;
}

bool ViewChoice::point(int row, int column) {
    const bool moved = row != m_row || column != m_column;
    m_row = row;
    m_column = column;
    return moved;
}

QString ViewChoice::footer(bool rich) const {
    return footerText(m_maps, m_view, row(), column(), rich);
}
QString ViewChoice::csv() const {
    return mapCsv(m_maps, m_view);
}
QString ViewChoice::figureName(FigureParts parts) const {
    return relascope::widgets::figureName(m_maps, m_view, parts, run);
}
void ViewChoice::setFigure(ViewMenu& menu, FigureParts parts) const {
    // What reads whole maps is made before: the small maps, the ends of the scales, and the text of
    // the table.
    struct Prepared {
        std::shared_ptr<const ProbeResult> result;
        InspectorView view;
        LayerMaps small;
    };
    // Atomic: a cancelled export may still be at work.
    const auto prepared = std::make_shared<std::atomic<std::shared_ptr<const Prepared>>>();
    menu.figure = [this, parts, prepared] {
        const auto made = prepared->exchange(nullptr);
        const bool current = made && made->result == m_maps.shared() && made->view == m_view;
        return makeFigure(m_maps, m_view, parts, run, current ? &made->small : nullptr);
    };
    menu.prepareFigure = [this, parts, prepared]() -> std::function<void()> {
        const bool small(parts & FigurePart::SmallMaps);
        double time = m_maps.scaleTime(m_view);
        if (small)
            for (const MapKind kind :
                 {MapKind::Relation, MapKind::RelationalAttention, MapKind::SensoryAttention})
                time += m_maps.scaleTime(ViewMaps::viewOf(kind, 0, m_view));
        if (time < kSmallWork) return {};
        const int side = small ? layerMapsSide(m_maps, m_view, kSmallMapsSize) : 0;
        return [maps = m_maps, view = m_view, small, side, prepared] {
            maps.sharedExtent(view);
            if (!small) return;
            Prepared made{maps.shared(), view, layerMaps(maps, view, side)};
            for (const MultipleGroup& group : made.small.groups)
                if (!group.items.empty())
                    maps.sharedExtent(ViewMaps::viewOf(group.items[0].kind, 0, view));
            prepared->store(std::make_shared<const Prepared>(std::move(made)));
        };
    };
    if (!(parts & FigurePart::Map)) return;
    menu.prepareCsv = [this]() -> std::function<QString()> {
        constexpr std::size_t few = 20000;  // cells: some milliseconds
        const RelationMap* map = m_maps.find(storedKind(m_view.kind), m_view.layer, m_view.index);
        if (!map || map->cells() < few) return {};
        return [maps = m_maps, view = m_view] { return mapCsv(maps, view); };
    };
}

}  // namespace relascope::widgets
