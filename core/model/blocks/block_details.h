// SPDX-License-Identifier: GPL-3.0-or-later
// Details of blocks that are fixed in the papers and differ in other published models. The defaults
// are the papers'. Does not include torch.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>

namespace relascope::core {

/// Rotary positions (Su et al. 2021): two dimensions of a head turn by position *
/// rope_theta^(-2i/r), where r dimensions turn and i is the pair.
struct RotaryOptions {
    double rope_theta = 10000.0;
    std::int64_t rotary_dims = 0;  ///< r, the first of a head; the rest stays. 0: all
    bool rotary_halves = false;    ///< dims i and i + r/2 are a pair; otherwise 2i and 2i + 1
    /// How frequencies are scaled, by `rope_factor` (1: not at all).
    /// llama3 (Llama 3.1): frequencies whose wave is longer than original / low positions are
    /// divided by the factor, those shorter than original / high stay, and between the two it is a
    /// mean of both. linear: all are divided. yarn (Peng et al. 2023): those that turn less than
    /// `yarn_beta_slow` times within the original context are divided, those that turn more than
    /// `yarn_beta_fast` times stay. longrope (Ding et al. 2024): each has a divisor of its own, of
    /// `rope_short_factors` in texts of up to rope_original tokens, else of `rope_long_factors`.
    std::string rope_type = "llama3";
    double rope_factor = 1.0;
    double rope_low_freq_factor = 1.0;
    double rope_high_freq_factor = 4.0;
    std::int64_t rope_original = 8192;
    double yarn_beta_fast = 32.0, yarn_beta_slow = 1.0;
    bool yarn_truncate = true;    ///< the two pairs between which yarn mixes are whole numbers
    double rope_attention = 1.0;  ///< cosines and sines are multiplied by it
    std::string rope_short_factors, rope_long_factors;  ///< numbers, one for each pair
    /// nanochat's: turned the other way, by cosines and sines that are rounded to bfloat16.
    bool rotary_backwards = false, rotary_rounded = false;
    /// The grid of patches of images (DINOv3), whose rows turn the first quarter of a head's
    /// dimensions and whose columns the second, each with its partner half a head further.
    /// `turned_first` tokens before the patches do not turn. 0 rows: positions of a sequence.
    std::int64_t turned_rows = 0, turned_columns = 0, turned_first = 0;

    /// The dimensions of a head of that width that turn.
    std::int64_t dims(std::int64_t width) const { return rotary_dims > 0 ? rotary_dims : width; }
    /// Whether a text has other frequencies when it grows past rope_original tokens.
    bool dependsOnLength() const { return rope_type == "longrope"; }
    bool operator==(const RotaryOptions&) const = default;
};

/// Options of the scores of attention, and of what they are made of. The defaults are the papers'.
struct ScoreOptions {
    /// Norms of queries and keys, before rotary positions: none; of each head with one set of
    /// weights [d_h] ("head") or with its own [h, d_h] ("heads"); of all heads as one vector
    /// ("all"). `qk_norm_type` as NormImpl has it.
    std::string qk_norm = "none";
    std::string qk_norm_type = "rmsnorm";
    double score_scale = 0.0;  ///< factor of q k; 0: 1 / sqrt(head width)
    double score_cap = 0.0;    ///< scores become cap tanh(score / cap), before the mask; 0: not
    /// Distances (ALiBi; Press et al. 2022), m_h of each head: "behind" adds m_h (j - i) to the
    /// scaled score, "inside" adds m_h j to q k, both rounded to bfloat16 (Falcon's).
    std::string distance = "none";
    double clip_qkv = 0.0;  ///< queries, keys and values are kept within +-it; 0: as they are
    /// Learned numbers that the places of two patches add to their scaled score (attention/
    /// place_bias.h): none, a table of each block, one that all blocks share, or both.
    std::string place_bias = "none";
    /// The grids of patches: of the images, and of the images that the tables were learned with.
    std::int64_t place_rows = 0, place_columns = 0, table_rows = 0, table_columns = 0;

    bool hasQueryNorm() const { return qk_norm != "none"; }
    bool hasPlaceBias() const { return place_bias != "none"; }
    /// Whether blocks have a table of their own.
    bool hasOwnPlaces() const { return place_bias == "block" || place_bias == "both"; }
    /// The rows of such a table, [rows, heads].
    std::int64_t placeRows() const { return (2 * table_rows - 1) * (2 * table_columns - 1) + 3; }
    /// Whether a score is scale <q, k> and nothing else.
    bool plainScores() const { return score_cap == 0.0 && distance == "none" && !hasPlaceBias(); }
    bool operator==(const ScoreOptions&) const = default;
};

/// Experts (Shazeer et al. 2017): the feed-forward is a sum of the chosen ones.
struct ExpertOptions {
    std::int64_t experts = 0;         ///< 0: one feed-forward
    std::int64_t experts_chosen = 2;  ///< for each token, those of the largest probabilities
    bool experts_normed = true;       ///< divides their probabilities by their sum
    std::int64_t expert_dff = 0;      ///< width inside an expert; 0: dff
    /// A letter a layer, repeated: E has experts, D one feed-forward. Empty: all have experts.
    std::string ff_kinds;

    bool hasExperts(std::int64_t layer) const {
        return experts > 0 && (ff_kinds.empty() ||
                               ff_kinds[static_cast<std::size_t>(layer) % ff_kinds.size()] == 'E');
    }
    bool operator==(const ExpertOptions&) const = default;
};

struct BlockDetails : RotaryOptions, ScoreOptions, ExpertOptions {
    double norm_eps = 1e-5;
    std::int64_t head_dim = 0;        ///< 0: d_model / heads
    bool sa_add_bias_q = false;       ///< on the queries
    bool key_bias = true;             ///< on the keys, where keys and values have biases
    bool value_bias = true;           ///< on the values, likewise
    std::int64_t sliding_window = 0;  ///< i attends to j with 0 <= i - j < window; 0: to all before
    bool parallel_residual = false;   ///< x + attn(norm1 x) + mlp(norm2 x)
    bool one_norm = false;            ///< with parallel_residual: norm1 in place of norm2
    bool norm_before = true;          ///< with norm_first: norms of what sub-layers read
    bool norm_behind = false;         ///< with norm_first: norms of what sub-layers add
    bool layer_scale = false;         ///< with norm_first: a vector multiplies what they add
    bool norm_plus_one = false;       ///< norms multiply by 1 + weight
    double residual_scale = 1.0;      ///< factor of what sub-layers add
    /// A letter a layer, repeated: F attends to all tokens before, W to those of sliding_window; f
    /// and w without rotary positions. Empty: all the same.
    std::string layer_kinds;
    double local_rope_theta = 0.0;  ///< theta of layers with a window, unscaled; 0: as the others
    bool ra_add_bias_q = false;     ///< on the queries of relational heads
    bool rel_add_bias = true;       ///< on the keys of relations of disrca, where keys have one
    /// Relations of closed cells are 0, and a softmax of relations runs over the open cells of a
    /// row; otherwise over all j, before any mask.
    bool masked_relations = false;

    /// The letter of a layer.
    char kindOf(std::int64_t layer) const {
        if (layer_kinds.empty()) return sliding_window > 0 ? 'W' : 'F';
        return layer_kinds[static_cast<std::size_t>(layer) % layer_kinds.size()];
    }
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
