// SPDX-License-Identifier: GPL-3.0-or-later
// The field table of BlockOptions, and the check of its values.
#include "types/block_options.h"

namespace relascope {

const FieldTable<BlockOptions>& BlockOptions::fieldTable() {
    using O = BlockOptions;
    using namespace fields;
    static const auto relational =
        std::function<bool(const O&)>([](const O& o) { return o.n_heads_ra > 0; });
    static const auto sensory =
        std::function<bool(const O&)>([](const O& o) { return o.n_heads_sa > 0; });
    static const auto disentangled = std::function<bool(const O&)>(
        [](const O& o) { return o.n_heads_ra > 0 && o.ra_type == "relational_attention"; });
    static const auto rca = std::function<bool(const O&)>(
        [](const O& o) { return relational(o) && o.ra_type == "rca"; });
    static const FieldTable<O> table = {
        integer(&O::n_heads_sa, "n_heads_sa", "Sensory heads",
                "Heads that aggregate the features of other objects.", 0, 1024),
        integer(&O::n_heads_ra, "n_heads_ra", "Relational heads",
                "Heads that aggregate the relations to other objects.", 0, 1024),
        when<O>(
            disentangled,
            automatic(
                integer(&O::n_relations, "n_relations", "Relations",
                        "Dimension of r\u1D62\u2C7C, shared by all relational heads; 0 means one "
                        "per head.",
                        0, 4096),
                [](const O& o) { return o.n_heads_ra; })),
        when<O>(relational, boolean(&O::symmetric_rels, "symmetric_rels", "Symmetric",
                                    "Makes r\u1D62\u2C7C equal to r\u2C7C\u1D62 by using the same "
                                    "projection on both sides.")),
        integer(&O::dff, "dff", "Feed-forward width",
                "Width inside the feed-forward block; 0 means 4 d, or 8/3 d for swiglu.", 0,
                1048576),
        real(&O::dropout_rate, "dropout_rate", "Dropout",
             "Probability of setting an activation to zero during training.", 0.0, 0.99),
        choice(&O::activation, "activation", "Activation",
               "Non-linearity of the feed-forward block.",
               {"relu", "gelu", "silu", "swiglu", "tanh", "sigmoid", "identity"}),
        when<O>(relational,
                choice(&O::ra_type, "ra_type", "Relational attention",
                       "Disentangled relations and symbols, or the ablations rca and disrca.",
                       {"relational_attention", "rca", "disrca"})),
        when<O>([](const O& o) { return relational(o) && o.ra_type != "rca"; },
                choice(&O::rel_activation, "rel_activation", "Relation activation",
                       "Applied to the inner products r\u1D62\u2C7C.",
                       {"identity", "relu", "sigmoid", "tanh", "gelu", "silu", "softmax"})),
        advanced(when<O>(
            disentangled,
            integer(&O::rel_proj_dim, "rel_proj_dim", "Relation projection",
                    "Width of each relation's projections; 0 means relational width / relations.",
                    0, 65536))),
        advanced(when<O>(
            rca, choice(&O::rca_activation, "rca_activation", "RCA activation",
                        "Function that turns the inner products of relational cross-attention into "
                        "weights.",
                        {"softmax", "identity", "relu", "sigmoid", "tanh", "gelu", "silu"}))),
        advanced(when<O>(sensory,
                         automatic(integer(&O::sa_n_kv_heads, "sa_n_kv_heads", "Sensory key heads",
                                           "Number of key and value heads, shared by groups of "
                                           "sensory heads; 0 means one per head.",
                                           0, 1024),
                                   [](const O& o) { return o.n_heads_sa; }))),
        advanced(
            when<O>(relational,
                    automatic(integer(&O::ra_n_kv_heads, "ra_n_kv_heads", "Relational key heads",
                                      "Number of key and symbol heads, shared by groups of "
                                      "relational heads; 0 means one per head.",
                                      0, 1024),
                              [](const O& o) { return o.n_heads_ra; }))),
        advanced(when<O>(
            sensory,
            integer(&O::sa_key_dim, "sa_key_dim", "Sensory key width",
                    "Width of the sensory queries and keys; 0 means the head width.", 0, 65536))),
        advanced(when<O>(
            relational, integer(&O::ra_key_dim, "ra_key_dim", "Relational key width",
                                "Width of the relational queries and keys; 0 means the head width.",
                                0, 65536))),
        advanced(
            when<O>(sensory, boolean(&O::sa_add_bias_kv, "sa_add_bias_kv", "Sensory key bias",
                                     "Adds a bias to the sensory key and value projections."))),
        advanced(
            when<O>(sensory, boolean(&O::sa_add_bias_out, "sa_add_bias_out", "Sensory output bias",
                                     "Adds a bias to the sensory output projection."))),
        advanced(
            when<O>(relational, boolean(&O::ra_add_bias_kv, "ra_add_bias_kv", "Relational key bias",
                                        "Adds a bias to the relational key and symbol "
                                        "projections."))),
        advanced(when<O>(relational,
                         boolean(&O::ra_add_bias_out, "ra_add_bias_out", "Relational output bias",
                                 "Adds a bias to the relational output projection."))),
        advanced(when<O>(relational,
                         boolean(&O::share_attn_params, "share_attn_params", "Share attention",
                                 "Sensory and relational heads use the same queries and keys."))),
        advanced(boolean(&O::rope, "rope", "Rotary positions",
                         "Applies rotary position embeddings (RoPE) to queries and keys.")),
        advanced(boolean(&O::causal, "causal", "Causal",
                         "Each position attends only to itself and to earlier positions.")),
        advanced(boolean(
            &O::norm_first, "norm_first", "Norm first",
            "Normalises before each sub-layer (pre-norm) instead of after it (post-norm).")),
        advanced(choice(&O::norm_type, "norm_type", "Norm", "Type of normalisation.",
                        {"layernorm", "rmsnorm", "none"})),
        advanced(boolean(&O::bias, "bias", "Block bias", "Adds biases inside the blocks.")),
    };
    return table;
}

std::vector<FieldProblem> BlockOptions::problems(std::int64_t d, bool dual, bool rotary) const {
    std::vector<FieldProblem> found;
    const auto refuse = [&](const char* field, std::string message) {
        found.push_back({field, std::move(message)});
    };
    const auto n = [](std::int64_t value) { return std::to_string(value); };
    const std::int64_t heads = n_heads_sa + (dual ? n_heads_ra : 0);
    if (heads < 1) {
        refuse(dual ? "n_heads_ra" : "n_heads_sa",
               "there are no heads; give at least one" +
                   std::string(dual ? " sensory or relational head" : ""));
        return found;
    }
    if (d % heads != 0) {
        refuse("d_model", n(d) + " is not a multiple of the " + n(heads) +
                              " heads; the next multiple is " + n((d / heads + 1) * heads));
        return found;
    }
    const std::int64_t headDim = d / heads;
    const auto keyHeads = [&](const char* field, std::int64_t kv, std::int64_t all) {
        if (kv > 0 && all % kv != 0)
            refuse(field, n(kv) + " does not divide the " + n(all) + " heads");
    };
    const auto even = [&](const char* field, std::int64_t key) {
        const std::int64_t width = key > 0 ? key : headDim;
        if (rotary && width % 2 != 0)
            refuse(field, "rotary positions need an even width, not " + n(width));
    };
    if (n_heads_sa > 0) keyHeads("sa_n_kv_heads", sa_n_kv_heads, n_heads_sa);
    if (n_heads_sa > 0) even("sa_key_dim", sa_key_dim);
    if (!dual || n_heads_ra == 0) return found;
    even("ra_key_dim", ra_key_dim);
    keyHeads("ra_n_kv_heads", ra_n_kv_heads, n_heads_ra);
    const std::int64_t width = headDim * n_heads_ra;
    if (ra_type == "relational_attention") {
        if (rel_proj_dim == 0 && width % relations() != 0)
            refuse("n_relations", n(relations()) + " does not divide the relational width " +
                                      n(width) + "; set rel_proj_dim to choose their width");
    }
    if (share_attn_params && n_heads_sa != n_heads_ra)
        refuse("share_attn_params", "needs the same number of sensory heads (" + n(n_heads_sa) +
                                        ") and relational heads (" + n(n_heads_ra) + ")");
    if (share_attn_params && (sa_n_kv_heads != ra_n_kv_heads || sa_key_dim != ra_key_dim ||
                              sa_add_bias_kv != ra_add_bias_kv))
        refuse("share_attn_params",
               "needs the same key heads, key widths and key biases on both sides");
    if (share_attn_params && ra_type == "rca")
        refuse("share_attn_params",
               "cannot be combined with ra_type rca, which has no separate attention");
    return found;
}

}  // namespace relascope
