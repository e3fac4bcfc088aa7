// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/small_maps.h"

#include "widgets/inspector/words.h"
#include "widgets/maps/multiples_view.h"

namespace relascope {

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
                MultiplesView::blockFor(qMax(item.shape.width(), item.shape.height()), side)));
        ColorScale shared;
        for (std::size_t k = 0; k < small.size(); ++k) {
            MultipleItem& item = group.items[k];
            if (k == 0 || view.range == Range::ThisMap)
                shared = maps.thumbnailScale(item.kind, item.index, view);
            item.cells = cellImage(small[k], shared);
            item.mask = small[k].mask;
        }
    }
    multiples.setSortByMagnitude(view.sortByMagnitude);
    multiples.setGroups(std::move(groups));
    multiples.setCurrent(storedKind(view.kind), view.index);
    if (view.kind == MapKind::AttentionTimesRelation)
        multiples.setSecond(MapKind::RelationalAttention, view.head);
    else
        multiples.clearSecond();
}

}  // namespace relascope
