// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/small_maps.h"

#include <QActionGroup>
#include <QHBoxLayout>
#include <QMenu>

#include "widgets/export/export.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/multiples_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

/// Sorts, and frames the map of the view; for alpha x r also its head.
void frame(MultiplesView& multiples, const InspectorView& view) {
    multiples.setSortByMagnitude(view.sortByMagnitude);
    multiples.setCurrent(storedKind(view.kind), view.index);
    if (view.kind == MapKind::AttentionTimesRelation)
        multiples.setSecond(MapKind::RelationalAttention, view.head);
    else
        multiples.clearSecond();
}

}  // namespace

MapKind storedKind(MapKind kind) {
    return kind == MapKind::AttentionTimesRelation ? MapKind::Relation : kind;
}

void showMultiples(MultiplesView& multiples, const ViewMaps& maps, const InspectorView& view) {
    struct Part {
        MapKind kind;
        QString title;
    };
    const Part parts[] = {
        {MapKind::Relation, QStringLiteral("Relations of ") + maps.layerName(view.layer)},
        {MapKind::RelationalAttention, QStringLiteral("Relational attention")},
        {MapKind::SensoryAttention, sensoryTitle(maps, view.layer)},
    };
    std::vector<MultipleGroup> groups;
    for (const Part& part : parts) {
        MultipleGroup group{part.title,
                            layerAbsence(maps, part.kind, view.layer),
                            {},
                            part.kind != MapKind::Relation};
        const int count = maps.count(part.kind, view.layer);
        for (int k = 0; k < count; ++k) {
            const RelationMap* map = maps.result()->find(part.kind, view.layer, k);
            const QSize shape = map ? QSize(map->columns, map->rows) : QSize();
            group.items.push_back({part.kind,
                                   k,
                                   itemLabel(part.kind, k),
                                   {},
                                   maps.magnitude(part.kind, view.layer, k),
                                   MapValues::Mask::None,
                                   maps.turned(view) ? shape.transposed() : shape});
        }
        groups.push_back(std::move(group));
    }
    const int side = multiples.sideFor(groups);
    for (MultipleGroup& group : groups) {
        std::vector<MapValues>
            small;  // all of them first: they leave the extents that the scale needs
        for (const MultipleItem& item : group.items)
            small.push_back(maps.thumbnail(
                item.kind, item.index, view,
                MultiplesLayout::blockFor(qMax(item.shape.width(), item.shape.height()), side)));
        ColorScale shared;
        for (std::size_t k = 0; k < small.size(); ++k) {
            MultipleItem& item = group.items[k];
            if (k == 0 || view.range == Range::ThisMap)
                shared = maps.thumbnailScale(item.kind, item.index, view);
            item.cells = cellImage(small[k], shared);
            item.mask = small[k].mask;
        }
    }
    multiples.setGroups(std::move(groups));
    frame(multiples, view);
}

SmallMaps::SmallMaps(const ViewChoice& choice, QWidget* parent)
    : Box(&Theme::panel, false, parent), m_choice(choice) {
    setMinimumWidth(200);
    auto* row = rowOf(this, {14, 10, 10, 8}, 6);
    m_multiples = new MultiplesView(this);
    row->addWidget(m_multiples, 1);
    auto* side = new QVBoxLayout;
    side->setSpacing(4);
    m_layers = new LayerSlider(this);
    auto* more = iconButton("more", QStringLiteral("Maps: sort, copy, save"), this);
    m_menu = new ViewMenu(more, m_multiples->canvas(),
                          [this] { return m_choice.figureName(FigurePart::SmallMaps); });
    m_choice.setFigure(*m_menu, FigurePart::SmallMaps);
    side->addWidget(more, 0, Qt::AlignRight);
    side->addWidget(m_layers, 1, Qt::AlignRight);
    row->addLayout(side);

    m_menu->menu()->addSeparator();
    m_order =
        addChoices(m_menu->menu(),
                   {QStringLiteral("Sort by index"), QStringLiteral("Sort by largest magnitude")},
                   0, [this](int entry) {
                       InspectorView request = m_choice.view();
                       request.sortByMagnitude = entry == 1;
                       Q_EMIT viewRequested(request);
                   });
    connect(m_layers, &LayerSlider::chosen, this, [this](int layer) {
        InspectorView request = m_choice.view();
        request.layer = layer;
        Q_EMIT viewRequested(request);
    });
    connect(m_multiples, &MultiplesView::resolutionChanged, this, [this] {
        if (!m_choice.empty()) showMultiples(*m_multiples, m_choice.maps(), m_choice.view());
    });
}

void SmallMaps::display() {
    QStringList names;
    for (int layer = 0; layer < m_choice.maps().layers(); ++layer)
        names << m_choice.maps().layerName(layer);
    m_layers->setLayers(names);
    showMultiples(*m_multiples, m_choice.maps(), m_choice.view());
    mark();
}

void SmallMaps::displayAfter(const InspectorView& before) {
    const InspectorView& view = m_choice.view();
    if (view.layer != before.layer || view.processing != before.processing ||
        view.range != before.range || view.robust != before.robust || view.topK != before.topK ||
        view.paper != before.paper || view.reversed != before.reversed)
        showMultiples(*m_multiples, m_choice.maps(), view);
    else
        frame(*m_multiples, view);
    mark();
}

void SmallMaps::mark() {
    m_layers->setCurrent(m_choice.view().layer);
    m_order->actions().at(m_choice.view().sortByMagnitude ? 1 : 0)->setChecked(true);
}

}  // namespace relascope::widgets
