// SPDX-License-Identifier: GPL-3.0-or-later
// The results of a probe, in one layout for all models, screens and files.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// Makes the values of maps when they are read, from factors that take less memory than the maps.
/// All functions may be called from several threads at once.
class MapSource {
public:
    virtual ~MapSource() = default;
    /// Writes the rows first .. first + count - 1 of map number `index` to out, [count, columns].
    virtual void rows(int index, int first, int count, float* out) const = 0;
    /// One value; sources for which a cell is cheaper than its row override this.
    virtual float cell(int index, int row, int column, int columns) const {
        std::vector<float> whole(static_cast<std::size_t>(columns));
        rows(index, row, 1, whole.data());
        return whole[static_cast<std::size_t>(column)];
    }
    /// Multiplications for each cell, for estimates of time.
    virtual std::int64_t cost() const { return 1; }
};

/// One matrix. Rows are receivers i ("from"), columns senders j ("to"); values are row-major. They
/// are stored, or made by a source when they are read.
struct RelationMap {
    MapKind kind = MapKind::Relation;
    int layer = 0;  ///< counted from 0; screens show layer + 1
    int index = 0;  ///< relation or head, counted from 0
    int rows = 0;
    int columns = 0;
    std::vector<float> values;  ///< [rows, columns]; empty if there is a source
    bool causal = false;        ///< cells j > i are masked: shown hatched, never coloured
    /// For maps of symbols: columns are the senders j, and a value is the library row of the pair
    /// (i, j). Otherwise columns are symbols, and a value is a weight.
    bool libraryRows = false;
    /// The file of a relation that was fitted afterwards; empty: a map of the model. Fitted maps
    /// are numbered behind the layer's own. Objects before the first place have no values.
    std::string fitted = {};
    std::shared_ptr<const MapSource> source = {};  ///< null: `values` holds the values

    std::size_t cells() const {
        return static_cast<std::size_t>(std::max(0, rows)) *
               static_cast<std::size_t>(std::max(0, columns));
    }
    /// Whether every cell has a value; a map with fewer stored values cannot be read.
    bool complete() const { return source != nullptr || values.size() >= cells(); }
    /// One value. With a source each call computes it: read whole rows where many are needed.
    float at(int row, int column) const {
        return source ? source->cell(index, row, column, columns)
                      : values[static_cast<std::size_t>(row) * columns + column];
    }
    /// Writes the rows first .. first + count - 1 to out, [count, columns].
    void readRows(int first, int count, float* out) const {
        if (source) return source->rows(index, first, count, out);
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first) * columns;
        std::copy(begin, begin + static_cast<std::ptrdiff_t>(count) * columns, out);
    }
    /// All values, [rows, columns].
    std::vector<float> all() const {
        if (!source) return values;
        std::vector<float> out(cells());
        source->rows(index, 0, rows, out.data());
        return out;
    }
    bool masked(int row, int column) const { return causal && column > row; }
    /// Maps with the same values, stored or made.
    bool operator==(const RelationMap& other) const {
        return kind == other.kind && layer == other.layer && index == other.index &&
               rows == other.rows && columns == other.columns && causal == other.causal &&
               libraryRows == other.libraryRows && fitted == other.fitted &&
               ((source && source == other.source) || all() == other.all());
    }
};

/// The grid of patches that the tokens of a vision model stand for.
struct PatchGrid {
    int rows = 0;
    int columns = 0;
    bool classToken = false;  ///< token 0 is the class token
    int otherTokens = 0;      ///< further tokens before the patches: of distillation, registers
    int registers = 0;        ///< the last of these, which have no meaning of their own

    /// Tokens before the patches: patch p is token p + firstTokens(). Others may be behind them.
    int firstTokens() const { return (classToken ? 1 : 0) + otherTokens; }
    int tokens() const { return rows * columns + firstTokens(); }
    bool isDistillation(int token) const {
        return classToken && otherTokens == registers + 1 && token == 1;
    }
    /// The number of a register from 1; 0 for other tokens.
    int registerOf(int token) const {
        const int number = token - (firstTokens() - registers) + 1;
        return number > 0 && number <= registers ? number : 0;
    }
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
    PatchGrid grid;  ///< patches of an image; without rows for other inputs
    std::vector<std::string> classNames;
    std::vector<float> probabilities;  ///< softmax of the (last) outputs, one for each class
    std::vector<RelationMap> maps;     ///< sorted by kind, layer, index
    std::vector<ProbeLayer> layers;    ///< in the order of computation
    std::vector<ProbeSide> sides;      ///< only the patches for an image
    /// The forward pass still runs: layers without maps follow, and the outputs. The result is
    /// replaced by one with more of them.
    bool partial = false;
    /// Why the outputs are not answers: they are not finite, and there are no probabilities.
    /// Otherwise empty.
    std::string notFinite = {};
    /// The answer are features of an image: there are no classes, and no probabilities.
    bool features = false;

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
