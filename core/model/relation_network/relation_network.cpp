// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/relation_network/relation_network.h"

#include "model/baselines/relational_baselines.h"
#include "model/model.h"

namespace relascope::core {
namespace {

/// g of every pair: x [b, n, d] -> [b, n, n, relations], from receiver i and sender j.
struct PairwiseMlpImpl : torch::nn::Module, RecordingPoint {
    explicit PairwiseMlpImpl(const RelationNetworkOptions& o) {
        g = register_module("g", Mlp(o.relationWidths()));
    }
    torch::Tensor forward(const torch::Tensor& x) {
        const std::int64_t n = x.size(1);
        const auto pairs = torch::cat(
            {x.unsqueeze(2).expand({-1, -1, n, -1}), x.unsqueeze(1).expand({-1, n, -1, -1})},
            -1);  // [b, n, n, 2 d]
        const auto r = HookedModule(hook)("hook_r", axes::relations, g(pairs));
        if (auto* recorder = activeRecorder()) recorder->relations(path, r);
        return r;
    }

    Mlp g{nullptr};
};
TORCH_MODULE(PairwiseMlp);

struct RelationNetworkImpl : ModelWith<RelationNetworkOptions> {
    explicit RelationNetworkImpl(const Options& o) : ModelWith(o) {
        m_patches = register_module("patch_embedder", PatchEmbedding(o, o.d_model));
        m_relation = register_module("relation", PairwiseMlp(o));
        m_answer = register_module("f", Mlp(o.answerWidths()));
    }

    torch::Tensor outputs(const torch::Tensor& images) override {
        auto x = HookedModule("")("hook_embed", axes::stream, m_patches(images));  // [b, n, d]
        // Objects get their position, as in the published model.
        const std::int64_t n = x.size(1);
        const auto place = torch::arange(n, x.options()).div(n).view({1, n, 1});
        x = torch::cat({x, place.expand({x.size(0), -1, 1})}, 2);   // [b, n, d + 1]
        return m_answer(torch::relu(m_relation(x)).sum(2).sum(1));  // [b, classes]
    }

private:
    PatchEmbedding m_patches{nullptr};
    PairwiseMlp m_relation{nullptr};
    Mlp m_answer{nullptr};
};

const auto registered = RegisterModel::of<RelationNetworkImpl>("RelationNetwork");

}  // namespace
}  // namespace relascope::core
