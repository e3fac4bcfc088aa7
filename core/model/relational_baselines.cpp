#include "model/relational_baselines.h"

namespace relascope {

MlpImpl::MlpImpl(const std::vector<std::int64_t>& widths) {
    for (std::size_t i = 0; i + 1 < widths.size(); ++i)
        add(widths[i], widths[i + 1], i + 2 < widths.size());
}

void MlpImpl::add(std::int64_t in, std::int64_t out, bool relu) {
    m_steps.push_back({register_module(std::to_string(m_next), Linear(in, out)), relu});
    m_next += relu ? 2 : 1;  // published stacks count the activation too
}

torch::Tensor MlpImpl::forward(torch::Tensor x) {
    for (auto& step : m_steps) {
        x = step.linear(x);
        if (step.relu) x = torch::relu(x);
    }
    return x;
}

torch::Tensor SimilarityImpl::forward(const torch::Tensor& left, const torch::Tensor& right) {
    const auto inner = torch::matmul(left, right.transpose(1, 2));  // [b, n, n]
    const auto r = m_softmax ? torch::softmax(inner, -1) : inner;
    if (auto* recorder = activeRecorder()) {
        recorder->relations(path, inner.unsqueeze(-1));
        if (m_softmax) recorder->scores(path, r.unsqueeze(1));
    }
    return r;
}

PrediNetHeadsImpl::PrediNetHeadsImpl(std::int64_t objects, std::int64_t width, std::int64_t heads,
                                     std::int64_t relations, std::int64_t key, bool positions)
    : m_heads(heads), m_positions(positions) {
    W_k = register_module("W_k", Linear(width, key, false));
    W_q1 = register_module("W_q1", Linear(objects * width, heads * key, false));
    W_q2 = register_module("W_q2", Linear(objects * width, heads * key, false));
    W_s = register_module("W_s", Linear(width, relations, false));
}

torch::Tensor PrediNetHeadsImpl::forward(const torch::Tensor& x) {
    const auto flat = x.flatten(1);                        // [b, n * width]
    const auto keys = W_k(x).unsqueeze(1);                 // [b, 1, n, key]
    const auto select = [&](const torch::Tensor& query) {  // [b, h * key] -> weights [b, h, 1, n]
        const auto q = query.unflatten(1, {m_heads, 1, -1});
        return torch::softmax(torch::matmul(q, keys.transpose(2, 3)), -1);
    };
    const auto first = select(W_q1(flat)), second = select(W_q2(flat));
    if (auto* recorder = activeRecorder()) recorder->scores(path, torch::cat({first, second}, 2));
    const auto e1 = torch::matmul(first, x.unsqueeze(1)).squeeze(2);   // [b, h, width]
    const auto e2 = torch::matmul(second, x.unsqueeze(1)).squeeze(2);  // [b, h, width]
    auto d = W_s(e1) - W_s(e2);                                        // [b, h, relations]
    if (m_positions) d = torch::cat({d, e1.slice(2, -1), e2.slice(2, -1)}, 2);
    return d.flatten(1);
}

CoRelNetImpl::CoRelNetImpl(const ModelOptions& o) : m_options(o) {
    o.check();
    const std::int64_t d = o.d_model, n = o.patches();
    m_patches = register_module("patch_embedder", PatchEmbedding(o));
    m_embedder = register_module("mlp_embedder", Mlp(std::vector<std::int64_t>{d, 4 * d, d}));
    m_similarity = register_module("relation", Similarity(o.is("CoRelNetSoftmax")));
    m_predictor = register_module("mlp_predictor", Mlp());
    m_predictor->add(n * n, d, true);
    m_predictor->add(d, d, false);
    m_predictor->add(d, o.num_classes, false);
}

torch::Tensor CoRelNetImpl::forward(const ModelInput& input) {
    requireImages(input.x, m_options);
    const auto x = m_embedder(m_patches(input.x));      // [b, n, d]
    return m_predictor(m_similarity(x, x).flatten(1));  // [b, classes]
}

PrediNetImpl::PrediNetImpl(const ModelOptions& o) : m_options(o) {
    o.check();
    const std::int64_t key = o.key_dim > 0 ? o.key_dim : o.d_model / o.n_heads_sa;
    m_patches = register_module("patch_embedder", PatchEmbedding(o));
    m_heads = register_module("predinet", PrediNetHeads(o.patches(), o.d_model + 1, o.n_heads_sa,
                                                        o.n_relations, key, true));
    m_predictor = register_module("mlp_predictor",
                                  Mlp(std::vector<std::int64_t>{o.n_heads_sa * (o.n_relations + 2),
                                                                o.d_model, o.num_classes}));
}

torch::Tensor PrediNetImpl::forward(const ModelInput& input) {
    requireImages(input.x, m_options);
    const auto x = m_patches(input.x);  // [b, n, d]
    const auto index = torch::arange(x.size(1), x.options()).view({1, -1, 1});
    return m_predictor(m_heads(torch::cat({x, index.expand({x.size(0), -1, 1})}, 2)));
}

ImageAbstractorLayerImpl::ImageAbstractorLayerImpl(const ModelOptions& o)
    : m_normFirst(o.norm_first) {
    HeadOptions heads;
    heads.d_model = o.d_model;
    heads.n_heads = o.n_heads_sa;
    heads.head_dim = o.d_model / o.n_heads_sa;
    heads.dropout = o.dropout_rate;
    heads.output_dropout = twiceDropped(o.dropout_rate);
    heads.add_bias_out = true;
    if (o.use_self_attn) self_attn = register_module("self_attn", Attention(heads));
    norm1 = register_module("norm1", Norm(o.d_model, "layernorm"));
    heads.relational = true;
    rel_attn = register_module("rel_attn", Attention(heads));
    norm2 = register_module("norm2", Norm(o.d_model, "layernorm"));
    ff_block = register_module("ff_block", FeedForward(o.d_model, o.dff, o.activation, true));
    m_dropout = register_module("dropout", Dropout(o.dropout_rate));
}

torch::Tensor ImageAbstractorLayerImpl::forward(torch::Tensor a, const torch::Tensor& x) {
    if (!self_attn.is_empty()) {
        const auto y = m_normFirst ? norm1(a) : a;
        a = a + self_attn(y, y, y);
        if (!m_normFirst) a = norm1(a);
    }
    const auto objects = m_normFirst ? norm1(x) : x;
    a = x + rel_attn(objects, objects, a);
    if (!m_normFirst) a = norm1(a);
    a = m_normFirst ? a + m_dropout(ff_block(norm2(a))) : norm2(a + m_dropout(ff_block(a)));
    if (auto* recorder = activeRecorder()) recorder->hidden(path, a);
    return a;
}

ImageAbstractorImpl::ImageAbstractorImpl(const ModelOptions& o) : m_options(o) {
    o.check();
    m_patches = register_module("patch_embedder", PatchEmbedding(o));
    auto abstractor = register_module("abstractor", std::make_shared<torch::nn::Module>());
    m_retriever = abstractor->register_module("symbol_retriever", makeSymbolRetriever(o));
    for (std::int64_t layer = 0; layer < o.n_layers; ++layer)
        m_abstractorLayers->push_back(ImageAbstractorLayer(o));
    abstractor->register_module("abstractor_layers", m_abstractorLayers);
    m_predictor = register_module(
        "mlp_predictor", Mlp(std::vector<std::int64_t>{o.d_model, o.d_model, o.num_classes}));
}

torch::Tensor ImageAbstractorImpl::forward(const ModelInput& input) {
    requireImages(input.x, m_options);
    const auto x = m_patches(input.x);            // [b, n, d]
    auto a = m_retriever->retrieve(x, 0).values;  // [n, d] or [b, n, d]
    if (a.dim() == 2) a = a.unsqueeze(0).expand_as(x);
    for (const auto& layer : *m_abstractorLayers)
        a = layer->as<ImageAbstractorLayerImpl>()->forward(a, x);
    return m_predictor(a.mean(1));  // [b, classes]
}

}  // namespace relascope
