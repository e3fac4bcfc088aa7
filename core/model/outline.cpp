// modelOutline() of shapes.h.
#include <map>

#include "model/one_head.h"
#include "model/shapes.h"

namespace relascope {
namespace {

std::string words(std::int64_t n, const std::string& one) {
    return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

// Builds nodes whose parameters are those under a prefix, each tensor counted once.
class Outline {
public:
    explicit Outline(const ModelOptions& options) : m_o(options), m_shapes(modelShapes(options)) {}

    OutlineNode build();

private:
    std::int64_t under(const std::string& prefix) const {
        std::int64_t count = 0;
        for (const auto& shape : m_shapes)
            if (shape.aliasOf.empty() && !shape.buffer &&
                (prefix.empty() || shape.name == prefix || shape.name.starts_with(prefix + ".")))
                count += shape.count();
        return count;
    }
    bool exists(const std::string& prefix) const {
        for (const auto& shape : m_shapes)
            if (shape.name == prefix || shape.name.starts_with(prefix + ".")) return true;
        return false;
    }
    /// Adds a child when the model has such tensors.
    OutlineNode* add(OutlineNode& parent, const std::string& title, const std::string& name,
                     const std::string& detail) {
        const std::string prefix = parent.prefix.empty() ? name : parent.prefix + "." + name;
        if (!exists(prefix)) return nullptr;
        parent.children.push_back({title, detail, prefix, under(prefix), {}});
        return &parent.children.back();
    }
    std::string sensory(const BlockOptions& b, std::int64_t heads) const;
    std::string relational(const BlockOptions& b) const;
    std::string symbols() const;
    std::string feedForward(const BlockOptions& b) const;
    void block(OutlineNode& parent, const std::string& title, const std::string& name,
               const BlockOptions& b, bool decoder);
    void stack(OutlineNode& parent, const std::string& title, const std::string& name,
               std::int64_t layers, const BlockOptions& b, bool decoder = false);
    void abstractorBlocks(OutlineNode& parent, const std::string& title, const std::string& name);
    void images(OutlineNode& root);
    void language(OutlineNode& root);
    void pairs(OutlineNode& root);
    void objects(OutlineNode& root);

    const ModelOptions& m_o;
    std::vector<TensorShape> m_shapes;
};

std::string Outline::sensory(const BlockOptions& b, std::int64_t heads) const {
    std::string text = words(heads, "head");
    if (b.sa_n_kv_heads > 0 && b.sa_n_kv_heads != heads)
        text += ", " + words(b.sa_n_kv_heads, "key head");
    if (m_o.rotary()) text += ", rotary";
    return text;
}

std::string Outline::relational(const BlockOptions& b) const {
    std::string text = words(b.n_heads_ra, "head");
    if (b.ra_n_kv_heads > 0 && b.ra_n_kv_heads != b.n_heads_ra)
        text += ", " + words(b.ra_n_kv_heads, "key head");
    if (b.ra_type != "relational_attention") return text + ", " + b.ra_type;
    text += ", " + words(b.relations(), "relation");
    if (b.symmetric_rels) text += ", symmetric";
    if (b.rel_activation != "identity") text += ", " + b.rel_activation;
    return text;
}

std::string Outline::symbols() const {
    const auto& o = m_o;
    if (o.symbol_retrieval == "positional_symbols")
        return std::to_string(o.symbolRows()) + " by position";
    if (o.symbol_retrieval == "position_relative")
        return "by offset, up to " + std::to_string(o.largestOffset());
    std::string text = std::to_string(o.n_symbols) + " in a library, " +
                       words(o.symbol_heads, "head") + (o.trainable_symbols ? "" : ", frozen");
    if (o.symbol_retrieval == "rel_sym_attn") text += ", retrieved by relations to neighbours";
    return text;
}

std::string Outline::feedForward(const BlockOptions& b) const {
    return b.activation + (b.dff > 0 ? ", " + std::to_string(b.dff) + " wide" : "");
}

void Outline::block(OutlineNode& parent, const std::string& title, const std::string& name,
                    const BlockOptions& b, bool decoder) {
    auto* node = add(parent, title, name, b.norm_first ? "pre-norm" : "post-norm");
    if (!node) return;
    add(*node, "sensory attention", "dual_attn.self_attention", sensory(b, b.n_heads_sa));
    add(*node, "relational attention", "dual_attn.relational_attention", relational(b));
    add(*node, "self-attention", "self_attn", sensory(b, b.n_heads_sa));
    if (decoder)
        add(*node, "cross-attention", "cross_attn",
            words(m_o.isDual() ? m_o.n_heads_cross : b.n_heads_sa, "head"));
    add(*node, "feed-forward", "ff_block", feedForward(b));
    for (const char* norm : {"norm1", "norm2", "norm3"}) add(*node, norm, norm, b.norm_type);
}

void Outline::stack(OutlineNode& parent, const std::string& title, const std::string& name,
                    std::int64_t layers, const BlockOptions& b, bool decoder) {
    auto* node = add(parent, title, name, words(layers, "block"));
    for (std::int64_t i = 0; node && i < layers; ++i)
        block(*node, "block " + std::to_string(i + 1), std::to_string(i), b, decoder);
}

void Outline::abstractorBlocks(OutlineNode& parent, const std::string& title,
                               const std::string& name) {
    auto* node = add(parent, title, name, "");
    if (!node) return;
    for (std::int64_t i = 0; exists(node->prefix + "." + std::to_string(i)); ++i) {
        auto* layer = add(*node, "block " + std::to_string(i + 1), std::to_string(i), "");
        const std::string heads = words(m_o.n_heads_sa, "head");
        const std::string abstract = words(m_o.abstractorHeads(), "head");
        add(*layer, "self-attention", "self_attn", heads);
        add(*layer, "relational cross-attention", "rca",
            abstract + ", " + m_o.rca_activation + (m_o.symmetric_rels ? ", symmetric" : ""));
        add(*layer, "cross-attention", "cross_attn", heads);
        add(*layer, "feed-forward", "ff_block", "relu");
        for (const char* norm : {"norm1", "norm2", "norm3"}) add(*layer, norm, norm, "layernorm");
    }
    node->detail = words(static_cast<std::int64_t>(node->children.size()), "block");
}

void Outline::images(OutlineNode& root) {
    const auto& o = m_o;
    const std::string grid =
        std::to_string(o.gridColumns()) + " x " + std::to_string(o.gridRows()) + " patches of " +
        std::to_string(o.patch_size[0]) + " x " + std::to_string(o.patch_size[1]) + " pixels";
    add(root, "patch embedding", "to_patch_embedding", grid);
    add(root, "patch embedding", "patch_embedder", grid);
    add(root, "class token", "cls_token", "");
    add(root, "positions", "pos_embedding", std::to_string(o.tokens()) + " learned");
    add(root, "symbols", "symbol_retriever", symbols());
    stack(root, "encoder", "encoder_blocks", o.n_layers, o);
    if (auto* abstractor = add(root, "abstractor", "abstractor", words(o.n_layers, "layer"))) {
        add(*abstractor, "symbols", "symbol_retriever", symbols());
        for (std::int64_t i = 0; i < o.n_layers; ++i) {
            auto* layer = add(*abstractor, "layer " + std::to_string(i + 1),
                              "abstractor_layers." + std::to_string(i), "");
            if (!layer) continue;
            add(*layer, "self-attention", "self_attn", words(o.n_heads_sa, "head"));
            add(*layer, "relational cross-attention", "rel_attn", words(o.n_heads_sa, "head"));
            add(*layer, "feed-forward", "ff_block", feedForward(o));
        }
    }
    add(root, "object embedding", "mlp_embedder", "");
    add(root, "PrediNet heads", "predinet",
        words(o.n_heads_sa, "head") + ", " + words(o.n_relations, "relation"));
    add(root, "predictor", "mlp_predictor", std::to_string(o.num_classes) + " classes");
    add(root, "classifier", "final_out",
        std::to_string(o.num_classes) + " classes from the " +
            (o.pool == "cls" ? "class token" : "mean token"));
}

void Outline::language(OutlineNode& root) {
    const auto& o = m_o;
    add(root, "token embedding", "layers.token_embedder",
        std::to_string(o.vocab_size) + " tokens, tied to the output");
    add(root, "positions", "layers.positional_embedder",
        std::to_string(o.max_block_size) + " learned");
    if (auto* node = add(root, "symbols", "layers.symbol_retrievers",
                         symbols() + (o.shared_symbol_retriever     ? ", shared by all layers"
                                      : o.weight_tie_symbol_library ? ", one library for all layers"
                                                                    : ", one retriever per layer")))
        if (!o.shared_symbol_retriever)
            for (std::int64_t i = 0; i < o.n_layers; ++i)
                add(*node, "layer " + std::to_string(i + 1), std::to_string(i), "");
    stack(root, "blocks", "layers.blocks", o.n_layers, o);
    add(root, "norm", "layers.norm", o.norm_type);
}

void Outline::pairs(OutlineNode& root) {
    const auto& o = m_o;
    const std::string layers = o.isSeq2Seq() ? "layers." : "";
    const auto side = [](const std::string& type, std::int64_t size) {
        return type == "token" ? std::to_string(size) + " tokens"
                               : "vectors of " + std::to_string(size);
    };
    add(root, "source embedding", layers + "source_embedder", side(o.input_type, o.input_size));
    add(root, "target embedding", layers + "target_embedder", side(o.output_type, o.output_size));
    if (o.isSeq2Seq()) {
        add(root, "symbols", "layers.symbol_retriever", symbols() + ", for both sides");
        stack(root, "encoder", "layers.encoder_blocks", o.n_layers_enc, o);
        stack(root, "decoder", "layers.decoder_blocks", o.n_layers_dec, o.decoder, true);
    } else {
        abstractorBlocks(root, "encoder", "encoder_blocks");
        const auto chain = [&](const std::string& title, const std::string& name) {
            auto* node = add(root, title, name, words(o.n_layers_abs, "layer"));
            if (!node) return;
            add(*node, "learned symbols", "symbols", std::to_string(o.in_block_size) + " rows");
            add(*node, "symbols", "symbol_retriever", symbols());
            abstractorBlocks(*node, "layers", "layers");
        };
        chain("abstractor", "abstractor");
        for (std::int64_t i = 1; i < o.n_abstractors; ++i)
            chain("abstractor " + std::to_string(i + 1), "abstractors." + std::to_string(i));
        abstractorBlocks(root, "decoder", "decoder_blocks");
    }
    add(root, "output", layers + "final_out", std::to_string(o.out_dim) + " scores");
}

void Outline::objects(OutlineNode& root) {
    const auto& o = m_o;
    add(root, "object embedding", "embedder",
        words(o.n_objects, "object") + " of " + std::to_string(o.object_dim) + " numbers");
    const bool fixed = o.is("FixedRelationAbstractor");
    add(root, fixed ? "frozen relations" : "relations", "relation",
        words(o.n_relations, "relation") + " of " + std::to_string(o.rel_proj_dim) +
            (fixed ? ", sigmoid" : ""));
    add(root, fixed ? "fixed symbols" : "learned symbols", "symbols",
        std::to_string(o.n_objects) + " rows");
    if (o.is("MessagePassingAbstractor")) {
        if (auto* node = add(root, "message passing", "layers", words(o.n_layers, "layer")))
            for (std::int64_t i = 0; i < o.n_layers; ++i)
                add(*node, "layer " + std::to_string(i + 1), std::to_string(i),
                    words(o.n_relations, "relation") + " of " + std::to_string(o.rel_proj_dim) +
                        ", " + o.rel_activation + (o.symmetric_rels ? ", symmetric" : ""));
    } else {
        add(root, "layers", "layers", "relu");
    }
    if (o.is("ObjectAbstractor")) {
        add(root, "object embedding", "source_embedder",
            words(o.n_objects, "object") + " of " + std::to_string(o.object_dim) + " numbers");
        add(root, "abstractor", "abstractor",
            words(o.n_layers_abs, "layer") + ", " + words(o.abstractorHeads(), "head"));
    }
    if (o.isOneHead()) {
        auto* head = add(root, "head", "head",
                         "feature maps " + std::to_string(featureWidth(o)) + " wide, relu");
        if (!head) return;
        const std::string products =
            words(o.n_relations, "relation") + " of " + std::to_string(o.rel_proj_dim);
        add(*head, "attention queries", "query", "");
        add(*head, "attention keys", "key", "");
        add(*head, "relation queries", "rel_query", products);
        add(*head, "relation keys", "rel_key", products);
        add(*head, "relations to output", "wr", words(o.out_dim, "number"));
        add(*head, "values", "value", words(o.out_dim, "number"));
        add(*head, "learned symbols", "symbols", std::to_string(o.n_objects - 1) + " rows");
        add(*head, "symbols to output", "wv", words(o.out_dim, "number"));
        return;
    }
    const std::string map = std::to_string(o.d_model) + " wide, relu, to " +
                            std::to_string(o.rel_proj_dim) + " numbers";
    add(root, "feature map of the first", "left", map + (o.symmetric_rels ? ", symmetric" : ""));
    add(root, "feature map of the second", "right", map);
    add(root, "robust regression", "regression", "solved for each example, not trained");
    stack(root, "encoder", "encoder_blocks", o.n_layers, o);
    add(root, "relation queries", "wq", o.symmetric_rels ? "symmetric" : "");
    add(root, "relation keys", "wk", "");
    add(root, "PrediNet heads", "predinet",
        words(o.n_heads_sa, "head") + ", " + words(o.n_relations, "relation"));
    add(root, "hidden layer", "hidden", std::to_string(o.hidden) + " wide, relu");
    add(root, "output", "final_out", words(o.out_dim, "score"));
}

OutlineNode Outline::build() {
    OutlineNode root{m_o.architecture, "width " + std::to_string(m_o.d_model), "", under(""), {}};
    switch (m_o.input()) {
        case InputKind::Images:
            images(root);
            break;
        case InputKind::Tokens:
            language(root);
            break;
        case InputKind::Pairs:
            pairs(root);
            break;
        case InputKind::Objects:
            objects(root);
            break;
    }
    return root;
}

}  // namespace

OutlineNode modelOutline(const ModelOptions& options) {
    return Outline(options).build();
}

}  // namespace relascope
