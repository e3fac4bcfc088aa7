// SPDX-License-Identifier: GPL-3.0-or-later
// Options of one stack of Transformer blocks, under the names of the published block constructors.
#pragma once

#include <string>
#include <vector>

#include "types/error.h"
#include "types/field.h"

namespace relascope {

/// Options that all blocks of a stack share (`DualAttnEncoderBlock`, `EncoderBlock` and the decoder
/// versions). A plain block uses the sensory options only; `n_heads_sa` is its number of heads.
struct BlockOptions {
    std::int64_t n_heads_sa = 1;
    std::int64_t n_heads_ra = 1;
    std::int64_t dff = 256;  // 0: 4 d, for swiglu 8/3 d
    double dropout_rate = 0.1;
    std::string activation = "swiglu";
    bool norm_first = true;
    std::string norm_type = "layernorm";
    bool bias = false;

    std::string ra_type = "relational_attention";
    std::int64_t n_relations = 0;   // 0: as many as relational heads
    std::int64_t rel_proj_dim = 0;  // 0: head width * relational heads / relations
    std::string rel_activation = "identity";
    bool symmetric_rels = true;
    std::string rca_activation = "softmax";  // sigma_rel of ra_type rca

    std::int64_t sa_n_kv_heads = 0;  // 0: as many as heads
    std::int64_t ra_n_kv_heads = 0;
    std::int64_t sa_key_dim = 0;  // 0: head width
    std::int64_t ra_key_dim = 0;
    bool sa_add_bias_kv = false;
    bool sa_add_bias_out = false;
    bool ra_add_bias_kv = false;
    bool ra_add_bias_out = false;
    bool share_attn_params = false;
    bool rope = false;
    bool causal = false;

    std::int64_t relations() const {
        return ra_type == "relational_attention" && n_relations > 0 ? n_relations : n_heads_ra;
    }
    bool operator==(const BlockOptions&) const = default;

    /// The problems of building such blocks for a residual stream of width `d`. `dual`: the blocks
    /// have relational heads in addition to the sensory ones.
    std::vector<FieldProblem> problems(std::int64_t d, bool dual, bool rotary) const;
    static const FieldTable<BlockOptions>& fieldTable();
};

}  // namespace relascope
