// SPDX-License-Identifier: GPL-3.0-or-later
// The Abstractor for images of DAT's Relational Games, with the residual stream of the objects.
#include <torch/nn/modules/container/modulelist.h>

#include "model/abstractor/abstractor_options.h"
#include "model/attention/attention.h"
#include "model/attention/symbols.h"
#include "model/baselines/relational_baselines.h"
#include "model/blocks/dual_attention.h"
#include "model/factory.h"
#include "model/vision/vision.h"

namespace relascope::core {
namespace {

/// A <- A + SA(norm1 A);  A <- x + RCA(norm1 x, A);  A <- A + FF(norm2 A). Post-norm: each sum is
/// normalised instead. The second line adds the objects, so that sensory information is passed on
/// (models.md section 5).
struct ImageAbstractorLayerImpl : torch::nn::Module, RecordingPoint {
    explicit ImageAbstractorLayerImpl(const ImageAbstractorOptions& o) : m_normFirst(o.norm_first) {
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
    torch::Tensor forward(torch::Tensor a, const torch::Tensor& x) {
        const HookedModule hooks(hook);
        const auto point = [&](const char* name, const torch::Tensor& value) {
            return hooks(name, axes::stream, value);
        };
        const auto fed = [&](const torch::Tensor& y) {
            return m_dropout(point("hook_mlp_out", ff_block(y)));
        };
        a = point("hook_resid_pre", a);
        if (!self_attn.is_empty()) {
            const auto y = m_normFirst ? norm1(a) : a;
            a = a + hookedOutput(hooks, "hook_attn_out", self_attn, self_attn->heads(y, y, y));
            if (!m_normFirst) a = norm1(a);
            a = point("hook_resid_mid", a);
        }
        const auto objects = m_normFirst ? norm1(x) : x;
        a = x + hookedOutput(hooks, "hook_cross_attn_out", rel_attn,
                             rel_attn->heads(objects, objects, a));
        if (!m_normFirst) a = norm1(a);
        a = point("hook_resid_mid_cross", a);
        a = m_normFirst ? a + fed(norm2(a)) : norm2(a + fed(a));
        a = point("hook_resid_post", a);
        if (auto* recorder = activeRecorder()) recorder->hidden(path, a);
        return a;
    }

    Attention self_attn{nullptr}, rel_attn{nullptr};
    Norm norm1{nullptr}, norm2{nullptr};
    FeedForward ff_block{nullptr};

private:
    bool m_normFirst;
    Dropout m_dropout{nullptr};
};
TORCH_MODULE(ImageAbstractorLayer);

/// `AbstractorModel`: patches, Abstractor, mean, MLP.
struct ImageAbstractorImpl : ModelWith<ImageAbstractorOptions> {
    explicit ImageAbstractorImpl(const Options& o) : ModelWith(o) {
        m_patches = register_module("patch_embedder", PatchEmbedding(o, o.d_model));
        auto abstractor = register_module("abstractor", std::make_shared<torch::nn::Module>());
        m_retriever = abstractor->register_module("symbol_retriever",
                                                  makeSymbolRetriever(o, o.d_model, o.patches()));
        for (std::int64_t layer = 0; layer < o.n_layers; ++layer)
            m_abstractorLayers->push_back(ImageAbstractorLayer(o));
        abstractor->register_module("abstractor_layers", m_abstractorLayers);
        m_predictor = register_module(
            "mlp_predictor", Mlp(std::vector<std::int64_t>{o.d_model, o.d_model, o.num_classes}));
    }
    torch::Tensor outputs(const torch::Tensor& images) override {
        const auto x =
            HookedModule("")("hook_embed", axes::stream, m_patches(images));  // [b, n, d]
        auto a = m_retriever->retrieve(x, 0, "abstractor").values;            // [n, d] or [b, n, d]
        if (a.dim() == 2) a = a.unsqueeze(0).expand_as(x);
        a = HookedModule("abstractor")("hook_symbols", axes::stream, a);
        for (const auto& layer : *m_abstractorLayers)
            a = layer->as<ImageAbstractorLayerImpl>()->forward(a, x);
        return m_predictor(a.mean(1));  // [b, classes]
    }

private:
    PatchEmbedding m_patches{nullptr};
    std::shared_ptr<SymbolRetrieverImpl> m_retriever;
    torch::nn::ModuleList m_abstractorLayers;
    Mlp m_predictor{nullptr};
};

const auto registered = RegisterModel::of<ImageAbstractorImpl>("AbstractorModel");

}  // namespace
}  // namespace relascope::core
