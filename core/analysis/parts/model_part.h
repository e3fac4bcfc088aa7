// SPDX-License-Identifier: GPL-3.0-or-later
// The parts whose amounts add up to a logit, a score or a stream. Layers, heads and relations count
// from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace relascope {

enum class PartKind {
    Embedding,       ///< embedding of the input
    Positions,       ///< the positions' part of the embedding
    SensoryHead,     ///< head of self-attention
    RelationalHead,  ///< both of its paths
    Relation,        ///< inside a relational head: sent through one column of W_r
    Symbols,         ///< inside a relational head: taken from symbols; without a head the stream
                     ///< that an Abstractor begins with
    CrossHead,       ///< head of a decoder that attends to the encoder
    FeedForward,     ///< without its last bias
    Bias,            ///< `where` names its part
    Edits,           ///< changes by edits at points between the parts
    Feature,         ///< feature of an object: `where` is its number from 1, or its name
    Clip,            ///< what clipping takes off queries or keys, as a part of a score
    Distance,        ///< what the distance of two tokens adds to a score
    Mean             ///< what a fitted relation takes off the stream of a place
};
/// The name of a kind: "embedding", "positions", "sensory head", "relational head", "relation",
/// "symbols", "cross head", "feed-forward", "bias", "edits", "feature", "clip", "distance", "mean".
inline const char* partKindName(PartKind kind) {
    static constexpr const char* names[] = {
        "embedding",  "positions",    "sensory head", "relational head", "relation", "symbols",
        "cross head", "feed-forward", "bias",         "edits",           "feature",  "clip",
        "distance",   "mean"};
    return names[static_cast<std::size_t>(kind)];
}

/// The amount that one part of a model adds to a logit.
struct AttributionPart {
    PartKind kind = PartKind::Embedding;
    int layer = -1, head = -1, relation = -1;  ///< -1: has none
    std::string where = {};                    ///< for a bias: "sensory heads", "final norm", ...
    double value = 0.0;
    /// Relations and symbols are already counted in the relational head before them.
    bool inside() const {
        return head >= 0 && (kind == PartKind::Relation || kind == PartKind::Symbols);
    }
    /// The part in words, counted from 1: "layer 2 relational head 1 relation 3".
    std::string text() const {
        std::string words;
        // Those are parts of a score alone, whose layer is that of the map.
        if (kind == PartKind::Clip || kind == PartKind::Distance || kind == PartKind::Mean)
            return partKindName(kind);
        if (layer >= 0) words = "layer " + std::to_string(layer + 1) + " ";
        if (inside()) words += std::string("relational head ") + std::to_string(head + 1) + " ";
        words += partKindName(kind);
        if (kind == PartKind::Relation) return words + " " + std::to_string(relation + 1);
        if (head >= 0 && !inside()) words += " " + std::to_string(head + 1);
        if (kind == PartKind::Feature)
            return where.find_first_not_of("0123456789") == std::string::npos ? words + " " + where
                                                                              : where;
        return where.empty() ? words : words + " of " + where;
    }
};

}  // namespace relascope
