// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/view_choice.h"

#include <algorithm>
#include <utility>

#include "widgets/export/export.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/words.h"

namespace relascope {

void ViewChoice::setResult(std::shared_ptr<const ProbeResult> result) {
    m_maps.setResult(std::move(result));
    m_row = m_column = -1;
    const ProbeResult* now = m_maps.result();
    if (!now) return;
    if (!m_started) {  // the first patch says more than the class token
        // The first layer may have none of the relations one came for.
        if (const auto first =
                std::find_if(now->maps.begin(), now->maps.end(),
                             [&](const RelationMap& map) { return map.kind == m_view.kind; });
            first != now->maps.end())
            m_view.layer = first->layer;
        m_view.source = now->grid.classToken ? 1 : 0;
        m_view.target = m_view.source + 1;
        // Under a causal mask the first token sees only itself, the last one all.
        if (now->grid.tokens() == 0 && !now->maps.empty() && now->maps.front().causal) {
            m_view.source = now->maps.front().rows - 1;
            m_view.target = 0;
        }
        m_started = true;
    }
    m_view = m_maps.clamped(m_view);
}

void ViewChoice::setView(const InspectorView& view) {
    m_started = true;
    m_view = empty() ? view : m_maps.clamped(view);
    if (empty()) return;
    m_lastIndex[static_cast<std::size_t>(m_view.kind)] = m_view.index;
    m_lastIndex[static_cast<std::size_t>(storedKind(m_view.kind))] = m_view.index;
}

InspectorView ViewChoice::granted(InspectorView wish) {
    if (wish.kind != m_view.kind) {
        m_wanted = wish.kind;
        for (int away = 1; m_maps.count(wish.kind, wish.layer) == 0 && away < m_maps.layers();
             ++away)
            for (const int layer : {m_view.layer - away, m_view.layer + away})
                if (m_maps.count(wish.kind, layer) > 0) wish.layer = layer;
    } else if (wish.layer != m_view.layer && m_maps.count(m_wanted, wish.layer) > 0) {
        wish.kind = m_wanted;
    }
    if (wish.kind != m_view.kind && storedKind(wish.kind) != storedKind(m_view.kind) &&
        wish.index == m_view.index)
        wish.index = m_lastIndex[static_cast<std::size_t>(wish.kind)];
    return m_maps.clamped(wish);
}

InspectorView ViewChoice::stepped(int InspectorView::*field, int step) const {
    InspectorView wish = m_view;
    wish.*field += step;
    return wish;
}

std::optional<InspectorView> ViewChoice::ofKind(int number) {
    if (number < 1 || number > 5 || !m_maps.has(static_cast<MapKind>(number - 1))) return {};
    InspectorView wish = m_view;
    wish.kind = m_wanted = static_cast<MapKind>(number - 1);
    return wish;
}

InspectorView ViewChoice::turned() const {
    InspectorView wish = m_view;
    if (m_maps.canReverse(m_view)) wish.reversed = !wish.reversed;
    return wish;
}

InspectorView ViewChoice::nextProcessing() const {
    InspectorView wish = m_view;
    // Attention knows raw and top k only, and so does the key.
    if (storedKind(wish.kind) == MapKind::Relation)
        wish.processing = static_cast<Processing>((static_cast<int>(wish.processing) + 1) % 5);
    else
        wish.processing = wish.processing == Processing::TopK ? Processing::Raw : Processing::TopK;
    return wish;
}

InspectorView ViewChoice::ofMap(MapKind kind, int index) {
    InspectorView wish = m_view;
    const bool both = m_view.kind == MapKind::AttentionTimesRelation;
    if (both && kind == MapKind::RelationalAttention) {
        wish.head = index;  // alpha x r has two choices, and each group makes its own
    } else {
        wish.kind = both && kind == MapKind::Relation ? MapKind::AttentionTimesRelation : kind;
        wish.index = index;
        m_lastIndex[static_cast<std::size_t>(kind)] = index;
    }
    return wish;
}

InspectorView ViewChoice::ofCell(int row, int column) const {
    InspectorView wish = m_view;
    wish.source = row;
    wish.target = column;
    return wish;
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
    return relascope::figureName(m_maps, m_view, parts, run);
}
void ViewChoice::setFigure(ViewMenu& menu, FigureParts parts) const {
    menu.figure = [this, parts] { return makeFigure(m_maps, m_view, parts, run); };
}

}  // namespace relascope
