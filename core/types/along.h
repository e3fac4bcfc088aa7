// SPDX-License-Identifier: GPL-3.0-or-later
// A map, one of its cells and an answer of the model at the kept steps of a training.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "types/relation_map.h"

namespace relascope {

/// A map of a probe and a cell of it, all counted from 0.
struct MapCell {
    MapKind kind = MapKind::Relation;
    int layer = 0, index = 0;
    int head = 0;  ///< for AttentionTimesRelation: the relational head of alpha
    int i = 0, j = 0;
    std::string fitted = {};  ///< RelationMap::fitted
    bool sameMap(const MapCell& other) const {
        return kind == other.kind && layer == other.layer && index == other.index &&
               (kind != MapKind::AttentionTimesRelation || head == other.head) &&
               fitted == other.fitted;
    }
    bool operator==(const MapCell&) const = default;
};

/// The values of one input with the weights of one step.
struct AlongValues {
    double value = std::numeric_limits<double>::quiet_NaN();  ///< the cell's value; NaN: masked
    double probability = std::numeric_limits<double>::quiet_NaN();  ///< the answer's, 0..1
    std::vector<float> map;  ///< AlongTraining::mapRows x mapColumns, row-major
};
struct AlongStep {
    std::int64_t step = 0;
    AlongValues now;            ///< values with the edits, if there are any
    AlongValues before;         ///< values without edits; unused unless AlongTraining::edited
    std::uint32_t weights = 0;  ///< KeptStep::checksum, which alone identifies the weights
};

struct AlongTraining {
    MapCell cell;
    std::string layerName;      ///< "layer 2"
    int rows = 0, columns = 0;  ///< size of the map in the model
    /// Maps with a longer side are stored in blocks of `block` x `block` cells; a block holds its
    /// value of largest magnitude.
    static constexpr int kMostSide = 128;
    int block = 1;
    bool causal = false;       ///< cells j > i are masked
    bool libraryRows = false;  ///< values are rows of a library (RelationMap)
    bool edited = false;
    std::int64_t answer = -1;  ///< answer whose probability is given; -1: none
    std::string answerName;
    std::vector<AlongStep> steps;  ///< ascending
    std::int64_t wanted = 0;       ///< steps that were asked for

    int mapRows() const { return (rows + block - 1) / block; }
    int mapColumns() const { return (columns + block - 1) / block; }
    /// Takes the values of another cell from the stored maps. False if they do not have them: the
    /// cell is of another map, or the map is stored in blocks.
    bool chooseCell(const MapCell& other) {
        const bool inside = other.i >= 0 && other.i < rows && other.j >= 0 && other.j < columns;
        if (!inside || block != 1 || !cell.sameMap(other)) return cell == other;
        cell = other;
        const auto at = static_cast<std::size_t>(cell.i) * static_cast<std::size_t>(columns) +
                        static_cast<std::size_t>(cell.j);
        const bool masked = causal && cell.j > cell.i;
        for (auto& step : steps)
            for (auto* values : {&step.now, &step.before})
                if (at < values->map.size())
                    values->value = masked ? std::numeric_limits<double>::quiet_NaN()
                                           : static_cast<double>(values->map[at]);
        return true;
    }
};

}  // namespace relascope
