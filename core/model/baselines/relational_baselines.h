// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the relational baselines CoRelNet (Kerg et al. 2022) and PrediNet (Shanahan et al.
// 2020), over images and over objects.
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "model/attention/attention.h"
#include "model/baselines/baseline_options.h"
#include "model/model.h"
#include "model/vision/vision.h"

namespace relascope::core {

/// Linear layers with relu after those in `activated`; registered by their place, as published.
struct MlpImpl : torch::nn::Module {
    /// widths = input, hidden..., output. A relu follows every layer but the last.
    explicit MlpImpl(const std::vector<std::int64_t>& widths);
    MlpImpl() = default;
    torch::Tensor forward(torch::Tensor x);
    /// Adds a Linear at place `m_next`, and a relu behind it.
    void add(std::int64_t in, std::int64_t out, bool relu);

    /// The prefix of the points hook_pre and hook_post of its hidden layers ("mlp" for those of
    /// "mlp.0"); empty: it has no points.
    std::string hook;

private:
    /// relu(x) of a hidden layer, with its points.
    torch::Tensor hooked(std::size_t layer, const torch::Tensor& x) const;
    struct Step {
        Linear linear{nullptr};
        bool relu = false;
    };
    std::vector<Step> m_steps;
    int m_next = 0;
};
TORCH_MODULE(Mlp);

/// R = x x^T over the objects, optionally with softmax over j. x [b, n, d] -> [b, n, n].
struct SimilarityImpl : torch::nn::Module, RecordingPoint {
    explicit SimilarityImpl(bool softmax) : m_softmax(softmax) {}
    torch::Tensor forward(const torch::Tensor& left, const torch::Tensor& right);

private:
    bool m_softmax;
};
TORCH_MODULE(Similarity);

/// Per head two objects E1, E2 are selected by queries from the flattened input and compared:
/// W_s E1 - W_s E2, with their positions where objects carry one as their last number.
struct PrediNetHeadsImpl : torch::nn::Module, RecordingPoint {
    PrediNetHeadsImpl(std::int64_t objects, std::int64_t width, std::int64_t heads,
                      std::int64_t relations, std::int64_t key, bool positions);
    /// x [b, n, width] -> [b, heads * (relations, + 2 with positions)].
    torch::Tensor forward(const torch::Tensor& x);

    Linear W_k{nullptr}, W_q1{nullptr}, W_q2{nullptr}, W_s{nullptr};

private:
    std::int64_t m_heads;
    bool m_positions;
};
TORCH_MODULE(PrediNetHeads);

}  // namespace relascope::core
