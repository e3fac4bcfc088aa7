// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPainter>
#include <QScrollBar>
#include <QVBoxLayout>

#include "probe/head_places.h"
#include "widgets/inspector/all_maps.h"
#include "widgets/inspector/map_statistics.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

MapFilter::MapFilter(const QString& text) {
    for (const QString& part : text.split(u','))
        if (const QString phrase = part.simplified().toLower(); !phrase.isEmpty())
            m_phrases << phrase;
}

bool MapFilter::matches(const QString& description) const {
    const QString words = u' ' + description.toLower() + u' ';
    for (const QString& phrase : m_phrases) {
        const bool begins = phrase.size() > 1 && phrase.back().isLetter();
        if (!words.contains(u' ' + phrase + (begins ? QString() : QStringLiteral(" "))))
            return false;
    }
    return true;
}

namespace {

/// The largest measure first, what is not known last.
void sortBy(const std::function<float(const MapId&)>& measure, std::vector<MapId>& maps) {
    std::vector<std::pair<float, MapId>> all;
    for (const MapId& map : maps) all.emplace_back(measure(map), map);
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::isnan(b.first) ? !std::isnan(a.first) : a.first > b.first;
    });
    for (std::size_t k = 0; k < all.size(); ++k) maps[k] = all[k].second;
}

}  // namespace

std::vector<StripSection> layerSections(const ViewMaps& maps, const InspectorView& view,
                                        const MapStatistics* measures) {
    if (maps.awaited(view.layer))
        return {{QStringLiteral("Maps of ") + maps.layerName(view.layer), computingText(maps), {}}};
    const bool sorted = view.order != MapOrder::Index;
    // Only a figure has no measures at hand.
    const core::HeadPlaces places(!measures && maps.result() && sorted ? *maps.result()
                                                                       : ProbeResult());
    std::vector<StripSection> sections;
    for (const auto& [kind, title] :
         {std::pair(MapKind::Relation, QStringLiteral("Relations")),
          std::pair(MapKind::RelationalAttention, QStringLiteral("Relational attention")),
          std::pair(MapKind::SensoryAttention, sensoryTitle(maps, view.layer))}) {
        // What no layer has is not missing in this one.
        if (!maps.has(kind) && !(maps.result() && maps.result()->partial)) continue;
        StripSection section{sections.empty()
                                 ? QStringLiteral("%1 of %2").arg(title, maps.layerName(view.layer))
                                 : title,
                             layerAbsence(maps, kind, view.layer),
                             {},
                             kind != MapKind::Relation && view.shown != Shown::Difference};
        for (int k = 0; k < maps.count(kind, view.layer); ++k)
            section.maps.push_back({kind, view.layer, k});
        if (sorted)
            sortBy(
                [&](const MapId& id) {
                    const RelationMap* map = maps.find(id.kind, id.layer, id.index);
                    return (measures ? measures->of(id)
                            : map    ? measuresOf(*map, &places)
                                     : MapMeasures())
                        .of(view.order);
                },
                section.maps);
        sections.push_back(std::move(section));
    }
    return sections;
}

namespace {

QSize shapeOf(const ViewMaps& maps, const InspectorView& view, const MapId& id) {
    const RelationMap* map = maps.find(id.kind, id.layer, id.index);
    const QSize shape = map ? QSize(map->columns, map->rows) : QSize();
    return maps.isTransposed(ViewMaps::viewOf(id.kind, id.index, view)) ? shape.transposed()
                                                                        : shape;
}

StripLayout layoutOf(const ViewMaps& maps, const InspectorView& view,
                     const std::vector<StripSection>& sections) {
    std::vector<QSize> shapes;
    for (const StripSection& section : sections)
        for (const MapId& map : section.maps) shapes.push_back(shapeOf(maps, view, map));
    StripLayout layout(StripLayout::Flow::Fitted);
    layout.setSections(sections, std::move(shapes));
    return layout;
}

}  // namespace

int layerMapsSide(const ViewMaps& maps, InspectorView view, const QSize& size) {
    view.order = MapOrder::Index;  // nothing has to be measured
    StripLayout layout = layoutOf(maps, view, layerSections(maps, view, nullptr));
    layout.layOut(size);
    return layout.side();
}

LayerMaps layerMaps(const ViewMaps& maps, const InspectorView& view, int side) {
    LayerMaps content{layerSections(maps, view, nullptr), {}};
    const StripLayout layout = layoutOf(maps, view, content.sections);
    for (int k = 0; k < layout.count(); ++k) {
        const MapId& map = layout.map(k);
        content.values[map] =
            maps.thumbnail(map.kind, map.index, view, layout.blockFor(layout.shape(k), side));
    }
    return content;
}

void showMultiples(MapStrip& multiples, const ViewMaps& maps, const InspectorView& view,
                   LayerMaps content) {
    const auto values = std::make_shared<std::map<MapId, MapValues>>(std::move(content.values));
    std::map<MapKind, ColorScale> shared;
    const auto shares = [maps, view](const MapId& map) {
        return maps.sharesScale(ViewMaps::viewOf(map.kind, map.index, view));
    };
    for (const auto& [map, _] : *values)
        if (shares(map) && !shared.contains(map.kind))
            shared[map.kind] = maps.thumbnailScale(map.kind, map.index, view);
    multiples.label = [maps](const MapId& id) { return itemLabel(maps, id); };
    multiples.shape = [maps, view](const MapId& id) { return shapeOf(maps, view, id); };
    multiples.picture = [values, shared, shares, maps, view](QPainter& painter, const QRect& box,
                                                             const MapId& map, int) {
        const MapValues& of = values->at(map);
        const QImage cells = cellImage(
            of, shares(map) ? shared.at(map.kind) : maps.thumbnailScale(map.kind, map.index, view));
        drawPixels(painter, box, cells);
        drawMask(painter, box.topLeft(), static_cast<qreal>(box.width()) / qMax(1, cells.width()),
                 of);
        return true;
    };
    multiples.setSections(std::move(content.sections));
}

void frameMultiples(MapStrip& multiples, const InspectorView& view) {
    multiples.setCurrent(MapId{storedKind(view.kind), view.layer, view.index});
    const bool both = view.kind == MapKind::AttentionTimesRelation;
    multiples.setSecond(
        both ? std::optional(MapId{MapKind::RelationalAttention, view.layer, view.head})
             : std::nullopt);
}

namespace {

constexpr MapKind kinds[] = {MapKind::Relation, MapKind::RelationalAttention,
                             MapKind::SensoryAttention};

QString kindTitle(const ViewMaps& maps, MapKind kind) {
    return kind == MapKind::Relation ? QStringLiteral("Relations")
           : kind == MapKind::SensoryAttention && hasOneKindOfHead(maps)
               ? QStringLiteral("Attention")
               : mapKindWords(kind).replace(0, 1, mapKindWords(kind)[0].toUpper());
}

}  // namespace

AllMaps::AllMaps(const ViewChoice& choice, Thumbnails& thumbnails, MapStatistics& measures,
                 QWidget* parent)
    : QWidget(parent), m_choice(choice), m_thumbnails(thumbnails), m_measures(measures) {
    auto* column = columnOf(this, {}, 6);
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    m_filter = new QLineEdit(this);
    m_filter->setFont(smallFont());
    m_filter->setPlaceholderText(QStringLiteral("Filter: layer 3, r 12"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMinimumWidth(60);
    m_filter->setAccessibleName(QStringLiteral("Filter maps"));
    m_filter->setToolTip(
        QStringLiteral("Words that name maps: \"layer 3\", \"r 12\", \"head 2\", \"sensory\". A "
                       "comma combines them: \"layer 3, head\"."));
    row->addWidget(m_filter, 1);
    m_threshold = new QDoubleSpinBox(this);
    m_threshold->setFont(numberFont(12));
    m_threshold->setRange(0.0, 1e6);
    m_threshold->setDecimals(2);
    m_threshold->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    m_threshold->setSpecialValueText(QStringLiteral("any"));
    m_threshold->setPrefix(QStringLiteral("\u2265 "));
    m_threshold->setFixedWidth(84);
    m_threshold->setAccessibleName(QStringLiteral("Least measure"));
    row->addWidget(m_threshold);
    column->addLayout(row);
    m_overview = new MapStrip(StripLayout(StripLayout::Flow::Overview),
                              QStringLiteral("Overview of all maps"), this);
    m_overview->picture = [this](QPainter& painter, const QRect& box, const MapId& map, int) {
        const float value = m_measures.of(map).of(m_choice.view().order);
        if (std::isfinite(value)) painter.fillRect(box, m_scales[map.kind].color(value));
        return true;
    };
    column->addWidget(m_overview);
    m_gallery = new MapStrip(StripLayout(StripLayout::Flow::Scrolled),
                             QStringLiteral("Maps of all layers"), this);
    m_gallery->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    m_thumbnails.serve(*m_gallery);
    column->addWidget(m_gallery, 1);
    setFocusProxy(m_gallery);

    m_gallery->label = [this](const MapId& id) {
        const QString name = itemLabel(m_choice.maps(), id);
        const MapOrder order = m_choice.view().order;
        if (order == MapOrder::Index) return name;
        const float value = m_measures.of(id).of(order);
        const QString place = QStringLiteral("L%1 %2%3")
                                  .arg(id.layer + 1)
                                  .arg(QChar(id.kind == MapKind::Relation ? u'r' : u'h'))
                                  .arg(id.index + 1);
        return std::isnan(value)
                   ? place
                   : place + QStringLiteral("  %1").arg(static_cast<double>(value), 0, 'g', 3);
    };
    m_gallery->tip = m_overview->tip = [this](const MapId& id) { return tipOf(id); };
    connect(m_gallery, &MapStrip::chosen, this, &AllMaps::chosen);
    connect(m_overview, &MapStrip::chosen, this, &AllMaps::chosen);
    connect(m_filter, &QLineEdit::textChanged, this, &AllMaps::list);
    connect(m_threshold, &QDoubleSpinBox::valueChanged, this, &AllMaps::list);
    connect(&m_measures, &MapStatistics::changed, this, [this] {
        if (m_choice.view().allLayers) showMeasures();
    });
}

std::vector<MapId> AllMaps::everyMap() const {
    const ViewMaps& maps = m_choice.maps();
    std::vector<MapId> ids;
    for (const MapKind kind : kinds)
        for (int layer = 0; layer < maps.layers(); ++layer)
            for (int k = 0; k < maps.count(kind, layer); ++k)
                if (maps.find(kind, layer, k)) ids.push_back({kind, layer, k});
    return ids;
}

void AllMaps::display() {
    m_measures.setMaps(m_choice.maps());
    // Another order begins with its largest.
    if (std::exchange(m_order, m_choice.view().order) != m_choice.view().order)
        m_gallery->verticalScrollBar()->setValue(0);
    m_threshold->setToolTip(
        QStringLiteral("Show maps with at least this %1")
            .arg(QLatin1String(measureName(m_choice.view().order == MapOrder::Index
                                               ? MapOrder::Magnitude
                                               : m_choice.view().order))));
    list();
    showOverview();
    frame();
    m_measures.request(everyMap());
}

void AllMaps::frame() {
    const InspectorView& view = m_choice.view();
    const MapId id{storedKind(view.kind), view.layer, view.index};
    m_gallery->setCurrent(id);
    m_overview->setCurrent(id);
}

bool AllMaps::passes(const MapId& id, bool byText) const {
    const double least = m_threshold->value();
    if (least > 0.0 && !(m_measures.of(id).of(m_choice.view().order) >= least)) return false;
    if (!byText) return true;
    return MapFilter(m_filter->text())
        .matches(QStringLiteral("%1 %2 %3 layer %4")
                     .arg(m_choice.maps().layerName(id.layer), itemLabel(m_choice.maps(), id),
                          mapKindWords(id.kind))
                     .arg(id.layer + 1));
}

void AllMaps::list() {
    const ViewMaps& maps = m_choice.maps();
    const MapOrder order = m_choice.view().order;
    const bool byText = !MapFilter(m_filter->text()).empty();
    std::vector<StripSection> sections;
    for (const MapKind kind : kinds) {
        std::vector<MapId> all;
        for (int layer = 0; layer < maps.layers(); ++layer) {
            StripSection section{
                QStringLiteral("%1 of %2").arg(kindTitle(maps, kind), maps.layerName(layer)),
                {},
                {}};
            auto& ids = order == MapOrder::Index ? section.maps : all;
            for (int k = 0; k < maps.count(kind, layer); ++k) {
                const MapId id{kind, layer, k};
                if (maps.find(kind, layer, k) && passes(id, byText)) ids.push_back(id);
            }
            if (!section.maps.empty()) sections.push_back(std::move(section));
        }
        if (all.empty()) continue;
        const auto measure = [&](const MapId& id) { return m_measures.of(id).of(order); };
        sortBy(measure, all);
        // The unknown ones are last: without a first, the kind has no such measure.
        const bool none = m_measures.complete() && std::isnan(measure(all.front()));
        sections.push_back(
            {(none ? QStringLiteral("%1, which have no %2") : QStringLiteral("%1 by %2"))
                 .arg(kindTitle(maps, kind), QLatin1String(measureName(order))),
             {},
             std::move(all)});
    }
    if (sections.empty())
        sections.push_back({{},
                            !computingText(maps).isEmpty() ? computingText(maps)
                            : byText || m_threshold->value() > 0.0
                                ? QStringLiteral("No map matches the filter.")
                                : QStringLiteral("The model has no maps."),
                            {}});
    m_gallery->setSections(std::move(sections));
    m_thumbnails.request(*m_gallery);
}

void AllMaps::showOverview() {
    const ViewMaps& maps = m_choice.maps();
    const MapOrder order = m_choice.view().order;
    const auto all = everyMap();
    std::vector<StripSection> sections;
    m_scales.clear();
    for (const auto& [kind, title] :
         {std::pair(MapKind::Relation, "r"), std::pair(MapKind::RelationalAttention, "rel."),
          std::pair(MapKind::SensoryAttention, "sens.")}) {
        StripSection section{QLatin1String(title), {}, {}};
        Extent extent;
        for (const MapId& map : all) {
            if (map.kind != kind) continue;
            section.maps.push_back(map);
            const float v = m_measures.of(map).of(order);
            if (std::isfinite(v)) extent.include({v, v, true});
        }
        if (section.maps.empty()) continue;
        // Each has a scale of its own: weights and relations are different quantities.
        m_scales[kind] = {
            ColorScale::Kind::Sequential,
            extent.any && extent.high > extent.low ? Limits{extent.low, extent.high} : Limits{0, 1},
            Theme::current()};
        sections.push_back(std::move(section));
    }
    m_overview->setVisible(!sections.empty());
    m_overview->setAccessibleName(
        QStringLiteral("Overview of all maps: ") +
        QLatin1String(measureName(order == MapOrder::Index ? MapOrder::Magnitude : order)));
    m_overview->setLayers(maps.layers());
    m_overview->setSections(std::move(sections));
}

void AllMaps::showMeasures() {
    showOverview();
    if (m_choice.view().order != MapOrder::Index || m_threshold->value() > 0.0)
        list();
    else
        m_gallery->refresh();
}

QString AllMaps::tipOf(const MapId& id) const {
    QStringList parts{m_choice.maps().layerName(id.layer),
                      QStringLiteral("%1 %2").arg(mapKindWords(id.kind)).arg(id.index + 1)};
    const MapMeasures measures = m_measures.of(id);
    for (int k = 1; k < kMapOrders; ++k)
        if (const float value = measures.of(static_cast<MapOrder>(k)); !std::isnan(value))
            parts << QStringLiteral("%1 %2")
                         .arg(QLatin1String(measureName(static_cast<MapOrder>(k))))
                         .arg(static_cast<double>(value), 0, 'g', 3);
    return parts.join(QStringLiteral(" \u00B7 "));
}

}  // namespace relascope::widgets
