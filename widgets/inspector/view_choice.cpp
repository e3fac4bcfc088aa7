// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <atomic>
#include <utility>

#include "types/map_difference.h"
#include "widgets/export/export.h"
#include "widgets/inspector/all_maps.h"
#include "widgets/inspector/map_statistics.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_options.h"
#include "widgets/inspector/view_text.h"

namespace relascope::widgets {

void ViewChoice::setInspected(Inspected inspected) {
    m_inspected = std::move(inspected);
    m_maps[0].setResult(m_inspected.result);
    m_maps[1].setResult(m_inspected.other());
    m_maps[2].setResult(nullptr);
    if (!m_maps[1].result()) join();
    if (m_apart) m_apart->view = m_maps[1].clamped(m_apart->view);
    if (!compares()) m_view.shown = Shown::After;
    prepareShown();
    m_row = m_column = -1;
    const ProbeResult* now = m_maps[0].result();
    if (!now) return;
    if (!m_started) {  // the first patch says more than the tokens before it
        // The first layer may have no relations.
        if (const auto first =
                std::find_if(now->maps.begin(), now->maps.end(),
                             [&](const RelationMap& map) { return map.kind == m_view.kind; });
            first != now->maps.end())
            m_view.layer = first->layer;
        m_view.source = now->grid.firstTokens();
        m_view.target = m_view.source + 1;
        // Under a causal mask the first token attends only to itself, the last one to all.
        if (now->grid.tokens() == 0 && !now->maps.empty() && now->maps.front().causal) {
            m_view.source = now->maps.front().rows - 1;
            m_view.target = 0;
        }
        // A partial result may be followed by the map of the first view.
        m_started = !now->partial;
    }
    m_view = maps().clamped(m_view);
}

void ViewChoice::pin(const PinnedResult& pinned) {
    Inspected now = m_inspected;
    now.pinned = pinned;
    setInspected(std::move(now));
}

void ViewChoice::prepareShown() {
    ViewMaps& difference = m_maps[2];
    if (m_view.shown == Shown::Difference && !subtracts(m_maps[0].clamped(m_view)))
        m_view.shown = Shown::After;
    if (m_view.shown == Shown::Difference && m_inspected.result && !difference.result())
        difference.setResult(std::make_shared<const ProbeResult>(
            differenceOf(m_inspected.result, m_inspected.other())));
}

InspectorView ViewChoice::otherView() const {
    InspectorView view = m_view;
    view.shown = Shown::Before;
    if (m_apart) {
        view.kind = m_apart->view.kind, view.layer = m_apart->view.layer;
        view.index = m_apart->view.index, view.head = m_apart->view.head;
    }
    view.source = freed() ? m_apart->view.source : toOther(m_view.source);
    view.target = freed() ? m_apart->view.target : toOther(m_view.target);
    return view;
}

bool ViewChoice::subtracts(const InspectorView& view) const {
    if (!sameTokens()) return false;
    if (!m_inspected.pinned.result || !m_maps[0].result()) return true;  // maps of one model
    const auto both = [&](MapKind kind, int index) {
        const auto* own = m_maps[0].find(kind, view.layer, index);
        const auto* other = m_maps[1].find(kind, view.layer, index);
        return own && other && own->rows == other->rows && own->columns == other->columns;
    };
    return both(storedKind(view.kind), view.index) &&
           (view.kind != MapKind::AttentionTimesRelation ||
            both(MapKind::RelationalAttention, view.head));
}

QString ViewChoice::whyNoDifference() const {
    if (!sameTokens()) return QStringLiteral("The tokens of A and B differ");
    if (!subtracts(m_view)) return QStringLiteral("A and B have no map of the same objects here");
    return {};
}

void ViewChoice::setApart(const InspectorView& view, bool cell, const QString& note) {
    m_apart = Apart{m_maps[1].clamped(view), cell, note};
}

int ViewChoice::toOther(int object) const {
    return m_view.shown == Shown::Before ? object : thereOf(object);
}

int ViewChoice::fromOther(int object) const {
    return m_view.shown == Shown::Before ? object : hereOf(object);
}

int ViewChoice::thereOf(int object) const {
    if (sameTokens() || object < 0) return object;
    const auto& tokens = m_inspected.pinned.tokens->first;
    return object < static_cast<int>(tokens.size()) ? tokens[static_cast<std::size_t>(object)] : -1;
}

int ViewChoice::hereOf(int object) const {
    if (sameTokens() || object < 0) return object;
    const auto& tokens = m_inspected.pinned.tokens->second;
    return object < static_cast<int>(tokens.size()) ? tokens[static_cast<std::size_t>(object)] : -1;
}

bool ViewChoice::ofPinnedAlone(MapKind kind) const {
    const auto& own = m_maps[0];
    return m_inspected.pinned.result && own.result() && !own.result()->partial && !own.has(kind) &&
           m_maps[1].has(kind);
}

const ViewMaps& ViewChoice::mapsOf(Shown shown) const {
    const auto& maps = m_maps[static_cast<std::size_t>(shown)];
    return maps.result() ? maps : m_maps[0];  // a difference is made when it is shown
}

void ViewChoice::turnTo(InspectorView& request) const {
    if (!m_inspected.pinned.result) return;
    if (request.kind != m_view.kind) {
        if (ofPinnedAlone(request.kind))
            request.shown = Shown::Before;
        else if (ofPinnedAlone(m_view.kind))
            request.shown = Shown::After;
    }
    if (request.shown == Shown::Difference && !sameTokens()) request.shown = Shown::After;
    const bool before = m_view.shown == Shown::Before, after = request.shown == Shown::Before;
    if (before == after || sameTokens()) return;
    for (int InspectorView::*place : {&InspectorView::source, &InspectorView::target}) {
        const int found = after ? thereOf(request.*place) : hereOf(request.*place);
        request.*place = std::max(0, found);
    }
}

bool ViewChoice::moved(const MapId& map) const {
    return std::binary_search(m_inspected.moved.begin(), m_inspected.moved.end(), map);
}
bool ViewChoice::takenOut(const MapId& map) const {
    return std::binary_search(m_inspected.out.begin(), m_inspected.out.end(), map);
}

void ViewChoice::setView(const InspectorView& view) {
    m_started = true;
    const MapId before{m_view.kind, m_view.layer, m_view.index};
    if (m_apart && !(MapId{view.kind, view.layer, view.index} == before)) {
        m_apart->note.clear();  // it was of that map
        if (!freed()) join();
    }
    m_view = view;
    if (!compares()) m_view.shown = Shown::After;
    prepareShown();
    if (!empty()) m_view = maps().clamped(m_view);
    m_lastIndex[static_cast<std::size_t>(m_view.kind)] = m_view.index;
    m_lastIndex[static_cast<std::size_t>(storedKind(m_view.kind))] = m_view.index;
}

InspectorView ViewChoice::granted(InspectorView request) {
    turnTo(request);
    const ViewMaps& maps = mapsOf(request.shown);
    if (request.kind != m_view.kind) {
        m_wanted = request.kind;
        // A layer that is still computed may have the kind.
        const bool awaited = maps.awaited(request.layer);
        for (int away = 1;
             !awaited && maps.count(request.kind, request.layer) == 0 && away < maps.layers();
             ++away)
            for (const int layer : {m_view.layer - away, m_view.layer + away})
                if (maps.count(request.kind, layer) > 0) request.layer = layer;
    } else if (request.layer != m_view.layer && maps.count(m_wanted, request.layer) > 0) {
        request.kind = m_wanted;
    }
    if (request.kind != m_view.kind && storedKind(request.kind) != storedKind(m_view.kind) &&
        request.index == m_view.index)
        request.index = m_lastIndex[static_cast<std::size_t>(request.kind)];
    request = maps.clamped(request);
    if (request.shown == Shown::Difference && !subtracts(request)) request.shown = Shown::After;
    return request;
}

InspectorView ViewChoice::stepped(int InspectorView::*field, int step) const {
    return m_view.with(field, m_view.*field + step);
}

std::optional<InspectorView> ViewChoice::ofKind(int number) {
    if (number < 1 || number > 5) return {};
    const bool mayFollow = maps().result() && maps().result()->partial;
    const auto kind = static_cast<MapKind>(number - 1);
    if (!mayFollow && !m_maps[0].has(kind) && !ofPinnedAlone(kind)) return {};
    m_wanted = kind;
    return m_view.with(&InspectorView::kind, kind);
}

InspectorView ViewChoice::transposed() const {
    return m_view.with(&InspectorView::reversed, m_view.reversed != maps().canReverse(m_view));
}

InspectorView ViewChoice::nextProcessing() const {
    // Attention supports raw and top k only.
    const bool all = storedKind(m_view.kind) == MapKind::Relation;
    const auto other = m_view.processing == Processing::TopK ? Processing::Raw : Processing::TopK;
    return m_view.with(
        &InspectorView::processing,
        all ? static_cast<Processing>((static_cast<int>(m_view.processing) + 1) % 5) : other);
}

InspectorView ViewChoice::nextShown() const {
    const int choices = subtracts(m_view) ? 3 : 2;
    return compares()
               ? m_view.with(&InspectorView::shown, (static_cast<int>(m_view.shown) + 1) % choices)
               : m_view;
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
    return m_view.with(&InspectorView::source, row).with(&InspectorView::target, column);
}

bool ViewChoice::point(int row, int column) {
    const bool moved = row != m_row || column != m_column;
    m_row = row;
    m_column = column;
    return moved;
}

QString ViewChoice::footer(bool rich) const {
    // Maps or objects of their own: both values with their names.
    if (m_inspected.pinned.result && m_view.shown == Shown::After && m_view.beside &&
        (apart() || !sameTokens())) {
        const auto other = otherView();
        const bool shown = other.source >= 0 && other.target >= 0;
        const int i = freed() ? other.source : thereOf(row()),
                  j = freed() ? other.target : thereOf(column());
        QString text =
            QStringLiteral("B: ") + footerText(m_maps[0], m_view, row(), column(), rich, nullptr);
        if (shown && i >= 0 && j >= 0)
            text += QStringLiteral(" \u2003|\u2003 A: ") +
                    footerText(m_maps[1], other, i, j, rich, nullptr);
        return text;
    }
    const bool both =
        compares() && sameTokens() && !apart() && m_maps[0].count(m_view.kind, m_view.layer) > 0;
    return footerText(both ? m_maps[0] : maps(), m_view, row(), column(), rich,
                      both ? &m_maps[1] : nullptr);
}
QString ViewChoice::csv() const {
    return mapCsv(maps(), m_view);
}
QString ViewChoice::caption() const {
    if (m_inspected.pinned.result) {
        const QString words = m_inspected.words.isEmpty()
                                  ? QString()
                                  : QStringLiteral(", edited: ") + m_inspected.words;
        if (m_view.shown == Shown::Before) return m_inspected.pinned.name;
        if (m_view.shown == Shown::After) return run + words;
        return QStringLiteral("%1%2, minus %3").arg(run, words, m_inspected.pinned.name);
    }
    if (!edited()) return run;
    static const char* const words[] = {"edited", "before the edits", "changed by"};
    return QStringLiteral("%1, %2: %3")
        .arg(run, QString::fromLatin1(words[static_cast<std::size_t>(m_view.shown)]),
             m_inspected.words);
}
QString ViewChoice::figureName(FigureParts parts) const {
    return relascope::widgets::figureName(maps(), m_view, parts, run);
}
std::optional<View> ViewChoice::described(FigureParts parts) const {
    if (!describe || empty() || m_maps[0].result()->partial) return std::nullopt;
    const auto& pinned = m_inspected.pinned;
    const bool ofPinned = pinned.result && m_view.shown == Shown::Before;
    auto view = ofPinned ? pinned.view : describe();
    if (!view) return view;
    if (pinned.result && m_view.shown == Shown::Difference) {
        // A command reads one input for both.
        if (!pinned.view || !(pinned.view->options == view->options)) return std::nullopt;
        view->subjects.push_back(pinned.view->subjects[0]);
    }
    addViewOptions(*view, ofPinned ? m_view.with(&InspectorView::shown, Shown::After) : m_view,
                   parts);
    view->shown = maps().shared();
    view->caption = caption().toStdString();
    view->steps = steps;
    return view;
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
        const bool current = made && made->result == maps().shared() && made->view == m_view;
        return makeFigure(maps(), m_view, parts, {caption(), steps},
                          current ? &made->small : nullptr);
    };
    menu.describe = [this, parts] { return described(parts); };
    menu.prepareFigure = [this, parts, prepared]() -> std::function<void()> {
        const bool small(parts & FigurePart::SmallMaps);
        double time = maps().scaleTime(m_view);
        if (small)
            for (const MapKind kind :
                 {MapKind::Relation, MapKind::RelationalAttention, MapKind::SensoryAttention})
                time += maps().scaleTime(ViewMaps::viewOf(kind, 0, m_view));
        if (time < kSmallWork) return {};
        const int side = small ? layerMapsSide(maps(), m_view, kSmallMapsSize) : 0;
        return [maps = maps(), view = m_view, small, side, prepared] {
            maps.sharedExtent(view);
            if (!small) return;
            Prepared made{maps.shared(), view, layerMaps(maps, view, side)};
            for (const StripSection& section : made.small.sections)
                if (!section.maps.empty())
                    maps.sharedExtent(ViewMaps::viewOf(section.maps[0].kind, 0, view));
            prepared->store(std::make_shared<const Prepared>(std::move(made)));
        };
    };
    if (!(parts & FigurePart::Map)) return;
    menu.prepareCsv = [this]() -> std::function<QString()> {
        constexpr std::size_t few = 20000;  // cells: some milliseconds
        const RelationMap* map = maps().find(storedKind(m_view.kind), m_view.layer, m_view.index);
        if (!map || map->cells() < few) return {};
        return [maps = maps(), view = m_view] { return mapCsv(maps, view); };
    };
}

}  // namespace relascope::widgets
