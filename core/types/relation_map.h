// What a probe records, in the one order that screens and files use whatever shape the model has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "types/image.h"

namespace relascope {

/// Relation: r_ij[l], signed. RelationalAttention, SensoryAttention: alpha_ij after softmax.
/// AttentionTimesRelation: alpha_ij^h r_ij[l], derived on the screen, never stored.
/// Symbols: row i = object, column = symbol, weight of the retrieval (for position-relative symbols
/// columns are the senders j and the value is the row of the library that (i, j) uses).
enum class MapKind {
    Relation,
    RelationalAttention,
    SensoryAttention,
    AttentionTimesRelation,
    Symbols
};

inline const char* mapKindName(MapKind kind) {
    switch (kind) {
        case MapKind::Relation:
            return "relation";
        case MapKind::RelationalAttention:
            return "attention-ra";
        case MapKind::SensoryAttention:
            return "attention-sa";
        case MapKind::AttentionTimesRelation:
            return "attention-x-relation";
        case MapKind::Symbols:
            return "symbols";
    }
    return "";
}

/// One matrix. Rows are receivers i ("from"), columns senders j ("to"); values row-major.
struct RelationMap {
    MapKind kind = MapKind::Relation;
    int layer = 0;  ///< counted from 0; screens show layer + 1
    int index = 0;  ///< relation or head, counted from 0
    int rows = 0;
    int columns = 0;
    std::vector<float> values;
    bool causal = false;  ///< cells j > i are masked: shown hatched, never coloured

    float at(int row, int column) const {
        return values[static_cast<std::size_t>(row) * columns + column];
    }
    bool masked(int row, int column) const { return causal && column > row; }
    bool operator==(const RelationMap&) const = default;
};

/// The grid of patches that the tokens of a vision model stand for.
struct PatchGrid {
    int rows = 0;
    int columns = 0;
    bool classToken = false;  ///< token 0 is the class token; patch p is then token p + 1

    int tokens() const { return rows * columns + (classToken ? 1 : 0); }
    bool operator==(const PatchGrid&) const = default;
};

/// The object looked at: an image, what it is, and where it came from.
struct ProbeSample {
    Image image;
    std::int64_t label = -1;  ///< -1 when unknown
    std::string origin;       ///< "validation 12", or a file name
    bool operator==(const ProbeSample&) const = default;
};

/// Everything the inspector shows of one sample at one point of training.
struct ProbeResult {
    std::int64_t step = 0;
    ProbeSample sample;
    PatchGrid grid;
    std::vector<std::string> classNames;
    std::vector<float> probabilities;  ///< softmax of the outputs, one a class
    std::vector<RelationMap> maps;     ///< sorted by kind, layer, index
    int layers = 0;

    /// The map of that kind, layer and index, or nullptr.
    const RelationMap* find(MapKind kind, int layer, int index) const {
        for (const auto& map : maps)
            if (map.kind == kind && map.layer == layer && map.index == index) return &map;
        return nullptr;
    }
    /// How many maps of that kind the layer has.
    int count(MapKind kind, int layer) const {
        int n = 0;
        for (const auto& map : maps) n += map.kind == kind && map.layer == layer;
        return n;
    }
};

}  // namespace relascope
