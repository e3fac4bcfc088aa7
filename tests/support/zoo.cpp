#include "support/zoo.h"

namespace relascope {
namespace {

ModelOptions image(const char* architecture) {
    ModelOptions m;
    m.architecture = architecture;
    m.image_shape = {1, 6, 4}, m.patch_size = {2, 2}, m.num_classes = 3;
    m.d_model = 8, m.n_layers = 1, m.n_heads_sa = 2, m.n_heads_ra = 2, m.dff = 6;
    m.dropout_rate = 0.1, m.activation = "gelu", m.symmetric_rels = false;
    if (!m.isDual()) m.n_heads_ra = 0;
    m.decoder.n_heads_ra = 0;
    m.n_symbols = 3, m.symbol_heads = 2;
    return m;
}

ModelOptions language(const char* architecture) {
    auto m = image(architecture);
    m.vocab_size = 7, m.max_block_size = 6, m.n_layers = 2;
    m.symbol_retrieval = "symbolic_attention";
    return m;
}

ModelOptions pairs(const char* architecture) {
    auto m = image(architecture);
    m.input_size = 7, m.output_size = m.out_dim = 5, m.in_block_size = 6, m.out_block_size = 4;
    m.n_layers_enc = m.n_layers_dec = 1, m.activation = "relu", m.norm_first = false;
    m.decoder = m;
    m.decoder.causal = true;
    m.n_heads_cross = 4;
    if (m.isDual()) {
        m.decoder.n_heads_sa = m.decoder.n_heads_ra = 2;
        m.symbol_retrieval = "position_relative", m.max_rel_pos = 6;
    }
    if (m.isSeq2SeqAbstractor()) m.key_dim = 3, m.symbol_retrieval = "learned";
    return m;
}

ModelOptions objects(const char* architecture) {
    auto m = image(architecture);
    m.n_objects = 3, m.object_dim = 4, m.out_dim = 1, m.hidden = 5, m.hidden_layers = {5, 4};
    m.n_relations = 2, m.rel_proj_dim = 3, m.rel_activation = "sigmoid";
    return m;
}

}  // namespace

std::vector<std::pair<std::string, ModelOptions>> smallModels() {
    std::vector<std::pair<std::string, ModelOptions>> all;
    const auto add = [&all](const std::string& name, ModelOptions base, auto&& change) {
        change(base);
        all.emplace_back(base.architecture + " " + name, base);
    };
    using O = ModelOptions;
    const auto plain = [](O&) {};
    for (const char* name : {"VisionDualAttnTransformer", "VisionTransformer", "AbstractorModel",
                             "CoRelNet", "CoRelNetSoftmax", "PrediNet"})
        add("plain", image(name), [](O& m) {
            if (m.is("PrediNet")) m.n_relations = 3;
        });
    add("final norm", image("VisionDualAttnTransformer"), [](O& m) { m.final_norm = true; });
    add("post-norm", image("AbstractorModel"), [](O& m) { m.norm_first = false; });
    add("no self-attention, symbolic", image("AbstractorModel"),
        [](O& m) { m.use_self_attn = false, m.symbol_retrieval = "symbolic_attention"; });

    const auto dual = language("DualAttnTransformerLM");
    add("plain", language("TransformerLM"), plain);
    add("learned positions", language("TransformerLM"), [](O& m) { m.pos_enc_type = "pos_emb"; });
    add("plain", dual, plain);
    add("own retrievers", dual, [](O& m) { m.shared_symbol_retriever = false; });
    add("tied library", dual,
        [](O& m) { m.shared_symbol_retriever = false, m.weight_tie_symbol_library = true; });
    add("tied positional library", dual, [](O& m) {
        m.symbol_retrieval = "positional_symbols";
        m.shared_symbol_retriever = false, m.weight_tie_symbol_library = true;
    });
    add("relative, post-norm, shared", dual, [](O& m) {
        m.symbol_retrieval = "position_relative", m.max_rel_pos = 3, m.norm_first = false;
        m.share_attn_params = m.symmetric_rels = true, m.activation = "swiglu";
    });
    add("rca", dual, [](O& m) { m.ra_type = "rca", m.rca_activation = "tanh"; });
    add("disrca", dual, [](O& m) { m.ra_type = "disrca", m.rel_activation = "tanh"; });
    add("grouped", dual, [](O& m) {
        m.sa_n_kv_heads = m.ra_n_kv_heads = 1, m.n_relations = 4, m.trainable_symbols = false;
    });

    add("plain", pairs("Seq2SeqTransformer"), plain);
    add("vectors", pairs("Seq2SeqTransformer"), [](O& m) {
        m.input_type = m.output_type = "vector", m.norm_first = m.decoder.norm_first = true;
    });
    add("plain", pairs("Seq2SeqDualAttnTransformer"), plain);
    add("second name, relational neighbours", pairs("Seq2SeqDualAttnTransformer"), [](O& m) {
        m.tie_weights = true, m.symbol_retrieval = "rel_sym_attn", m.rel_n_heads = 2;
        m.cross_n_kv_heads = 2, m.cross_add_bias_out = m.cross_add_bias_kv = true;
    });

    const auto abstractor = pairs("Seq2SeqAbstractor");
    for (const char* letter : {"a", "b", "c", "d"})
        for (const char* contexts : {"in-turn", "concatenated"})
            add(std::string("(") + letter + ") " + contexts, abstractor, [&](O& m) {
                m.abstractor_architecture = letter, m.decoder_contexts = contexts;
                if (*letter == 'a') m.n_layers_enc = 0;
                m.symbol_positions = *letter == 'b';
            });
    for (const char* sigma : {"softmax", "relu", "tanh", "sigmoid", "identity"})
        add(std::string("sigma ") + sigma, abstractor, [&](O& m) {
            m.rca_activation = sigma;
            m.mask_diagonal = *sigma != 'r', m.symmetric_rels = *sigma == 't';
            m.rca_scaled = *sigma == 's';
        });
    for (const char* symbols :
         {"sinusoidal", "positional_symbols", "position_relative", "symbolic_attention"})
        add(std::string("symbols ") + symbols, abstractor, [&](O& m) {
            m.symbol_retrieval = symbols;
            m.max_rel_pos = 4;
        });
    for (const char* residual : {"objects", "none"})
        add(std::string("residual ") + residual, abstractor, [&](O& m) {
            m.abs_residual = residual, m.abs_feed_forward = *residual == 'o';
            m.use_self_attn = false;
        });
    add("norm first, rms", abstractor,
        [](O& m) { m.abs_norm_first = true, m.abs_norm = "rmsnorm", m.n_layers_abs = 2; });
    add("chain", abstractor, [](O& m) { m.n_abstractors = 3, m.n_heads_abs = 3, m.dff_abs = 9; });
    add("ablation", abstractor, [](O& m) { m.relational = false; });

    const auto passing = objects("MessagePassingAbstractor");
    add("plain", passing, [](O& m) { m.use_self_attn = false, m.abs_norm = "none"; });
    add("everything", passing, [](O& m) {
        m.n_layers = 2, m.symbol_dim = 5, m.message_softmax = m.symmetric_rels = true;
        m.rel_activation = "identity";
    });
    add("sigmoid", objects("ObjectAbstractor"), [](O& m) {
        m.key_dim = 3, m.symbol_retrieval = "learned", m.n_heads_abs = 3, m.dff_abs = 9;
        m.rca_activation = "sigmoid";
    });
    add("symmetric", objects("ObjectCoRelNet"), [](O& m) { m.symmetric_rels = true; });
    add("asymmetric", objects("ObjectCoRelNet"),
        [](O& m) { m.relation_softmax = false, m.key_dim = 3; });
    add("plain", objects("ObjectPrediNet"), plain);
    add("plain", objects("ObjectTransformer"), plain);
    const auto two = [](O& m) { m.out_dim = 2, m.key_dim = 3; };
    add("two relations", objects("RelationalHead"), two);
    add("two numbers", objects("SensoryHead"), two);
    add("two numbers", objects("RcaHead"), two);
    for (const bool symmetric : {true, false})
        add(symmetric ? "symmetric" : "asymmetric", objects("InnerProductRelation"),
            [symmetric](O& m) { m.n_objects = 2, m.symmetric_rels = symmetric; });
    add("dense", objects("RobustRegression"), two);
    add("sparse", objects("RobustRegression"), [](O& m) { m.out_dim = 2, m.rel_scale = 0.5; });
    add("plain", objects("ObjectMLP"), plain);
    add("plain", objects("SymbolicMLP"), plain);
    add("plain", objects("PairRelations"), [](O& m) { m.n_objects = m.out_dim = 2; });
    add("plain", objects("FixedRelationAbstractor"), [](O& m) { m.symbol_dim = 5; });
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
            return sequence("token", o.vocab_size, o.max_block_size - 1);
        case InputKind::Pairs:
            return {sequence(o.input_type, o.input_size, o.in_block_size - 1),
                    sequence(o.output_type, o.output_size, o.out_block_size - 1)};
        case InputKind::Objects:
            return torch::randn({batch, o.n_objects, o.object_dim}, type);
    }
    return torch::rand({batch, o.image_shape[0], o.image_shape[2], o.image_shape[1]}, type);
}

}  // namespace relascope
