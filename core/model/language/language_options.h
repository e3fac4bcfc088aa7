// SPDX-License-Identifier: GPL-3.0-or-later
// Options of the language models, under the names of the published constructors.
#pragma once

#include <string>

#include "model/blocks/stack_options.h"
#include "types/option_groups.h"

namespace relascope::core {

/// How scores are made of the output layer: logit_scale times its first vocab_size rows, then
/// soft_cap tanh(y / soft_cap). The defaults are nanochat's.
struct OutputForm {
    double soft_cap = 15.0;          ///< 0: no cap
    std::int64_t row_multiple = 64;  ///< rows of tables by token are a multiple of it
    double logit_scale = 1.0;

    bool operator==(const OutputForm&) const = default;
};

/// What a language model does before its blocks and behind them. The defaults are the papers'.
struct EndDetails {
    double embed_scale = 1.0;          ///< factor of the embedding of tokens
    std::int64_t embed_width = 0;      ///< embedding width, projected to d_model; 0: d_model
    std::int64_t position_offset = 0;  ///< position i has row i + offset of learned positions
    bool embed_norm = false;           ///< a norm of the stream that blocks begin with
    bool final_norm = true;            ///< a norm of the stream that they end with
    bool output_bias = false;          ///< the output layer has a bias

    bool operator==(const EndDetails&) const = default;
};

/// Whether a token of a model with these options can be read on bare memory (row_decoder.h).
inline bool hasRowForm(const BlockDetails& details, const EndDetails& ends) {
    return details.plainScores() && details.clip_qkv == 0.0 && details.experts == 0 &&
           !details.dependsOnLength() && ends.embed_width == 0;
}

struct TransformerLMOptions : StreamOptions, StackDepth, TokenInput, BlockOptions {
    std::string pos_enc_type = "RoPE";

    bool rotary() const { return pos_enc_type == "RoPE"; }
    bool operator==(const TransformerLMOptions&) const = default;
};

/// Options of blocks that came after the papers, for models that are trained here; see
/// BlockDetails.
struct LaterOptions {
    std::string qk_norm = "none";  ///< norms of the type of the others, without bias
    bool norm_behind = false;      ///< norms behind sub-layers, none before
    std::int64_t sliding_window = 0;
    std::string layer_kinds;
    bool operator==(const LaterOptions&) const = default;
};

/// Options of plain language models that are trained here.
struct PlainLMOptions : TransformerLMOptions, LaterOptions {
    bool operator==(const PlainLMOptions&) const = default;
};

struct DualAttnTransformerLMOptions : TransformerLMOptions, SymbolOptions {
    bool shared_symbol_retriever = true;
    bool weight_tie_symbol_library = false;
    bool operator==(const DualAttnTransformerLMOptions&) const = default;
};

StackOptions stackOf(const TransformerLMOptions& options);
StackOptions stackOf(const PlainLMOptions& options);
StackOptions stackOf(const DualAttnTransformerLMOptions& options);

}  // namespace relascope::core
