// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <QComboBox>
#include <QHBoxLayout>
#include <QPainter>
#include <QStackedLayout>
#include <QStandardItemModel>

#include "widgets/export/export.h"
#include "widgets/inspector/all_maps.h"
#include "widgets/inspector/map_statistics.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_text.h"
#include "widgets/kit/map_strip.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

Thumbnails::Thumbnails(BackgroundWork& work, QObject* parent) : QObject(parent), m_work(work) {
    m_work.setLane(BackgroundWork::Thumbnails, [this] { return next(); });
}

void Thumbnails::setView(const ViewMaps& maps, const InspectorView& view) {
    const bool sameValues = view.processing == m_view.processing && view.topK == m_view.topK &&
                            view.reversed == m_view.reversed;
    const bool sameMaps = maps.shared() == m_maps.shared();
    if (!sameValues) {
        m_kept.clear();
    } else if (!sameMaps) {
        for (const Key& kept : m_kept.keys()) {
            const auto& [kind, layer, index] = kept.map;
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

void Thumbnails::serve(MapStrip& strip) {
    strip.shape = [this](const MapId& id) {
        const RelationMap* map = m_maps.find(id.kind, id.layer, id.index);
        const QSize shape = map ? QSize(map->columns, map->rows) : QSize();
        return m_maps.isTransposed(viewOf(id)) ? shape.transposed() : shape;
    };
    strip.picture = [this](QPainter& painter, const QRect& box, const MapId& map, int block) {
        const QPixmap made = picture({map, block}, box.size(), painter.deviceTransform().m11());
        if (made.isNull()) return false;
        painter.drawPixmap(box.topLeft(), made);
        return true;
    };
    connect(&strip, &MapStrip::moved, this, [this, &strip] {
        if (&strip == m_strip) request(strip);
    });
}

void Thumbnails::request(MapStrip& strip) {
    m_strip = &strip;
    m_requested.clear();
    const auto nearest = strip.nearest();
    for (auto tile = nearest.rbegin(); tile != nearest.rend(); ++tile) {
        const Key key{strip.tiles().map(*tile), strip.tiles().blockOf(*tile)};
        if (!m_kept.contains(key)) m_requested.push_back(key);
    }
    m_work.wake();
}

InspectorView Thumbnails::viewOf(const MapId& map) const {
    InspectorView view = ViewMaps::viewOf(map.kind, map.index, m_view);
    view.layer = map.layer;
    return view;
}

ColorScale Thumbnails::scaleOf(const MapId& map, const MapValues& values) {
    const InspectorView view = viewOf(map);
    if (!m_maps.sharesScale(view)) {
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

QPixmap Thumbnails::picture(const Key& key, const QSize& size, qreal ratio) {
    Entry* kept = m_kept.object(key);
    // While a pane is resized: a coarser or finer one, until this one is made.
    for (int block = 1; !kept && block <= 64; ++block) kept = m_kept.object({key.map, block});
    if (!kept) return {};
    if (std::exchange(kept->colours, m_colours) != m_colours) {
        kept->cells = cellImage(kept->values, scaleOf(key.map, kept->values));
        kept->picture = QPixmap();
    }
    if (kept->picture.size() != size * ratio) {
        kept->picture = QPixmap(size * ratio);
        kept->picture.setDevicePixelRatio(ratio);
        QPainter painter(&kept->picture);
        painter.drawImage(QRect(QPoint(0, 0), size), kept->cells);
        drawMask(painter, QPointF(0, 0),
                 static_cast<qreal>(size.width()) / qMax(1, kept->cells.width()), kept->values);
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
        if (m_kept.contains(key)) continue;
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
                m_kept.insert(made.key, new Entry{std::move(made.values), {}, {}, -1},
                              qMax<qsizetype>(1, bytes / 1024));
            }
            if (m_strip) m_strip->refresh();
        }};
}

namespace {

/// ", symmetry 0.93"; empty for a map without the measure.
QString measureOf(const MapMeasures& measures, MapOrder order) {
    if (order == MapOrder::Index) order = MapOrder::Magnitude;
    const float value = measures.of(order);
    return std::isnan(value) ? QString()
                             : QStringLiteral(", %1 %2")
                                   .arg(QLatin1String(measureName(order)))
                                   .arg(static_cast<double>(value), 0, 'g', 4);
}

}  // namespace

SmallMaps::SmallMaps(const ViewChoice& choice, BackgroundWork& work, QWidget* parent)
    : Box(&Theme::panel, false, parent),
      m_choice(choice),
      m_work(work),
      m_thumbnails(new Thumbnails(work, this)),
      m_measures(new MapStatistics(work, this)) {
    setMinimumWidth(130);
    auto* row = rowOf(this, {12, 4, 8, 8}, 6);
    auto* column = new QVBoxLayout;
    column->setSpacing(6);
    column->addWidget(makeHead());
    auto* maps = new QWidget(this);
    m_stack = new QStackedLayout(maps);
    m_multiples = new MapStrip(StripLayout(StripLayout::Flow::Fitted),
                               QStringLiteral("Maps of the layer"), maps);
    m_thumbnails->serve(*m_multiples);
    m_all = new AllMaps(choice, *m_thumbnails, *m_measures, maps);
    m_stack->addWidget(m_multiples);
    m_stack->addWidget(m_all);
    column->addWidget(maps, 1);
    row->addLayout(column, 1);
    auto* side = new QVBoxLayout;
    side->setSpacing(4);
    m_layers = new LayerSlider(this);
    auto* more = iconButton("more", QStringLiteral("Maps: copy, save"), this);
    m_menu = new ViewMenu(more, m_multiples->canvas(),
                          [this] { return m_choice.figureName(FigurePart::SmallMaps); });
    m_choice.setFigure(*m_menu, FigurePart::SmallMaps);
    setTabOrder(m_order, more);  // from left to right
    side->addWidget(more, 0, Qt::AlignRight);
    side->addWidget(m_layers, 1, Qt::AlignRight);
    row->addLayout(side);

    m_multiples->label = [this](const MapId& id) { return itemLabel(m_choice.maps(), id); };
    m_multiples->tip = [this](const MapId& id) {
        const RelationMap* map = m_choice.maps().find(id.kind, id.layer, id.index);
        return itemLabel(m_choice.maps(), id) +
               (map ? measureOf(measuresOf(*map), m_choice.view().order) : QString());
    };
    m_multiples->marks = [this](const MapId& id) {
        return MapStrip::Marks{m_choice.moved(id), m_choice.takenOut(id)};
    };
    connect(m_layers, &LayerSlider::chosen, this, [this](int layer) {
        Q_EMIT viewRequested(m_choice.view().with(&InspectorView::layer, layer));
    });
    connect(m_all, &AllMaps::chosen, this, &SmallMaps::mapChosen);
    connect(m_multiples, &MapStrip::chosen, this, &SmallMaps::mapChosen);
    connect(m_measures, &MapStatistics::changed, this, [this] {
        if (m_choice.empty() || m_choice.view().allLayers) return;
        // A new order moves the pictures, and pictures to make come into view.
        displayLayer();
    });
}

QWidget* SmallMaps::makeHead() {
    auto* head = new QWidget(this);
    auto* row = rowOf(head, {}, 6);
    m_scope = new SegmentedControl({QStringLiteral("Layer"), QStringLiteral("All")}, head);
    m_scope->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);  // in a narrow pane, too
    m_scope->setAccessibleName(QStringLiteral("Small maps of"));
    m_scope->setItemToolTip(0, QStringLiteral("Show the maps of the layer (A)"));
    m_scope->setItemToolTip(1, QStringLiteral("Show the maps of all layers (A)"));
    m_order = new QComboBox(head);
    m_order->setFont(smallFont());
    m_order->setAccessibleName(QStringLiteral("Order of the small maps"));
    m_order->setToolTip(QStringLiteral("Order of the small maps"));
    m_order->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_order->setMinimumWidth(60);
    m_order->setMaximumWidth(140);
    for (int k = 0; k < kMapOrders; ++k) {
        const auto order = static_cast<MapOrder>(k);
        m_order->addItem(QString::fromLatin1(measureName(order)));
        m_order->setItemData(k, QLatin1String(measureText(order)), Qt::ToolTipRole);
    }
    row->addWidget(m_scope);
    row->addWidget(m_order, 1);
    row->addStretch(0);
    connect(m_scope, &SegmentedControl::changed, this, [this](int which) {
        Q_EMIT viewRequested(m_choice.view().with(&InspectorView::allLayers, which));
    });
    connect(m_order, &QComboBox::activated, this, [this](int which) {
        Q_EMIT viewRequested(m_choice.view().with(&InspectorView::order, which));
    });
    return head;
}

void SmallMaps::display() {
    QStringList names;
    for (int layer = 0; layer < m_choice.maps().layers(); ++layer)
        names << m_choice.maps().layerName(layer);
    m_layers->setLayers(names);
    m_thumbnails->recolour();  // the theme may have changed
    m_choice.view().allLayers ? displayAll() : displayLayer();
    mark();
}

void SmallMaps::displayAfter(const InspectorView& before) {
    InspectorView view = m_choice.view();
    // Another map of the same layer, or of any layer where all are listed, only moves the frame.
    view.kind = before.kind;
    view.index = before.index;
    view.head = before.head;
    if (view.allLayers) view.layer = before.layer;
    view.source = before.source;
    view.target = before.target;
    if (view.reading == before.reading && view == before)
        m_choice.view().allLayers ? m_all->frame() : frameMultiples(*m_multiples, m_choice.view());
    else
        m_choice.view().allLayers ? displayAll() : displayLayer();
    mark();
}

void SmallMaps::displayAll() {
    m_stack->setCurrentWidget(m_all);
    m_thumbnails->setView(m_choice.maps(), m_choice.view());
    m_all->display();
}

void SmallMaps::displayLayer() {
    const ViewMaps& maps = m_choice.maps();
    const InspectorView& view = m_choice.view();
    m_stack->setCurrentWidget(m_multiples);
    m_thumbnails->setView(maps, view);
    measureLayer();
    m_multiples->setSections(layerSections(maps, view, m_measures));
    frameMultiples(*m_multiples, view);
    m_thumbnails->request(*m_multiples);
}

/// Offers the kinds of places that the input has.
void SmallMaps::offerOrders() {
    const ProbeResult* result = m_choice.maps().result();
    const bool image = result && result->grid.rows > 0,
               text = result && !result->sample.source.tokens.empty() && result->sides.size() == 1;
    auto* items = qobject_cast<QStandardItemModel*>(m_order->model());
    for (int k = kFirstPlace; items && k < kMapOrders; ++k) {
        const auto order = static_cast<MapOrder>(k);
        const bool ofImage = order == MapOrder::ClassToken || order == MapOrder::Neighbours;
        const bool offered = order == MapOrder::ClassToken ? image && result->grid.classToken
                             : order == MapOrder::Itself   ? image || text
                             : ofImage                     ? image
                                                           : text;
        items->item(k)->setEnabled(offered);
    }
}

/// Asks for the measures by which the layer is sorted.
void SmallMaps::measureLayer() {
    const ViewMaps& maps = m_choice.maps();
    const InspectorView& view = m_choice.view();
    m_measures->setMaps(maps);
    if (view.order == MapOrder::Index) return;
    std::vector<MapId> ids;
    for (const MapKind kind :
         {MapKind::Relation, MapKind::RelationalAttention, MapKind::SensoryAttention})
        for (int k = 0; k < maps.count(kind, view.layer); ++k)
            if (!m_measures->known({kind, view.layer, k})) ids.push_back({kind, view.layer, k});
    if (!ids.empty()) m_measures->request(std::move(ids));
}

/// The order gives way where there is room for the maps alone.
void SmallMaps::fitHead() {
    m_order->setVisible(width() >= 215);
}

void SmallMaps::resizeEvent(QResizeEvent* event) {
    Box::resizeEvent(event);
    fitHead();
}

void SmallMaps::recolour() {
    m_thumbnails->recolour();
    m_multiples->refresh();
    m_all->gallery()->refresh();
}

void SmallMaps::mark() {
    m_layers->setCurrent(m_choice.view().layer);
    m_scope->setCurrent(m_choice.view().allLayers ? 1 : 0);
    m_scope->setVisible(m_choice.maps().layers() > 1 || m_choice.view().allLayers);
    fitHead();
    offerOrders();
    m_order->setCurrentIndex(static_cast<int>(m_choice.view().order));
}

}  // namespace relascope::widgets
