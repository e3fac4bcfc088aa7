#include "model/vision.h"

namespace relascope {

PatchEmbeddingImpl::PatchEmbeddingImpl(const ModelOptions& o)
    : m_width(o.patch_size[0]), m_height(o.patch_size[1]) {
    m_patchNorm = register_module("1", Norm(o.patchDim(), "layernorm"));
    m_projection = register_module("2", torch::nn::Linear(o.patchDim(), o.d_model));
    m_norm = register_module("3", Norm(o.d_model, "layernorm"));
}

torch::Tensor PatchEmbeddingImpl::forward(const torch::Tensor& images) {
    const auto patches = images
                             .unflatten(3, {-1, m_width})   // [b, c, H, columns, pw]
                             .unflatten(2, {-1, m_height})  // [b, c, rows, ph, columns, pw]
                             .permute({0, 2, 4, 3, 5, 1})   // [b, rows, columns, ph, pw, c]
                             .flatten(3)
                             .flatten(1, 2);            // [b, patches, ph * pw * c]
    return m_norm(m_projection(m_patchNorm(patches)));  // [b, patches, d]
}

VisionModelImpl::VisionModelImpl(const ModelOptions& options) : m_options(options) {
    options.check();
    to_patch_embedding = register_module("to_patch_embedding", PatchEmbedding(options));
    pos_embedding =
        register_parameter("pos_embedding", torch::randn({1, options.tokens(), options.d_model}));
    cls_token = register_parameter("cls_token", torch::randn({1, 1, options.d_model}));
    m_dropout = register_module("dropout", Dropout(options.dropout_rate));
    encoder_blocks = register_module("encoder_blocks", torch::nn::ModuleList());
}

void VisionModelImpl::addClassifier() {
    final_out =
        register_module("final_out", torch::nn::Linear(m_options.d_model, m_options.num_classes));
}

torch::Tensor VisionModelImpl::forward(const ModelInput& images) {
    auto x = to_patch_embedding(images.x);                                     // [b, patches, d]
    x = torch::cat({cls_token.expand({x.size(0), 1, x.size(2)}), x}, 1);     // [b, n, d]
    x = encode(m_dropout(x + pos_embedding));                                // [b, n, d]
    return final_out(m_options.pool == "cls" ? x.select(1, 0) : x.mean(1));  // [b, classes]
}

VisionTransformerImpl::VisionTransformerImpl(const ModelOptions& options)
    : VisionModelImpl(options) {
    for (std::int64_t layer = 0; layer < options.n_layers; ++layer)
        encoder_blocks->push_back(EncoderBlock(options));
    addClassifier();
}

torch::Tensor VisionTransformerImpl::encode(torch::Tensor x) {
    for (const auto& block : *encoder_blocks) x = block->as<EncoderBlockImpl>()->forward(x);
    return x;
}

VisionDualAttnTransformerImpl::VisionDualAttnTransformerImpl(const ModelOptions& options)
    : VisionModelImpl(options) {
    symbol_retriever = register_module("symbol_retriever", makeSymbolRetriever(options));
    for (std::int64_t layer = 0; layer < options.n_layers; ++layer)
        encoder_blocks->push_back(DualAttnEncoderBlock(options));
    addClassifier();
}

torch::Tensor VisionDualAttnTransformerImpl::encode(torch::Tensor x) {
    int layer = 0;
    for (const auto& block : *encoder_blocks) {
        const auto symbols =
            m_options.n_heads_ra > 0 ? symbol_retriever->retrieve(x, layer) : Symbols{};
        x = block->as<DualAttnEncoderBlockImpl>()->forward(x, symbols);
        ++layer;
    }
    return x;
}

std::map<std::string, std::string> VisionDualAttnTransformerImpl::aliases() const {
    std::map<std::string, std::string> names;
    for (std::int64_t layer = 0; layer < m_options.n_layers; ++layer) {
        const std::string attention = "encoder_blocks." + std::to_string(layer) + ".dual_attn.";
        const std::string relational = attention + "relational_attention.";
        if (m_options.n_heads_ra > 0 && m_options.symmetric_rels &&
            m_options.ra_type == "relational_attention")
            names[relational + "wk_rel.weight"] = relational + "wq_rel.weight";
        if (m_options.share_attn_params && m_options.n_heads_ra > 0 && m_options.n_heads_sa > 0) {
            names[attention + "self_attention.wq.weight"] = relational + "wq_attn.weight";
            names[attention + "self_attention.wk.weight"] = relational + "wk_attn.weight";
            if (m_options.ra_add_bias_kv)
                names[attention + "self_attention.wk.bias"] = relational + "wk_attn.bias";
        }
    }
    return names;
}

}  // namespace relascope
