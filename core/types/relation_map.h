// SPDX-License-Identifier: GPL-3.0-or-later
// The results of a probe, in one layout for all models, screens and files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "types/image.h"

namespace relascope {

/// Relation: r_ij[l], signed. RelationalAttention, SensoryAttention: alpha_ij after softmax.
/// AttentionTimesRelation: alpha_ij^h r_ij[l], computed for display, never stored. Symbols: row i =
/// object, column = symbol, weight of the retrieval; position-relative symbols differ
/// (RelationMap::libraryRows).
enum class MapKind {
    Relation,
    RelationalAttention,
    SensoryAttention,
    AttentionTimesRelation,
    Symbols
};

inline const char* mapKindName(MapKind kind) {
    static constexpr std::array names = {"relation", "attention-ra", "attention-sa",
                                         "attention-x-relation", "symbols"};
    return names.at(static_cast<std::size_t>(kind));
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
    /// For maps of symbols: columns are the senders j, and a value is the library row of the pair
    /// (i, j). Otherwise columns are symbols, and a value is a weight.
    bool libraryRows = false;

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

/// A sequence of tokens or of vectors, as a model reads it.
struct ProbeSequence {
    std::vector<std::int64_t> tokens;
    std::vector<float> vectors;  ///< [n, width] row-major, where the objects are vectors
    int width = 0;
    std::vector<std::string> labels;  ///< display names of the elements; may be empty
    bool text = false;  ///< labels are pieces of text, as bytes; joined they give the text
    std::vector<Image> pictures;  ///< one for each object, if objects can be drawn; may be empty

    int size() const {
        return width > 0 ? static_cast<int>(vectors.size()) / width
                         : static_cast<int>(tokens.size());
    }
    bool operator==(const ProbeSequence&) const = default;
};

/// The input of a probe: an image, a sequence or set of objects, or a source and a target sequence;
/// and its origin.
struct ProbeSample {
    Image image;
    std::int64_t label = -1;  ///< -1 when unknown
    std::string origin;       ///< "validation 12", or a file name
    ProbeSequence source = {};
    ProbeSequence target = {};
    bool operator==(const ProbeSample&) const = default;
};

/// The objects along the rows or columns of maps: "patches", "source", "target".
struct ProbeSide {
    std::string name;
    std::vector<std::string> labels;  ///< one for each object; empty for the patches of an image
    bool operator==(const ProbeSide&) const = default;
};

/// An attention layer of a model: "layer 2", "encoder 1", "decoder 1 cross".
struct ProbeLayer {
    std::string name;
    int rows = 0;     ///< which side receives, an index of ProbeResult::sides
    int columns = 0;  ///< which side sends
    bool operator==(const ProbeLayer&) const = default;
};

/// Everything the inspector shows of one sample at one point of training.
struct ProbeResult {
    std::int64_t step = 0;
    ProbeSample sample;
    PatchGrid grid;  ///< of an image; without rows for other inputs
    std::vector<std::string> classNames;
    std::vector<float> probabilities;  ///< softmax of the (last) outputs, one for each class
    std::vector<RelationMap> maps;     ///< sorted by kind, layer, index
    std::vector<ProbeLayer> layers;    ///< in the order of computation
    std::vector<ProbeSide> sides;      ///< of an image: only its patches

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
