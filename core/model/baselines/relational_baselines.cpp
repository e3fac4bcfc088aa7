// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/baselines/relational_baselines.h"
#include "model/model.h"

namespace relascope::core {

MlpImpl::MlpImpl(const std::vector<std::int64_t>& widths) {
    for (std::size_t i = 0; i + 1 < widths.size(); ++i)
        add(widths[i], widths[i + 1], i + 2 < widths.size());
}

void MlpImpl::add(std::int64_t in, std::int64_t out, bool relu) {
    m_steps.push_back({register_module(std::to_string(m_next), Linear(in, out)), relu});
    m_next += relu ? 2 : 1;  // published stacks count the activation too
}

torch::Tensor MlpImpl::forward(torch::Tensor x) {
    std::size_t layer = 0;
    for (auto& step : m_steps) {
        x = step.linear(x);
        if (step.relu) x = hooked(layer, x);
        ++layer;
    }
    return x;
}

torch::Tensor MlpImpl::hooked(std::size_t layer, const torch::Tensor& x) const {
    if (hook.empty() || !activeHooks()) return torch::relu(x);
    const HookedModule hooks(hook + "." + std::to_string(layer));
    return hooks("hook_post", axes::pooled, torch::relu(hooks("hook_pre", axes::pooled, x)));
}

torch::Tensor SimilarityImpl::forward(const torch::Tensor& left, const torch::Tensor& right) {
    const HookedModule hooks(hook);
    const auto point = [&](const char* name, const torch::Tensor& map) {
        return hooks ? hooks(name, axes::relations, map.unsqueeze(-1)).squeeze(-1) : map;
    };
    const auto inner =
        point("hook_rel_scores", torch::matmul(left, right.transpose(1, 2)));  // [b, n, n]
    const auto r = point("hook_r", m_softmax ? softmaxOf(inner) : inner);
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
        return softmaxOf(torch::matmul(q, keys.transpose(2, 3)));
    };
    static constexpr std::array patternAxes{Axis::Batch, Axis::Head, Axis::Slot, Axis::Position};
    static constexpr std::array objectAxes{Axis::Batch, Axis::Head, Axis::Slot, Axis::Dim};
    static constexpr std::array relationAxes{Axis::Batch, Axis::Head, Axis::Relation};
    const HookedModule hooks(hook);
    const auto both = [&](const char* name, Axes axes, torch::Tensor& first,
                          torch::Tensor& second) {
        if (!hooks) return;
        const auto slots = hooks(name, axes, torch::cat({first, second}, 2));
        first = slots.slice(2, 0, 1), second = slots.slice(2, 1);
    };
    auto first = select(W_q1(flat)), second = select(W_q2(flat));
    both("hook_pattern", patternAxes, first, second);
    if (auto* recorder = activeRecorder()) recorder->scores(path, torch::cat({first, second}, 2));
    auto e1 = torch::matmul(first, x.unsqueeze(1)), e2 = torch::matmul(second, x.unsqueeze(1));
    both("hook_objects", objectAxes, e1, e2);
    e1 = e1.squeeze(2), e2 = e2.squeeze(2);                     // [b, h, width]
    auto d = hooks("hook_r", relationAxes, W_s(e1) - W_s(e2));  // [b, h, relations]
    if (m_positions) d = torch::cat({d, e1.slice(2, -1), e2.slice(2, -1)}, 2);
    return d.flatten(1);
}

namespace {

torch::Tensor hookedPatches(const torch::Tensor& patches) {
    return HookedModule("")("hook_embed", axes::stream, patches);
}

/// Patch embedder without class token or positions, CoRelNet's embedder and predictor.
struct CoRelNetImpl : ModelWith<CoRelNetOptions> {
    explicit CoRelNetImpl(const Options& o) : ModelWith(o) {
        const std::int64_t d = o.d_model, n = o.patches();
        m_patches = register_module("patch_embedder", PatchEmbedding(o, o.d_model));
        m_embedder = register_module("mlp_embedder", Mlp(std::vector<std::int64_t>{d, 4 * d, d}));
        m_similarity = register_module("relation", Similarity(o.softmax));
        m_predictor = register_module("mlp_predictor", Mlp());
        m_predictor->add(n * n, d, true);
        m_predictor->add(d, d, false);
        m_predictor->add(d, o.num_classes, false);
    }
    torch::Tensor outputs(const torch::Tensor& images) override {
        const auto x = m_embedder(hookedPatches(m_patches(images)));  // [b, n, d]
        return m_predictor(m_similarity(x, x).flatten(1));            // [b, classes]
    }

private:
    PatchEmbedding m_patches{nullptr};
    Mlp m_embedder{nullptr}, m_predictor{nullptr};
    Similarity m_similarity{nullptr};
};

struct PrediNetImpl : ModelWith<PrediNetOptions> {
    explicit PrediNetImpl(const Options& o) : ModelWith(o) {
        m_patches = register_module("patch_embedder", PatchEmbedding(o, o.d_model));
        m_heads =
            register_module("predinet", PrediNetHeads(o.patches(), o.d_model + 1, o.n_heads_sa,
                                                      o.n_relations, o.keyDim(), true));
        m_predictor = register_module(
            "mlp_predictor",
            Mlp(mlpWidths(o.n_heads_sa * (o.n_relations + 2), {o.d_model}, o.num_classes)));
    }
    torch::Tensor outputs(const torch::Tensor& images) override {
        const auto x = hookedPatches(m_patches(images));  // [b, n, d]
        const auto index = torch::arange(x.size(1), x.options()).view({1, -1, 1});
        return m_predictor(m_heads(torch::cat({x, index.expand({x.size(0), -1, 1})}, 2)));
    }

private:
    PatchEmbedding m_patches{nullptr};
    PrediNetHeads m_heads{nullptr};
    Mlp m_predictor{nullptr};
};

const auto linear = RegisterModel::of<CoRelNetImpl>("CoRelNet");
const auto softmax = RegisterModel::of<CoRelNetImpl>("CoRelNetSoftmax");
const auto prediNet = RegisterModel::of<PrediNetImpl>("PrediNet");

}  // namespace
}  // namespace relascope::core
