// SPDX-License-Identifier: GPL-3.0-or-later
// Small parts that every model shares: activations, norms, the feed-forward block, rotary
// positions.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <string>

#include "model/blocks/block_details.h"
#include "model/blocks/fused_layers.h"
#include "model/blocks/parameters.h"

namespace relascope::core {

/// Applies an activation: identity, relu, sigmoid, tanh, gelu (tanh approximation), exact_gelu,
/// silu, relu2 (its square), softmax (over the last dimension).
torch::Tensor applyActivation(const std::string& name, const torch::Tensor& x);

/// Normalisation over the last dimension: "layernorm" (weight and bias), "layernorm_no_bias" (the
/// same without), "rmsnorm" (weight), "rmsnorm_no_weight" or "none". Any shape [..., d].
struct NormImpl : torch::nn::Module {
    NormImpl(std::int64_t d, const std::string& type, double eps = 1e-5);
    torch::Tensor forward(const torch::Tensor& x);
    /// x + dropout(branch) and its norm, in one pass on the CPU. Without a branch the sum is x, to
    /// be used in its place: the gradient of the residual path then needs no pass of its own.
    NormedSum ofSum(const torch::Tensor& x, const torch::Tensor& branch = {}, double p = 0.0);

    double eps() const { return m_eps; }
    /// Whether the norm subtracts the mean.
    bool centres() const { return m_type.starts_with("layernorm"); }
    /// Whether it changes nothing.
    bool isNone() const { return m_type == "none"; }

    torch::Tensor weight, bias;

private:
    bool isFused(const torch::Tensor& x) const;

    std::int64_t m_width;
    std::string m_type;
    double m_eps;
};
TORCH_MODULE(Norm);

/// x + dropout(branch), in one pass on the CPU.
torch::Tensor addDropped(const torch::Tensor& x, const torch::Tensor& branch, double p);

/// linear2(activation(linear1 x)), or linear2(silu(linear1 x) * linear3 x) for "swiglu".
/// [..., d] -> [..., d]; dff 0 means 4 d, for swiglu int(2/3 * 4 d).
struct FeedForwardImpl : torch::nn::Module {
    FeedForwardImpl(std::int64_t d, std::int64_t dff, const std::string& activation, bool bias);
    torch::Tensor forward(const torch::Tensor& x);

    Linear linear1{nullptr}, linear2{nullptr}, linear3{nullptr};

private:
    std::string m_activation;
};
TORCH_MODULE(FeedForward);

/// RoPE, with a table for the longest input so far.
class RotaryPositions {
public:
    explicit RotaryPositions(const RotaryOptions& options = {}) : m_options(options) {}

    /// x [b, heads, n, width], where the first element has position `start`; the same shape.
    torch::Tensor rotate(const torch::Tensor& x, std::int64_t start = 0);
    /// For kernels: cos and sin of each pair's angle at positions 0 .. count - 1 (or more), side by
    /// side, [positions, turned dims] float32.
    torch::Tensor table(std::int64_t count, std::int64_t width, const torch::Device& device);

private:
    /// Makes the table for `count` positions unless it is there.
    void extend(std::int64_t count, std::int64_t width, torch::ScalarType type,
                const torch::Device& device);

    RotaryOptions m_options;
    torch::Tensor m_rotaryTable;  // exp(i p w_k): complex [positions, turned dims / 2]
};

}  // namespace relascope::core
