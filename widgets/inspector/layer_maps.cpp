// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/layer_maps.h"

#include "widgets/inspector/measures.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/multiples_view.h"

namespace relascope::widgets {

std::vector<MultipleGroup> groupsOf(const ViewMaps& maps, const InspectorView& view,
                                    const Measures* measures) {
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
                                      : map && view.order != MapOrder::Index ? measuresOf(*map)
                                                                             : MapMeasures();
            group.items.push_back({part.kind,
                                   k,
                                   itemLabel(part.kind, k),
                                   {},
                                   known.of(view.order),
                                   MapValues::Mask::None,
                                   maps.turned(view) ? shape.transposed() : shape});
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

}  // namespace relascope::widgets
