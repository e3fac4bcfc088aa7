// SPDX-License-Identifier: GPL-3.0-or-later
// Small results of a probe with numbers that a test can say in advance.
#pragma once

#include <cmath>
#include <memory>

#include "support/rooms.h"
#include "types/relation_map.h"

namespace relascope::fixture {

/// Value of a relation at (i, j): different in every cell, of both signs, growing with layer and
/// index.
inline float relationValue(int layer, int index, int i, int j) {
    const float base = 0.25F * static_cast<float>(i + 1) - 0.125F * static_cast<float>(j);
    return ((i + j) % 2 ? -base : base) * (1.0F + 0.5F * static_cast<float>(index)) *
           (1.0F + static_cast<float>(layer));
}

inline RelationMap map(MapKind kind, int layer, int index, int rows, int columns) {
    RelationMap m{kind, layer, index, rows, columns, {}, false};
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            m.values.push_back(
                kind == MapKind::Relation
                    ? relationValue(layer, index, i, j)
                    : (i == j ? 0.5F : 0.5F / static_cast<float>(std::max(1, columns - 1))));
    return m;
}

struct Shape {
    int gridRows = 3, gridColumns = 3;
    bool classToken = true;
    int layers = 2, relations = 8, relational = 2, sensory = 0;
    int patch = 12, channels = 3;
};

inline std::shared_ptr<ProbeResult> result(const Shape& s = {}) {
    auto r = std::make_shared<ProbeResult>();
    r->step = 980;
    for (int l = 0; l < s.layers; ++l) r->layers.push_back({"layer " + std::to_string(l + 1)});
    r->sides = {{"patches", {}}};
    r->grid = {s.gridRows, s.gridColumns, s.classToken};
    r->classNames = {"no match", "match"};
    r->probabilities = {0.188F, 0.812F};
    r->sample.label = 1;
    r->sample.origin = "validation 12";
    Image& image = r->sample.image;
    image = {s.gridColumns * s.patch, s.gridRows * s.patch, s.channels, {}};
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            for (int c = 0; c < s.channels; ++c)
                image.pixels.push_back(static_cast<std::uint8_t>(
                    40 * ((y / s.patch) * s.gridColumns + x / s.patch) % 200 + 20 * c));
    const int n = r->grid.tokens();
    const auto add = [&](MapKind kind, int count) {
        for (int l = 0; l < s.layers; ++l)
            for (int k = 0; k < count; ++k) r->maps.push_back(map(kind, l, k, n, n));
    };
    add(MapKind::Relation, s.relations);
    add(MapKind::RelationalAttention, s.relational);
    add(MapKind::SensoryAttention, s.sensory);
    return r;
}

}  // namespace relascope::fixture
