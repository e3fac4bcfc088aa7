// SPDX-License-Identifier: GPL-3.0-or-later
// The answers that a model would give after each layer (logit lens), and the amounts that its parts
// add to an answer (direct logit attribution). Layers, heads and relations count from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relascope {

struct LensOptions {
    std::int64_t top = 5;               ///< how many answers a cell has
    std::vector<std::int64_t> answers;  ///< further answers, with a probability in every cell
    std::int64_t position = kEvery;     ///< only this position; negative: from the end

    static constexpr std::int64_t kEvery = INT64_MIN;
    bool operator==(const LensOptions&) const = default;
};

/// A class or a token.
struct LensAnswer {
    std::int64_t id = -1;
    std::string name;  ///< the class's name or the token's text; otherwise the id
    double logit = 0.0, probability = 0.0;
};

/// The answers that the stream at one position gives after one layer.
struct LensCell {
    std::vector<LensAnswer> top;    ///< most likely first
    std::vector<LensAnswer> asked;  ///< those of LensOptions::answers, in order
    double probability = 0.0;       ///< of the model's own answer at the position
    std::int64_t rank = 0;          ///< of the model's own answer, from 1
    double entropy = 0.0;           ///< nats
};

struct LensResult {
    std::vector<std::string> rows;  ///< "embedding", "layer 1", ...
    bool whole = false;  ///< one answer for the whole input: a single column without a position
    std::vector<std::int64_t> positions;  ///< position of each column
    std::vector<std::string> inputs;      ///< tokens or elements at the positions, as text
    std::vector<LensAnswer> answers;      ///< the model's own, for each column
    std::vector<LensCell> cells;          ///< rows x columns

    std::size_t columns() const { return answers.size(); }
    const LensCell& cell(std::size_t row, std::size_t column) const {
        return cells.at(row * columns() + column);
    }
};

struct AttributionOptions {
    std::int64_t answer = 0;
    std::int64_t minus = -1;     ///< answer whose logit is subtracted; -1: none
    std::int64_t position = -1;  ///< negative: from the end
    bool operator==(const AttributionOptions&) const = default;
};

enum class PartKind {
    Embedding,       ///< of the input
    Positions,       ///< the positions' part of the embedding
    SensoryHead,     ///< of self-attention
    RelationalHead,  ///< both of its paths
    Relation,        ///< inside a relational head: sent through one column of W_r
    Symbols,         ///< inside a relational head: taken from symbols; without a head the stream
                     ///< that an Abstractor begins with
    CrossHead,       ///< of a decoder: attends to the encoder
    FeedForward,     ///< without its last bias
    Bias,            ///< `where` names its part
    Edits,           ///< changes by edits at points between the parts
    Feature,         ///< of an object: `where` is its number from 1, or its name
    Clip,            ///< what clipping takes off queries or keys, as a part of a score
    Distance         ///< what the distance of two tokens adds to a score
};
/// The name of a kind: "embedding", "positions", "sensory head", "relational head", "relation",
/// "symbols", "cross head", "feed-forward", "bias", "edits", "feature", "clip", "distance".
inline const char* partKindName(PartKind kind) {
    static constexpr const char* names[] = {
        "embedding",  "positions",    "sensory head", "relational head", "relation", "symbols",
        "cross head", "feed-forward", "bias",         "edits",           "feature",  "clip",
        "distance"};
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
        if (kind == PartKind::Clip || kind == PartKind::Distance) return partKindName(kind);
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

struct Attribution {
    LensAnswer answer, minus;  ///< minus.id is -1 without one
    bool whole = false;        ///< the model gives one answer for the whole input
    std::int64_t position = 0;
    std::string input;   ///< token or element at the position, as text
    double logit = 0.0;  ///< as the model computed it; the difference for two answers
    std::vector<AttributionPart> parts;
    /// Other answers to ask for: the classes, or the likeliest tokens.
    std::vector<std::string> offered;
    int positions = 0;  ///< how many the input has; 0: one answer for the whole input

    /// The sum of the parts that are not inside another: `logit`, up to rounding.
    double sum() const {
        double total = 0.0;
        for (const auto& part : parts) total += part.inside() ? 0.0 : part.value;
        return total;
    }
};

}  // namespace relascope
