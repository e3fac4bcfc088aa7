// SPDX-License-Identifier: GPL-3.0-or-later
// Details of blocks that are fixed in the papers and differ in other published models. The defaults
// are the papers'. Does not include torch.
#pragma once

#include <cstdint>

namespace relascope::core {

/// Rotary positions (Su et al. 2021): two dimensions of a head turn by position *
/// rope_theta^(-2i/r), where r dimensions turn and i is the pair.
struct RotaryOptions {
    double rope_theta = 10000.0;
    std::int64_t rotary_dims = 0;  ///< r, the first of a head; the rest stays. 0: all
    bool rotary_halves = false;    ///< dims i and i + r/2 are a pair; otherwise 2i and 2i + 1
    /// The scaling of Llama 3.1: frequencies whose wave is longer than original / low positions are
    /// divided by `rope_factor`, those shorter than original / high stay, and between the two it is
    /// a mean of both. 1: no scaling.
    double rope_factor = 1.0;
    double rope_low_freq_factor = 1.0;
    double rope_high_freq_factor = 4.0;
    std::int64_t rope_original = 8192;
    /// nanochat's: turned the other way, by cosines and sines that are rounded to bfloat16.
    bool rotary_backwards = false, rotary_rounded = false;

    /// The dimensions of a head of that width that turn.
    std::int64_t dims(std::int64_t width) const { return rotary_dims > 0 ? rotary_dims : width; }
    bool operator==(const RotaryOptions&) const = default;
};

struct BlockDetails : RotaryOptions {
    double norm_eps = 1e-5;
    std::int64_t head_dim = 0;        ///< 0: d_model / heads
    bool sa_add_bias_q = false;       ///< on the queries
    std::int64_t sliding_window = 0;  ///< i attends to j with 0 <= i - j < window; 0: to all before
    bool parallel_residual = false;   ///< x + attn(norm1 x) + mlp(norm2 x)
    bool ra_add_bias_q = false;       ///< on the queries of relational heads
    bool rel_add_bias = true;         ///< on the keys of relations of disrca, where keys have one
    /// Relations of closed cells are 0, and a softmax of relations runs over the open cells of a
    /// row; otherwise over all j, before any mask.
    bool masked_relations = false;

    bool operator==(const BlockDetails&) const = default;
};

/// Tokens that close cells of attention (attention/documents.h).
struct DocumentOptions {
    std::int64_t document_start = -1;  ///< begins a document that sees nothing before it; -1: none
    std::int64_t padding = -1;         ///< takes no part in attention; -1: none

    bool closesCells() const { return document_start >= 0 || padding >= 0; }
    bool operator==(const DocumentOptions&) const = default;
};

/// Properties of symbols that are fixed in the papers. The defaults are the papers'.
struct SymbolDetails {
    std::int64_t symbol_dim = 0;  ///< D, the width of a symbol; 0: d_model
    /// Position-relative symbols are cos and sin of the offset by rotary frequencies, not learned.
    bool rotary_symbols = false;
    bool sinusoidal_symbols = false;  ///< positional symbols are sinusoids, not learned
    bool symbol_bias = true;          ///< on the queries of the symbolic attention
    bool neighbour_bias = true;       ///< on queries and keys of relations to neighbours
    bool normed_symbols = false;      ///< symbols are found from the normed stream of a block

    bool operator==(const SymbolDetails&) const = default;
};

}  // namespace relascope::core
