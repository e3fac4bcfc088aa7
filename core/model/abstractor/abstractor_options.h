// SPDX-License-Identifier: GPL-3.0-or-later
// Options of the Abstractor and of the models around it (ABS algorithm 1, figure 3).
#pragma once

#include <cstdint>
#include <string>

#include "types/option_groups.h"

namespace relascope::core {

/// The Abstractor module, with the heads and widths of the blocks around it.
struct AbstractorOptions : StreamOptions, SymbolOptions {
    std::int64_t n_heads_sa = 1;
    std::int64_t dff = 256;
    double dropout_rate = 0.1;
    bool symmetric_rels = true;
    std::string rca_activation = "softmax";
    std::int64_t n_layers_abs = 1;
    std::int64_t n_heads_abs = 0;  // 0: n_heads_sa
    std::int64_t dff_abs = 0;      // 0: dff
    std::int64_t key_dim = 0;      // 0: d_model for every head
    bool relational = true;        // false: the paper's variant without
    bool use_self_attn = true;
    bool abs_feed_forward = true;
    std::string abs_residual = "symbols";
    std::string abs_norm = "layernorm";
    bool abs_norm_first = false;
    bool rca_scaled = true;
    bool mask_diagonal = false;
    bool symbol_positions = false;

    std::int64_t keyDim() const { return key_dim > 0 ? key_dim : d_model; }
    std::int64_t heads() const { return n_heads_abs > 0 ? n_heads_abs : n_heads_sa; }
    std::int64_t feedForward() const { return dff_abs > 0 ? dff_abs : dff; }
    bool operator==(const AbstractorOptions&) const = default;
};

struct Seq2SeqAbstractorOptions : AbstractorOptions, EncoderDecoderDepth, PairInput {
    std::string abstractor_architecture = "b";
    std::string decoder_contexts = "in-turn";
    std::int64_t n_abstractors = 1;

    bool abstracts() const { return abstractor_architecture != "none"; }
    /// The decoder attends to the encoder and to an Abstractor.
    bool twoContexts() const {
        return abstractor_architecture == "c" || abstractor_architecture == "d";
    }
    /// Whether each context has a layer of its own; otherwise both are concatenated to one context.
    bool inTurn() const { return twoContexts() && decoder_contexts == "in-turn"; }
    bool operator==(const Seq2SeqAbstractorOptions&) const = default;
};

struct ObjectAbstractorOptions : AbstractorOptions, ObjectInput {
    std::int64_t hidden = 32;
    bool operator==(const ObjectAbstractorOptions&) const = default;
};

/// `AbstractorModel` of DAT's Relational Games.
struct ImageAbstractorOptions : StreamOptions, StackDepth, ImageInput, SymbolOptions {
    std::int64_t n_heads_sa = 1;
    std::int64_t dff = 256;
    double dropout_rate = 0.1;
    std::string activation = "swiglu";
    bool norm_first = true;
    bool use_self_attn = true;
    bool operator==(const ImageAbstractorOptions&) const = default;
};

/// The message-passing form of the Abstractor (SET and pairwise order).
struct MessagePassingOptions : StreamOptions, StackDepth, ObjectInput {
    std::int64_t n_relations = 0;
    std::int64_t rel_proj_dim = 0;
    bool symmetric_rels = true;
    std::string rel_activation = "identity";
    bool message_softmax = false;
    std::int64_t symbol_dim = 0;  // 0: d_model
    std::int64_t dff = 256;
    double dropout_rate = 0.1;
    bool use_self_attn = true;
    std::int64_t n_heads_sa = 1;
    std::int64_t key_dim = 0;  // key width of the self-attention; 0: rel_proj_dim
    std::string abs_norm = "layernorm";
    std::int64_t hidden = 32;

    std::int64_t symbolDim() const { return symbol_dim > 0 ? symbol_dim : d_model; }
    std::int64_t keyDim() const { return key_dim > 0 ? key_dim : rel_proj_dim; }
    bool operator==(const MessagePassingOptions&) const = default;
};

/// Relations that are learned on pairs (`PairRelations`) and then frozen
/// (`FixedRelationAbstractor`).
struct PairRelationsOptions : ObjectInput {
    std::int64_t n_relations = 0;
    std::int64_t rel_proj_dim = 0;
    bool operator==(const PairRelationsOptions&) const = default;
};

struct FixedRelationOptions : PairRelationsOptions {
    std::int64_t symbol_dim = 0;  // 0: 128, the earlier default width of the stream
    std::vector<std::int64_t> hidden_layers = {32, 32};

    std::int64_t symbolDim() const { return symbol_dim > 0 ? symbol_dim : 128; }
    std::vector<std::int64_t> widths() const {
        return mlpWidths(n_objects * n_relations * symbolDim(), hidden_layers, out_dim);
    }
    bool operator==(const FixedRelationOptions&) const = default;
};

}  // namespace relascope::core
