// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/result_checks.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "wire/frame.h"

namespace relascope::wire {
namespace {

constexpr auto kMostIndex = static_cast<std::size_t>(std::numeric_limits<int>::max());

/// `least` is -1 where an index may be missing.
void requireIndex(const char* what, std::int64_t index, std::size_t count, std::int64_t least = 0) {
    if (index < least || std::cmp_greater_equal(index, count))
        throw FrameError(std::string(what) + " is " + std::to_string(index) + ", and there are " +
                         std::to_string(count));
}

void requireSize(const char* what, std::size_t size, std::size_t wanted) {
    if (size != wanted)
        throw FrameError(std::string(what) + " are " + std::to_string(size) + " in place of " +
                         std::to_string(wanted));
}
void requireSizeOrNone(const char* what, std::size_t size, std::size_t wanted) {
    if (size > 0) requireSize(what, size, wanted);
}

void check(const RelationAtlas::Relation& relation, const RelationAtlas& atlas) {
    const auto attributes = atlas.attributes.size();
    const auto objects = static_cast<std::size_t>(atlas.objects);
    requireSize("the attributes of a map", relation.fits.size(), attributes);
    requireSizeOrNone("the shares of a map", relation.shares.size(), 5);
    requireIndex("the attribute of a map", relation.attribute, attributes, -1);
    requireIndex("the labelled attribute of a map", relation.labelled, attributes, -1);
    for (const auto* others : {&relation.also, &relation.asGood})
        for (const auto other : *others)
            requireIndex("another attribute of a map", other, attributes);
    requireIndex("the group of a map", relation.group, atlas.relations.size());
    requireIndex("the number of a map", relation.index, kMostIndex);
    requireIndex("the layer of a map", relation.layerIndex, kMostIndex, -1);
    for (const auto* pairs : {&relation.highest, &relation.lowest, &relation.nearZero})
        for (const auto& pair : *pairs) {
            requireIndex("object i of a pair", pair.i, objects);
            requireIndex("object j of a pair", pair.j, objects);
            requireIndex("the row of a pair", pair.row, kMostIndex);
            requireIndex("the column of a pair", pair.column, kMostIndex);
        }
}

}  // namespace

void check(const RelationAtlas& atlas) {
    const auto maps = atlas.relations.size();
    requireIndex("the number of objects", atlas.objects, kMostIndex);
    requireIndex("the number of columns", atlas.columns,
                 static_cast<std::size_t>(atlas.objects) + 1);
    for (const auto& relation : atlas.relations) check(relation, atlas);
    requireSizeOrNone("the correlations", atlas.correlation.size(), maps * maps);
    requireSizeOrNone("the joins", atlas.tree.size(), maps > 0 ? maps - 1 : 0);
    std::set<std::int64_t> joined;
    for (std::size_t k = 0; k < atlas.tree.size(); ++k)
        for (const auto side : {atlas.tree[k].first, atlas.tree[k].second}) {
            requireIndex("a side of a join", side, maps + k);
            if (!joined.insert(side).second)
                throw FrameError("cluster " + std::to_string(side) + " is joined twice");
        }
    requireIndex("the number of untrained models", atlas.untrainedModels, kMostIndex);
    requireSizeOrNone(
        "the values of untrained models", atlas.untrainedFits.size(),
        static_cast<std::size_t>(atlas.untrainedModels) * maps * atlas.attributes.size());
    for (const auto& step : atlas.steps)
        requireSizeOrNone("the values of a step", step.fits.size(), maps);
}

void check(const ModelScan& scan) {
    check(scan.atlas);
    for (const auto& finding : scan.findings) {
        for (const auto map : finding.maps)
            requireIndex("a map of a finding", map, scan.atlas.relations.size());
        for (const auto index : {finding.i, finding.j, finding.layer, finding.index})
            requireIndex("i, j, layer or index of a finding", index, kMostIndex, -1);
    }
}

}  // namespace relascope::wire
