// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/zoo.h"

#include "model/seq2seq/seq2seq_options.h"
#include "support/model_fields.h"
#include "support/rooms.h"

namespace relascope {
namespace {

ModelOptions image(const char* architecture) {
    ModelOptions m;
    m.setArchitecture(architecture);
    put(m, "image_shape", std::vector<std::int64_t>{1, 6, 4}),
        put(m, "patch_size", std::vector<std::int64_t>{2, 2}), put(m, "num_classes", 3);
    put(m, "d_model", 8), put(m, "n_layers", 1), put(m, "n_heads_sa", 2), put(m, "n_heads_ra", 2),
        put(m, "dff", 6);
    put(m, "dropout_rate", 0.1), put(m, "activation", "gelu"), put(m, "symmetric_rels", false);
    if (!(m.info().dual)) put(m, "n_heads_ra", 0);
    put(m, "decoder.n_heads_ra", 0);
    put(m, "n_symbols", 3), put(m, "symbol_heads", 2);
    return m;
}

ModelOptions language(const char* architecture) {
    auto m = image(architecture);
    put(m, "vocab_size", 7), put(m, "max_block_size", 6), put(m, "n_layers", 2);
    put(m, "symbol_retrieval", "symbolic_attention");
    return m;
}

ModelOptions pairs(const char* architecture) {
    auto m = image(architecture);
    put(m, "input_size", 7), put(m, "output_size", 5), put(m, "out_dim", 5),
        put(m, "in_block_size", 6), put(m, "out_block_size", 4);
    put(m, "n_layers_enc", 1), put(m, "n_layers_dec", 1), put(m, "activation", "relu"),
        put(m, "norm_first", false);
    if (auto* sequences = m.find<Seq2SeqTransformerOptions>())
        sequences->decoder = static_cast<const BlockOptions&>(*sequences);
    put(m, "decoder.causal", true);
    put(m, "n_heads_cross", 4);
    if ((m.info().dual)) {
        put(m, "decoder.n_heads_sa", 2), put(m, "decoder.n_heads_ra", 2);
        put(m, "symbol_retrieval", "position_relative"), put(m, "max_rel_pos", 6);
    }
    if (m.architecture() == "Seq2SeqAbstractor")
        put(m, "key_dim", 3), put(m, "symbol_retrieval", "learned");
    return m;
}

ModelOptions objects(const char* architecture) {
    auto m = image(architecture);
    put(m, "n_objects", 3), put(m, "object_dim", 4), put(m, "out_dim", 1), put(m, "hidden", 5),
        put(m, "hidden_layers", std::vector<std::int64_t>{5, 4});
    put(m, "n_relations", 2), put(m, "rel_proj_dim", 3), put(m, "rel_activation", "sigmoid");
    return m;
}

}  // namespace

std::vector<std::pair<std::string, ModelOptions>> smallModels() {
    std::vector<std::pair<std::string, ModelOptions>> all;
    const auto add = [&all](const std::string& name, ModelOptions base, auto&& change) {
        change(base);
        all.emplace_back(base.architecture() + " " + name, base);
    };
    using O = ModelOptions;
    const auto plain = [](O&) {};
    for (const char* name : {"VisionDualAttnTransformer", "VisionTransformer", "AbstractorModel",
                             "CoRelNet", "CoRelNetSoftmax", "PrediNet"})
        add("plain", image(name), [](O& m) {
            if ((m.architecture() == "PrediNet")) put(m, "n_relations", 3);
        });
    add("plain", image("RelationNetwork"), [](O& m) {
        put(m, "relation_layers", std::vector<std::int64_t>{6, 4});
        put(m, "hidden_layers", std::vector<std::int64_t>{5});
    });
    add("plain", image("ESBN"), [](O& m) { put(m, "controller", 6), put(m, "key_dim", 4); });
    add("no context norm", image("ESBN"),
        [](O& m) { put(m, "controller", 6), put(m, "key_dim", 4), put(m, "context_norm", false); });
    add("final norm", image("VisionDualAttnTransformer"), [](O& m) { put(m, "final_norm", true); });
    add("post-norm", image("AbstractorModel"), [](O& m) { put(m, "norm_first", false); });
    add("no self-attention, symbolic", image("AbstractorModel"), [](O& m) {
        put(m, "use_self_attn", false), put(m, "symbol_retrieval", "symbolic_attention");
    });

    const auto dual = language("DualAttnTransformerLM");
    add("plain", language("TransformerLM"), plain);
    add("learned positions", language("TransformerLM"),
        [](O& m) { put(m, "pos_enc_type", "pos_emb"); });
    add("normed queries, windows", language("TransformerLM"), [](O& m) {
        put(m, "qk_norm", "head"), put(m, "sliding_window", 3), put(m, "layer_kinds", "Wf");
    });
    add("norms behind", language("TransformerLM"), [](O& m) {
        put(m, "norm_behind", true), put(m, "qk_norm", "all"), put(m, "norm_type", "rmsnorm");
        put(m, "norm_first", true);
    });
    add("plain", dual, plain);
    add("own retrievers", dual, [](O& m) { put(m, "shared_symbol_retriever", false); });
    add("tied library", dual, [](O& m) {
        put(m, "shared_symbol_retriever", false), put(m, "weight_tie_symbol_library", true);
    });
    add("tied positional library", dual, [](O& m) {
        put(m, "symbol_retrieval", "positional_symbols");
        put(m, "shared_symbol_retriever", false), put(m, "weight_tie_symbol_library", true);
    });
    add("relative, post-norm, shared", dual, [](O& m) {
        put(m, "symbol_retrieval", "position_relative"), put(m, "max_rel_pos", 3),
            put(m, "norm_first", false);
        put(m, "share_attn_params", true), put(m, "symmetric_rels", true),
            put(m, "activation", "swiglu");
    });
    add("rca", dual, [](O& m) { put(m, "ra_type", "rca"), put(m, "rca_activation", "tanh"); });
    add("disrca", dual,
        [](O& m) { put(m, "ra_type", "disrca"), put(m, "rel_activation", "tanh"); });
    add("grouped", dual, [](O& m) {
        put(m, "sa_n_kv_heads", 1), put(m, "ra_n_kv_heads", 1), put(m, "n_relations", 4),
            put(m, "trainable_symbols", false);
    });

    const auto hadamard = [&](const std::string& name, auto&& change) {
        auto base = language("HadamardTransformerLM");
        put(base, "residual_gate_channels", 4);
        add(name, base, change);
    };
    hadamard("plain", plain);
    hadamard("grouped, half windows", [](O& m) {
        put(m, "n_heads_sa", 2), put(m, "n_heads_ra", 2), put(m, "n_kv_heads", 2);
        put(m, "window_pattern", "SL"), put(m, "sequence_len", 16);
    });

    add("plain", pairs("Seq2SeqTransformer"), plain);
    add("vectors", pairs("Seq2SeqTransformer"), [](O& m) {
        put(m, "input_type", "vector"), put(m, "output_type", "vector"), put(m, "norm_first", true),
            put(m, "decoder.norm_first", true);
    });
    add("plain", pairs("Seq2SeqDualAttnTransformer"), plain);
    add("second name, relational neighbours", pairs("Seq2SeqDualAttnTransformer"), [](O& m) {
        put(m, "tie_weights", true), put(m, "symbol_retrieval", "rel_sym_attn"),
            put(m, "rel_n_heads", 2);
        put(m, "cross_n_kv_heads", 2), put(m, "cross_add_bias_out", true),
            put(m, "cross_add_bias_kv", true);
    });

    const auto abstractor = pairs("Seq2SeqAbstractor");
    for (const char* letter : {"a", "b", "c", "d"})
        for (const char* contexts : {"in-turn", "concatenated"})
            add(std::string("(") + letter + ") " + contexts, abstractor, [&](O& m) {
                put(m, "abstractor_architecture", letter), put(m, "decoder_contexts", contexts);
                if (*letter == 'a') put(m, "n_layers_enc", 0);
                put(m, "symbol_positions", *letter == 'b');
            });
    for (const char* sigma : {"softmax", "relu", "tanh", "sigmoid", "identity"})
        add(std::string("sigma ") + sigma, abstractor, [&](O& m) {
            put(m, "rca_activation", sigma);
            put(m, "mask_diagonal", *sigma != 'r'), put(m, "symmetric_rels", *sigma == 't');
            put(m, "rca_scaled", *sigma == 's');
        });
    for (const char* symbols :
         {"sinusoidal", "positional_symbols", "position_relative", "symbolic_attention"})
        add(std::string("symbols ") + symbols, abstractor, [&](O& m) {
            put(m, "symbol_retrieval", symbols);
            put(m, "max_rel_pos", 4);
        });
    for (const char* residual : {"objects", "none"})
        add(std::string("residual ") + residual, abstractor, [&](O& m) {
            put(m, "abs_residual", residual), put(m, "abs_feed_forward", *residual == 'o');
            put(m, "use_self_attn", false);
        });
    add("norm first, rms", abstractor, [](O& m) {
        put(m, "abs_norm_first", true), put(m, "abs_norm", "rmsnorm"), put(m, "n_layers_abs", 2);
    });
    add("chain", abstractor,
        [](O& m) { put(m, "n_abstractors", 3), put(m, "n_heads_abs", 3), put(m, "dff_abs", 9); });
    add("ablation", abstractor, [](O& m) { put(m, "relational", false); });

    const auto passing = objects("MessagePassingAbstractor");
    add("plain", passing, [](O& m) { put(m, "use_self_attn", false), put(m, "abs_norm", "none"); });
    add("everything", passing, [](O& m) {
        put(m, "n_layers", 2), put(m, "symbol_dim", 5), put(m, "message_softmax", true),
            put(m, "symmetric_rels", true);
        put(m, "rel_activation", "identity");
    });
    add("sigmoid", objects("ObjectAbstractor"), [](O& m) {
        put(m, "key_dim", 3), put(m, "symbol_retrieval", "learned"), put(m, "n_heads_abs", 3),
            put(m, "dff_abs", 9);
        put(m, "rca_activation", "sigmoid");
    });
    add("symmetric", objects("ObjectCoRelNet"), [](O& m) { put(m, "symmetric_rels", true); });
    add("asymmetric", objects("ObjectCoRelNet"),
        [](O& m) { put(m, "relation_softmax", false), put(m, "key_dim", 3); });
    add("plain", objects("ObjectPrediNet"), plain);
    add("plain", objects("ObjectTransformer"), plain);
    const auto two = [](O& m) { put(m, "out_dim", 2), put(m, "key_dim", 3); };
    add("two relations", objects("RelationalHead"), two);
    add("two numbers", objects("SensoryHead"), two);
    add("two numbers", objects("RcaHead"), two);
    for (const bool symmetric : {true, false})
        add(symmetric ? "symmetric" : "asymmetric", objects("InnerProductRelation"),
            [symmetric](O& m) { put(m, "n_objects", 2), put(m, "symmetric_rels", symmetric); });
    add("dense", objects("RobustRegression"), two);
    add("sparse", objects("RobustRegression"),
        [](O& m) { put(m, "out_dim", 2), put(m, "rel_scale", 0.5); });
    add("plain", objects("ObjectMLP"), plain);
    add("plain", objects("SymbolicMLP"), plain);
    add("plain", objects("PairRelations"),
        [](O& m) { put(m, "n_objects", 2), put(m, "out_dim", 2); });
    add("plain", objects("FixedRelationAbstractor"), [](O& m) { put(m, "symbol_dim", 5); });
    return all;
}

ModelInput smallBatch(const ModelOptions& o, std::int64_t batch, torch::ScalarType type) {
    const auto sequence = [&](const std::string& kind, std::int64_t size, std::int64_t n) {
        return kind == "token" ? torch::randint(size, {batch, n}, torch::kLong)
                               : torch::randn({batch, n, size}, type);
    };
    switch (o.input()) {
        case InputKind::Images:
            break;
        case InputKind::Tokens:
            return sequence("token", o.number("vocab_size"), o.number("max_block_size") - 1);
        case InputKind::Pairs:
            return {sequence(std::get<std::string>(o.value("input_type")), o.number("input_size"),
                             o.number("in_block_size") - 1),
                    sequence(std::get<std::string>(o.value("output_type")), o.number("output_size"),
                             o.number("out_block_size") - 1)};
        case InputKind::Objects:
            return torch::randn({batch, o.number("n_objects"), o.number("object_dim")}, type);
    }
    return torch::rand({batch, std::get<std::vector<std::int64_t>>(o.value("image_shape"))[0],
                        std::get<std::vector<std::int64_t>>(o.value("image_shape"))[2],
                        std::get<std::vector<std::int64_t>>(o.value("image_shape"))[1]},
                       type);
}

}  // namespace relascope
