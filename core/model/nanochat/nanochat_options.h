// SPDX-License-Identifier: GPL-3.0-or-later
// Options of nanochat's decoder, with ordinary heads or with Hadamard relations (models.md 10).
// Does not include torch.
#pragma once

#include <string>

#include "model/language/language_options.h"
#include "model/public/public_options.h"

namespace relascope::core {

/// Checkpoints of nanochat, and models of this form that are trained here.
inline constexpr const char* kNanochatDecoder = "NanochatDecoder";
inline constexpr const char* kHadamardLM = "HadamardTransformerLM";

/// Heads: n_heads_sa sensory ones, then n_heads_ra with Hadamard relations.
struct NanochatOptions : TransformerLMOptions, OutputForm, FamilyName {
    /// Files of Hadamard models have c_xk_rel and c_v also where no head uses them.
    bool hadamard = true;
    std::int64_t n_kv_heads = 0;       ///< number for both kinds of heads; 0: one for each head
    std::int64_t sequence_len = 0;     ///< window of the layers L; 0: max_block_size
    std::string window_pattern = "L";  ///< a letter a layer, from the first on: S is half a window
    bool use_residual_augmentation = true;  ///< value embeddings, in every residual_stride-th layer
    std::int64_t residual_stride = 2;
    std::int64_t residual_gate_channels = 32;

    NanochatOptions() { dff = 0, dropout_rate = 0.0, activation = "relu2", ff_bias = false; }

    std::int64_t heads() const { return n_heads_sa + n_heads_ra; }
    std::int64_t kvHeads() const { return n_kv_heads > 0 ? n_kv_heads : heads(); }
    std::int64_t headDim() const { return d_model / heads(); }
    /// Relations of width 1 in a layer: as many as the relational heads are wide.
    std::int64_t hadamardRelations() const { return n_heads_ra * headDim(); }
    /// Rows of the embedding, the output and the value embeddings.
    std::int64_t rows() const {
        return (vocab_size + row_multiple - 1) / row_multiple * row_multiple;
    }
    /// How many tokens a query of that layer sees, itself included. The last layer is an L.
    std::int64_t window(std::int64_t layer) const {
        const auto whole = sequence_len > 0 ? sequence_len : max_block_size;
        const auto letter = window_pattern[static_cast<std::size_t>(layer) % window_pattern.size()];
        const bool half = layer != n_layers - 1 && (letter == 'S' || letter == 's');
        return (half ? whole / 2 : whole) + 1;
    }
    bool hasValueEmbedding(std::int64_t layer) const {
        return use_residual_augmentation &&
               layer % residual_stride == (n_layers - 1) % residual_stride;
    }
    bool operator==(const NanochatOptions&) const = default;
};

StackOptions stackOf(const NanochatOptions& options);

}  // namespace relascope::core
