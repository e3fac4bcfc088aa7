// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/esbn/esbn.h"

#include <cmath>

#include "model/baselines/relational_baselines.h"
#include "model/model.h"

namespace relascope::core {
namespace {

/// For each object z_t in turn: the controller reads the key retrieved last, writes a key for z_t,
/// and retrieves by z_t from what was stored before:
///   k_r = g_t sum_i softmax_i(z_t z_i) (k_i, sigmoid(gain z_t z_i + bias)).
struct BindingImpl : torch::nn::Module, RecordingPoint {
    explicit BindingImpl(const EsbnOptions& o) : m_width(o.controller), m_key(o.key_dim) {
        gain = register_parameter("gain", newConstant({1}, 1.0));
        bias = register_parameter("bias", newConstant({1}, 0.0));
        const double bound = 1.0 / std::sqrt(static_cast<double>(o.controller));
        const auto uniform = [bound](torch::Tensor& t) { t.uniform_(-bound, bound); };
        const std::int64_t gates = 4 * o.controller;
        weight_ih = register_parameter("weight_ih", newParameter({gates, m_key + 1}, uniform));
        weight_hh = register_parameter("weight_hh", newParameter({gates, m_width}, uniform));
        bias_ih = register_parameter("bias_ih", newParameter({gates}, uniform));
        bias_hh = register_parameter("bias_hh", newParameter({gates}, uniform));
        key = register_module("key", Linear(o.controller, o.key_dim));
        gate = register_module("gate", Linear(o.controller, 1));
    }

    /// z [b, n, d] -> the controller after the last retrieval [b, controller].
    torch::Tensor forward(const torch::Tensor& z) {
        const std::int64_t b = z.size(0), n = z.size(1);
        const auto similar = HookedModule(hook)("hook_r", axes::relations,
                                                torch::matmul(z, z.transpose(1, 2)).unsqueeze(-1))
                                 .squeeze(-1);  // [b, n, n]
        auto h = torch::zeros({b, m_width}, z.options()), c = h;
        auto retrieved = torch::zeros({b, m_key + 1}, z.options());
        std::vector<torch::Tensor> keys, weights;
        const auto step = [&] {
            std::tie(h, c) =
                torch::lstm_cell(retrieved, {h, c}, weight_ih, weight_hh, bias_ih, bias_hh);
        };
        for (std::int64_t t = 0; t < n; ++t) {
            step();
            const auto g = torch::sigmoid(gate(h));  // [b, 1]
            const auto written = torch::relu(key(h));
            if (t > 0) {
                const auto s = similar.select(1, t).slice(1, 0, t);  // [b, t]
                const auto w = torch::softmax(s, 1);
                const auto confidence = torch::sigmoid(s * gain + bias).unsqueeze(2);
                const auto memory = torch::cat({torch::stack(keys, 1), confidence}, 2);
                retrieved = g * torch::matmul(w.unsqueeze(1), memory).squeeze(1);
                weights.push_back(torch::constant_pad_nd(w, {0, n - t}));
            } else {
                weights.push_back(torch::zeros({b, n}, z.options()));
            }
            keys.push_back(written);
        }
        step();  // the output follows the retrieval of the last object
        if (auto* recorder = activeRecorder()) {
            recorder->relations(path, similar.tril(-1).unsqueeze(-1));
            recorder->scores(path, torch::stack(weights, 1).unsqueeze(1));
        }
        return h;
    }

    torch::Tensor gain, bias, weight_ih, weight_hh, bias_ih, bias_hh;
    Linear key{nullptr}, gate{nullptr};

private:
    std::int64_t m_width, m_key;
};
TORCH_MODULE(Binding);

struct EsbnImpl : ModelWith<EsbnOptions> {
    explicit EsbnImpl(const Options& o) : ModelWith(o) {
        m_patches = register_module("patch_embedder", PatchEmbedding(o, o.d_model));
        if (o.context_norm) m_norm = register_module("context_norm", Norm(o.d_model, "layernorm"));
        m_binding = register_module("binding", Binding(o));
        m_out = register_module("final_out", Linear(o.controller, o.num_classes));
    }

    torch::Tensor outputs(const torch::Tensor& images) override {
        auto z = HookedModule("")("hook_embed", axes::stream, m_patches(images));  // [b, n, d]
        if (!m_norm.is_empty()) {
            // Temporal context normalisation: over the objects, not over the features.
            constexpr double eps = 1e-8;
            const auto centred = z - z.mean(1, true);
            z = centred / torch::sqrt(centred.square().mean(1, true) + eps) * m_norm->weight +
                m_norm->bias;
        }
        return m_out(m_binding(z));  // [b, classes]
    }

private:
    PatchEmbedding m_patches{nullptr};
    Norm m_norm{nullptr};
    Binding m_binding{nullptr};
    Linear m_out{nullptr};
};

const auto registered = RegisterModel::of<EsbnImpl>("ESBN");

}  // namespace
}  // namespace relascope::core
