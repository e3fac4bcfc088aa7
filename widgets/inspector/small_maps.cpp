// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/small_maps.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QStackedLayout>
#include <algorithm>
#include <cmath>

#include "widgets/export/export.h"
#include "widgets/inspector/all_maps.h"
#include "widgets/inspector/background.h"
#include "widgets/inspector/layer_maps.h"
#include "widgets/inspector/measures.h"
#include "widgets/inspector/thumbnails.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/gallery_view.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/multiples_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

QString tipOf(const QString& label, const MapMeasures& measures, MapOrder order) {
    if (order == MapOrder::Index) order = MapOrder::Magnitude;
    const float value = measures.of(order);
    return std::isnan(value) ? label
                             : QStringLiteral("%1, %2 %3")
                                   .arg(label, QLatin1String(measureName(order)))
                                   .arg(static_cast<double>(value), 0, 'g', 4);
}

}  // namespace

SmallMaps::SmallMaps(const ViewChoice& choice, BackgroundWork& work, QWidget* parent)
    : Box(&Theme::panel, false, parent),
      m_choice(choice),
      m_work(work),
      m_thumbnails(new Thumbnails(work, this)),
      m_measures(new Measures(work, this)) {
    setMinimumWidth(200);
    auto* row = rowOf(this, {14, 8, 10, 8}, 6);
    auto* column = new QVBoxLayout;
    column->setSpacing(6);
    column->addWidget(makeHead());
    auto* maps = new QWidget(this);
    m_stack = new QStackedLayout(maps);
    m_multiples = new MultiplesView(maps);
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
    side->addWidget(more, 0, Qt::AlignRight);
    side->addWidget(m_layers, 1, Qt::AlignRight);
    row->addLayout(side);

    m_multiples->tip = [this](const MultipleItem& item) {
        const InspectorView& view = m_choice.view();
        const RelationMap* map = m_choice.maps().find(item.kind, view.layer, item.index);
        return map ? tipOf(item.label, measuresOf(*map), view.order) : item.label;
    };
    connect(m_layers, &LayerSlider::chosen, this, [this](int layer) {
        InspectorView request = m_choice.view();
        request.layer = layer;
        Q_EMIT viewRequested(request);
    });
    connect(m_all, &AllMaps::chosen, this, &SmallMaps::mapChosen);
    connect(m_multiples, &MultiplesView::resolutionChanged, this, &SmallMaps::requestMultiples);
    connect(m_multiples, &MultiplesView::moved, this, &SmallMaps::requestMultiples);
    connect(m_thumbnails, &Thumbnails::made, this, [this] {
        if (!m_choice.view().allLayers) fillMultiples();
    });
    connect(m_measures, &Measures::changed, this, [this] {
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
    m_order->setMinimumWidth(76);
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
        InspectorView request = m_choice.view();
        request.allLayers = which == 1;
        Q_EMIT viewRequested(request);
    });
    connect(m_order, &QComboBox::activated, this, [this](int which) {
        InspectorView request = m_choice.view();
        request.order = static_cast<MapOrder>(which);
        Q_EMIT viewRequested(request);
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
    m_multiples->setGroups(groupsOf(maps, view, m_measures));
    const auto in = [layer = view.layer](MapKind kind, int index) {
        return MapId{kind, layer, index};
    };
    m_multiples->setEdited(
        [&](MapKind kind, int index) { return m_choice.moved(in(kind, index)); },
        [&](MapKind kind, int index) { return m_choice.takenOut(in(kind, index)); });
    frameMultiples(*m_multiples, view);
    fillMultiples();
    requestMultiples();
}

/// The measures by which the layer is sorted.
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

void SmallMaps::fillMultiples() {
    const int side = m_multiples->pictures().side();
    m_multiples->fillVisible([&](const MultipleItem& item) {
        const Thumbnails::Key key{{item.kind, m_choice.view().layer, item.index},
                                  blockOf(item, side)};
        const MapValues* values = m_thumbnails->values(key);
        return MultiplesView::Filled{m_thumbnails->cells(key),
                                     values ? values->mask : MapValues::Mask::None};
    });
}

void SmallMaps::requestMultiples() {
    if (m_choice.empty() || m_choice.view().allLayers) return;
    const MultiplesLayout& pictures = m_multiples->pictures();
    std::vector<Thumbnails::Key> keys;
    for (const auto& slot : pictures.places()) {
        const MultipleItem& item = pictures.item(slot);
        keys.push_back(
            {{item.kind, m_choice.view().layer, item.index}, blockOf(item, pictures.side())});
    }
    fillMultiples();
    m_thumbnails->request(keys);
}

void SmallMaps::recolour() {
    m_thumbnails->recolour();
    if (m_choice.view().allLayers)
        m_all->gallery()->refresh();
    else
        fillMultiples();
}

void SmallMaps::mark() {
    m_layers->setCurrent(m_choice.view().layer);
    m_scope->setCurrent(m_choice.view().allLayers ? 1 : 0);
    m_scope->setVisible(m_choice.maps().layers() > 1 || m_choice.view().allLayers);
    m_order->setCurrentIndex(static_cast<int>(m_choice.view().order));
}

}  // namespace relascope::widgets
