// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <utility>

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QScrollBar>
#include <QVBoxLayout>

#include "probe/head_places.h"
#include "widgets/inspector/all_maps.h"
#include "widgets/inspector/map_statistics.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/gallery_view.h"
#include "widgets/maps/multiples_view.h"
#include "widgets/maps/overview_view.h"
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

std::vector<MultipleGroup> groupsOf(const ViewMaps& maps, const InspectorView& view,
                                    const MapStatistics* measures) {
    struct Part {
        MapKind kind;
        QString title;
    };
    const Part parts[] = {
        {MapKind::Relation, QStringLiteral("Relations of ") + maps.layerName(view.layer)},
        {MapKind::RelationalAttention, QStringLiteral("Relational attention")},
        {MapKind::SensoryAttention, sensoryTitle(maps, view.layer)},
    };
    if (maps.awaited(view.layer))
        return {{QStringLiteral("Maps of ") + maps.layerName(view.layer),
                 computingText(maps),
                 {},
                 false}};
    std::vector<MultipleGroup> groups;
    // Only a figure has no measures at hand.
    const core::HeadPlaces places(!measures && maps.result() && view.order != MapOrder::Index
                                      ? *maps.result()
                                      : ProbeResult());
    for (const Part& part : parts) {
        MultipleGroup group{part.title,
                            layerAbsence(maps, part.kind, view.layer),
                            {},
                            part.kind != MapKind::Relation && view.shown != Shown::Difference};
        const int count = maps.count(part.kind, view.layer);
        for (int k = 0; k < count; ++k) {
            const RelationMap* map = maps.find(part.kind, view.layer, k);
            const QSize shape = map ? QSize(map->columns, map->rows) : QSize();
            const MapMeasures known = measures ? measures->of({part.kind, view.layer, k})
                                      : map && view.order != MapOrder::Index
                                          ? measuresOf(*map, &places)
                                          : MapMeasures();
            group.items.push_back({part.kind,
                                   k,
                                   itemLabel(part.kind, k),
                                   {},
                                   known.of(view.order),
                                   MapValues::Mask::None,
                                   maps.isTransposed(view) ? shape.transposed() : shape});
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

int blockOf(const MultipleItem& item, int side) {
    return MultiplesLayout::blockFor(qMax(item.shape.width(), item.shape.height()), side);
}

int layerMapsSide(const ViewMaps& maps, InspectorView view, const QSize& size) {
    view.order = MapOrder::Index;  // nothing has to be measured
    return MultiplesLayout::sideFor(groupsOf(maps, view, nullptr), size);
}

LayerMaps layerMaps(const ViewMaps& maps, const InspectorView& view, int side) {
    LayerMaps content{groupsOf(maps, view, nullptr), {}};
    for (const MultipleGroup& group : content.groups) {
        auto& values = content.values.emplace_back();
        for (const MultipleItem& item : group.items)
            values.push_back(maps.thumbnail(item.kind, item.index, view, blockOf(item, side)));
    }
    return content;
}

void showMultiples(MultiplesView& multiples, const ViewMaps& maps, const InspectorView& view,
                   LayerMaps content) {
    for (std::size_t g = 0; g < content.groups.size(); ++g) {
        ColorScale shared;  // after all values: they leave the extents that the scale needs
        for (std::size_t k = 0; k < content.values[g].size(); ++k) {
            MultipleItem& item = content.groups[g].items[k];
            if (k == 0 || view.range == Range::ThisMap)
                shared = maps.thumbnailScale(item.kind, item.index, view);
            item.cells = cellImage(content.values[g][k], shared);
            item.mask = content.values[g][k].mask;
        }
    }
    multiples.setGroups(std::move(content.groups));
    frameMultiples(multiples, view);
}

void frameMultiples(MultiplesView& multiples, const InspectorView& view) {
    multiples.setSortByMeasure(view.order != MapOrder::Index);
    multiples.setCurrent(storedKind(view.kind), view.index);
    if (view.kind == MapKind::AttentionTimesRelation)
        multiples.setSecond(MapKind::RelationalAttention, view.head);
    else
        multiples.clearSecond();
}

namespace {

constexpr MapKind kinds[] = {MapKind::Relation, MapKind::RelationalAttention,
                             MapKind::SensoryAttention};

QString kindWords(MapKind kind) {
    return kind == MapKind::Relation              ? QStringLiteral("relation")
           : kind == MapKind::RelationalAttention ? QStringLiteral("relational attention")
                                                  : QStringLiteral("sensory attention");
}

QString kindTitle(MapKind kind) {
    return kind == MapKind::Relation              ? QStringLiteral("Relations")
           : kind == MapKind::RelationalAttention ? QStringLiteral("Relational attention")
                                                  : QStringLiteral("Sensory attention");
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
    m_overview = new OverviewView(this);
    column->addWidget(m_overview);
    m_gallery = new GalleryView(this);
    column->addWidget(m_gallery, 1);
    setFocusProxy(m_gallery);

    const auto shapeOf = [this](const MapId& id) {
        const RelationMap* map = m_choice.maps().find(id.kind, id.layer, id.index);
        return map ? QSize(map->columns, map->rows) : QSize();
    };
    m_gallery->shape = shapeOf;
    m_gallery->picture = [this, shapeOf](const MapId& id, const QSize& size, qreal ratio) {
        return m_thumbnails.picture({id, m_gallery->pictures().blockFor(shapeOf(id))}, size, ratio);
    };
    m_gallery->label = [this](const MapId& id) {
        const QString name = itemLabel(id.kind, id.index);
        const MapOrder order = m_choice.view().order;
        if (order == MapOrder::Index) return name;
        const float value = m_measures.of(id).of(order);
        const QString place = QStringLiteral("L%1 %2%3")
                                  .arg(id.layer + 1)
                                  .arg(id.kind == MapKind::Relation ? u'r' : u'h')
                                  .arg(id.index + 1);
        return std::isnan(value)
                   ? place
                   : place + QStringLiteral("  %1").arg(static_cast<double>(value), 0, 'g', 3);
    };
    m_gallery->tip = m_overview->tip = [this](const MapId& id) { return tipOf(id); };
    connect(m_gallery, &GalleryView::chosen, this, &AllMaps::chosen);
    connect(m_overview, &OverviewView::chosen, this, [this](const MapId& id) {
        if (m_choice.maps().find(id.kind, id.layer, id.index)) Q_EMIT chosen(id);
    });
    connect(m_gallery, &GalleryView::moved, this, &AllMaps::requestPictures);
    connect(m_filter, &QLineEdit::textChanged, this, &AllMaps::list);
    connect(m_threshold, &QDoubleSpinBox::valueChanged, this, &AllMaps::list);
    connect(&m_thumbnails, &Thumbnails::made, this, [this] {
        if (isVisible()) m_gallery->refresh();
    });
    connect(&m_measures, &MapStatistics::changed, this, [this] {
        if (isVisible()) showMeasures();
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
                     .arg(m_choice.maps().layerName(id.layer), itemLabel(id.kind, id.index),
                          kindWords(id.kind))
                     .arg(id.layer + 1));
}

void AllMaps::list() {
    const ViewMaps& maps = m_choice.maps();
    const MapOrder order = m_choice.view().order;
    const bool byText = !MapFilter(m_filter->text()).empty();
    std::vector<GallerySection> sections;
    for (const MapKind kind : kinds) {
        std::vector<std::pair<float, MapId>> all;
        for (int layer = 0; layer < maps.layers(); ++layer) {
            GallerySection section{
                QStringLiteral("%1 of %2").arg(kindTitle(kind), maps.layerName(layer)), {}};
            for (int k = 0; k < maps.count(kind, layer); ++k) {
                const MapId id{kind, layer, k};
                if (maps.find(kind, layer, k) && passes(id, byText)) section.maps.push_back(id);
            }
            if (order == MapOrder::Index && !section.maps.empty())
                sections.push_back(std::move(section));
            else
                for (const MapId& id : section.maps)
                    all.emplace_back(m_measures.of(id).of(order), id);
        }
        if (order == MapOrder::Index || all.empty()) continue;
        std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return std::isnan(b.first) ? !std::isnan(a.first) : a.first > b.first;
        });
        // The unknown ones are last: without a first, the kind has no such measure.
        const bool none = m_measures.complete() && std::isnan(all.front().first);
        GallerySection section{
            (none ? QStringLiteral("%1, which have no %2") : QStringLiteral("%1 by %2"))
                .arg(kindTitle(kind), QLatin1String(measureName(order))),
            {}};
        for (const auto& [value, id] : all) section.maps.push_back(id);
        sections.push_back(std::move(section));
    }
    m_gallery->setAbsence(!computingText(maps).isEmpty() ? computingText(maps)
                          : byText || m_threshold->value() > 0.0
                              ? QStringLiteral("No map matches the filter.")
                              : QStringLiteral("The model has no maps."));
    m_gallery->setSections(std::move(sections));
    m_gallery->refresh();
    requestPictures();
}

void AllMaps::showOverview() {
    const ViewMaps& maps = m_choice.maps();
    const MapOrder order = m_choice.view().order;
    std::vector<OverviewBlock> blocks;
    for (const MapKind kind : kinds) {
        OverviewBlock block{kind,
                            kind == MapKind::Relation              ? QStringLiteral("r")
                            : kind == MapKind::RelationalAttention ? QStringLiteral("rel.")
                                                                   : QStringLiteral("sens."),
                            0,
                            {}};
        for (int layer = 0; layer < maps.layers(); ++layer)
            block.columns = std::max(block.columns, maps.count(kind, layer));
        if (block.columns == 0) continue;
        for (int layer = 0; layer < maps.layers(); ++layer)
            for (int k = 0; k < block.columns; ++k)
                block.values.push_back(m_measures.of({kind, layer, k}).of(order));
        blocks.push_back(std::move(block));
    }
    m_overview->setVisible(!blocks.empty());
    m_overview->setBlocks(
        maps.layers(), std::move(blocks),
        QLatin1String(measureName(order == MapOrder::Index ? MapOrder::Magnitude : order)));
}

void AllMaps::showMeasures() {
    showOverview();
    if (m_choice.view().order != MapOrder::Index || m_threshold->value() > 0.0)
        list();
    else
        m_gallery->refresh();
}

void AllMaps::requestPictures() {
    if (!isVisible() || m_choice.empty()) return;
    std::vector<Thumbnails::Key> keys;
    for (const MapId& id : m_gallery->nearest()) {
        const RelationMap* map = m_choice.maps().find(id.kind, id.layer, id.index);
        if (map) keys.push_back({id, m_gallery->pictures().blockFor({map->columns, map->rows})});
    }
    m_thumbnails.request(keys);
}

void AllMaps::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    requestPictures();
}

QString AllMaps::tipOf(const MapId& id) const {
    QStringList parts{m_choice.maps().layerName(id.layer),
                      QStringLiteral("%1 %2").arg(kindWords(id.kind)).arg(id.index + 1)};
    const MapMeasures measures = m_measures.of(id);
    for (int k = 1; k < kMapOrders; ++k)
        if (const float value = measures.of(static_cast<MapOrder>(k)); !std::isnan(value))
            parts << QStringLiteral("%1 %2")
                         .arg(QLatin1String(measureName(static_cast<MapOrder>(k))))
                         .arg(static_cast<double>(value), 0, 'g', 3);
    return parts.join(QStringLiteral(" \u00B7 "));
}

}  // namespace relascope::widgets
