// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/thumbnails.h"

#include <QPainter>
#include <algorithm>
#include <memory>

namespace relascope::widgets {

Thumbnails::Thumbnails(BackgroundWork& work, QObject* parent) : QObject(parent), m_work(work) {
    m_work.setLane(BackgroundWork::Thumbnails, [this] { return next(); });
}

quint64 Thumbnails::hashed(const Key& key) {
    return static_cast<quint64>(key.map.kind) << 60U | static_cast<quint64>(key.map.layer) << 44U |
           static_cast<quint64>(key.map.index) << 20U | static_cast<quint64>(key.block);
}

void Thumbnails::setView(const ViewMaps& maps, const InspectorView& view) {
    const bool sameValues = view.processing == m_view.processing && view.topK == m_view.topK &&
                            view.reversed == m_view.reversed;
    const bool sameMaps = maps.shared() == m_maps.shared();
    if (!sameValues) {
        m_kept.clear();
    } else if (!sameMaps) {
        for (const quint64 kept : m_kept.keys()) {
            const auto kind = static_cast<MapKind>(kept >> 60U);
            const auto layer = static_cast<int>(kept >> 44U & 0xFFFFU);
            const auto index = static_cast<int>(kept >> 20U & 0xFFFFFFU);
            const RelationMap* before = m_maps.find(kind, layer, index);
            const RelationMap* now = maps.find(kind, layer, index);
            if (!before || !now || !before->source || before->source != now->source)
                m_kept.remove(kept);
        }
    }
    const bool sameScales = sameValues && sameMaps && view.range == m_view.range &&
                            view.robust == m_view.robust && view.paper == m_view.paper;
    m_maps = maps;
    m_view = view;
    if (!sameScales) recolour();
    if (sameValues && sameMaps) return;
    m_requested.clear();
    ++m_generation;
}

void Thumbnails::recolour() {
    m_scales.clear();
    ++m_colours;
}

void Thumbnails::request(const std::vector<Key>& keys) {
    m_requested.clear();
    for (auto key = keys.rbegin(); key != keys.rend(); ++key)
        if (!m_kept.contains(hashed(*key))) m_requested.push_back(*key);
    m_work.wake();
}

InspectorView Thumbnails::viewOf(const MapId& map) const {
    InspectorView view = ViewMaps::viewOf(map.kind, map.index, m_view);
    view.layer = map.layer;
    return view;
}

ColorScale Thumbnails::scaleOf(const MapId& map, const MapValues& values) {
    const InspectorView view = viewOf(map);
    if (view.range == Range::ThisMap) {
        // The largest value of each block is left, so the ends are those of the whole map.
        if (m_maps.isRobust(view)) return m_maps.scale(view, ViewMaps::Effort::Quick);
        return m_maps.scale(view, limitsOf(extentOf(values), ViewMaps::isSigned(view)));
    }
    const std::pair key(map.kind, view.range == Range::ThisLayer ? map.layer : -1);
    const auto known = m_scales.find(key);
    if (known != m_scales.end()) return known->second;
    const auto effort = m_work.immediate() ? ViewMaps::Effort::Exact : ViewMaps::Effort::Quick;
    return m_scales.emplace(key, m_maps.scale(view, effort)).first->second;
}

Thumbnails::Entry* Thumbnails::entry(const Key& key) {
    Entry* kept = m_kept.object(hashed(key));
    if (kept && kept->colours != m_colours) {
        kept->cells = cellImage(kept->values, scaleOf(key.map, kept->values));
        kept->picture = QPixmap();
        kept->colours = m_colours;
    }
    return kept;
}

const MapValues* Thumbnails::values(const Key& key) const {
    const Entry* kept = m_kept.object(hashed(key));
    return kept ? &kept->values : nullptr;
}

QImage Thumbnails::cells(const Key& key) {
    const Entry* kept = entry(key);
    return kept ? kept->cells : QImage();
}

QPixmap Thumbnails::picture(const Key& key, const QSize& size, qreal ratio) {
    Entry* kept = entry(key);
    if (!kept) return {};
    if (kept->picture.size() != size * ratio) {
        kept->picture = QPixmap(size * ratio);
        kept->picture.setDevicePixelRatio(ratio);
        QPainter painter(&kept->picture);
        painter.drawImage(QRect(QPoint(0, 0), size), kept->cells);
        drawMask(painter, QPointF(0, 0),
                 static_cast<qreal>(size.width()) / qMax(1, kept->cells.width()),
                 kept->cells.height(), kept->cells.width(), kept->values.mask);
    }
    return kept->picture;
}

std::optional<BackgroundWork::Job> Thumbnails::next() {
    struct Made {
        Key key;
        InspectorView view;
        MapValues values;
    };
    auto some = std::make_shared<std::vector<Made>>();
    double time = 0.0;
    while (!m_requested.empty() && time < kPieceOfWork) {
        const Key key = m_requested.back();
        m_requested.pop_back();
        if (m_kept.contains(hashed(key))) continue;
        some->push_back({key, viewOf(key.map), {}});
        time += m_maps.valuesTime(some->back().view);
    }
    if (some->empty()) return std::nullopt;
    const bool scales = !m_work.immediate();
    return BackgroundWork::Job{
        [some, scales, maps = m_maps] {
            for (Made& made : *some) {
                made.values = maps.thumbnail(made.key.map.kind, made.key.map.index, made.view,
                                             made.key.block);
                // The window asks for the scale next; what it needs is found here.
                if (scales) maps.ends(made.view, ViewMaps::Effort::Quick);
            }
        },
        [this, some, generation = m_generation] {
            if (generation != m_generation) return;
            for (Made& made : *some) {
                const auto bytes = static_cast<qsizetype>(made.values.values.size()) * 3 *
                                   qsizetype(sizeof(float));
                m_kept.insert(hashed(made.key), new Entry{std::move(made.values), {}, {}, -1},
                              qMax<qsizetype>(1, bytes / 1024));
            }
            Q_EMIT made();
        }};
}

}  // namespace relascope::widgets
