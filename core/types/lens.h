// SPDX-License-Identifier: GPL-3.0-or-later
// What a model would answer after each layer (logit lens), and what each part of it adds to an
// answer (direct logit attribution). Layers, heads and relations count from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relascope {

struct LensOptions {
    std::int64_t top = 5;               ///< answers of a cell
    std::vector<std::int64_t> answers;  ///< further ones, whose probabilities every cell gets
    std::int64_t position = kEvery;     ///< that position alone; negative: from the end

    static constexpr std::int64_t kEvery = INT64_MIN;
    bool operator==(const LensOptions&) const = default;
};

/// A class or a token.
struct LensAnswer {
    std::int64_t id = -1;
    std::string name;  ///< the class's, or the token's text; otherwise its id
    double logit = 0.0, probability = 0.0;
};

/// What the stream at one position would answer after one layer.
struct LensCell {
    std::vector<LensAnswer> top;    ///< most likely first
    std::vector<LensAnswer> asked;  ///< LensOptions::answers, in that order
    double probability = 0.0;       ///< of the model's own answer at that position
    std::int64_t rank = 0;          ///< of the same, from 1
    double entropy = 0.0;           ///< nats
};

struct LensResult {
    std::vector<std::string> rows;  ///< "embedding", "layer 1", ...
    bool whole = false;  ///< one answer for the whole input: a single column without a position
    std::vector<std::int64_t> positions;  ///< of the columns
    std::vector<std::string> inputs;      ///< what stands there: tokens or elements, as text
    std::vector<LensAnswer> answers;      ///< of each column: the model's own
    std::vector<LensCell> cells;          ///< rows x columns

    std::size_t columns() const { return answers.size(); }
    const LensCell& cell(std::size_t row, std::size_t column) const {
        return cells.at(row * columns() + column);
    }
};

struct AttributionOptions {
    std::int64_t answer = 0;
    std::int64_t minus = -1;     ///< the logit of this one is taken off; -1: of none
    std::int64_t position = -1;  ///< negative: from the end
    bool operator==(const AttributionOptions&) const = default;
};

enum class PartKind {
    Embedding,       ///< of the input
    Positions,       ///< what positions add to it
    SensoryHead,     ///< of self-attention
    RelationalHead,  ///< both of its paths
    Relation,        ///< inside a relational head: what one column of W_r sends
    Symbols,         ///< inside a relational head: what it takes from symbols
    CrossHead,       ///< of a decoder: attends to the encoder
    FeedForward,     ///< without its last bias
    Bias,            ///< `where` says whose
    Edits            ///< what edits at points between the parts change
};
/// "embedding", "positions", "sensory head", "relational head", "relation", "symbols", "cross
/// head", "feed-forward", "bias", "edits".
inline const char* partKindName(PartKind kind) {
    static constexpr const char* names[] = {
        "embedding", "positions", "sensory head", "relational head",
        "relation",  "symbols",   "cross head",   "feed-forward",
        "bias",      "edits"};
    return names[static_cast<std::size_t>(kind)];
}

/// What one part of a model adds to a logit.
struct AttributionPart {
    PartKind kind = PartKind::Embedding;
    int layer = -1, head = -1, relation = -1;  ///< -1: has none
    std::string where = {};                    ///< of a bias: "sensory heads", "final norm", ...
    double value = 0.0;
    /// Relations and symbols are already counted in the relational head before them.
    bool inside() const { return kind == PartKind::Relation || kind == PartKind::Symbols; }
    /// "layer 2 relational head 1 relation 3"; counts from 1.
    std::string text() const {
        std::string words;
        if (layer >= 0) words = "layer " + std::to_string(layer + 1) + " ";
        if (inside()) words += std::string("relational head ") + std::to_string(head + 1) + " ";
        words += partKindName(kind);
        if (kind == PartKind::Relation) return words + " " + std::to_string(relation + 1);
        if (head >= 0 && !inside()) words += " " + std::to_string(head + 1);
        return where.empty() ? words : words + " of " + where;
    }
};

struct Attribution {
    LensAnswer answer, minus;  ///< minus.id is -1 without one
    bool whole = false;        ///< the model gives one answer for the whole input
    std::int64_t position = 0;
    std::string input;   ///< what stands there, as text
    double logit = 0.0;  ///< that the model computed; of two answers their difference
    std::vector<AttributionPart> parts;
    /// Other answers to ask for: the classes, or the likeliest tokens.
    std::vector<std::string> offered;
    int positions = 0;  ///< of the input; 0: one answer for the whole input

    /// Of the parts that are not inside another: `logit`, up to rounding.
    double sum() const {
        double total = 0.0;
        for (const auto& part : parts) total += part.inside() ? 0.0 : part.value;
        return total;
    }
};

}  // namespace relascope
