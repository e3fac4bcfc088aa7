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
/// quick_gelu (x sigmoid(1.702 x)), silu, relu2 (its square), softmax (over the last dimension).
torch::Tensor applyActivation(const std::string& name, const torch::Tensor& x);

/// softmax over the last dimension; of bfloat16 on the CPU in float32, as autocast gives it on a
/// GPU.
torch::Tensor softmaxOf(const torch::Tensor& x);

/// Normalisation over the last dimension: "layernorm" (weight and bias), "layernorm_no_bias" (the
/// same without), "layernorm_no_weight", "rmsnorm" (weight), "rmsnorm_no_weight", "scale" (the
/// weight alone: nothing is normed; layer scale of Touvron et al. 2021) or "none". Any shape [...,
/// d].
struct NormImpl : torch::nn::Module {
    /// `plusOne`: it multiplies by 1 + weight. `heads`: the weight is [heads, d], for inputs [...,
    /// heads, d]; 0: [d].
    NormImpl(std::int64_t d, const std::string& type, double eps = 1e-5, bool plusOne = false,
             std::int64_t heads = 0);
    torch::Tensor forward(const torch::Tensor& x);
    /// x + dropout(branch) and its norm, in one pass on the CPU. Without a branch the sum is x, to
    /// be used in its place: the gradient of the residual path then needs no pass of its own.
    /// `forProducts`: linear layers alone read the norm, which is bfloat16 where they round.
    NormedSum ofSum(const torch::Tensor& x, const torch::Tensor& branch = {}, double p = 0.0,
                    bool forProducts = false);

    double eps() const { return m_eps; }
    /// What the normed input is multiplied by: the weight, or 1 + it; undefined: nothing.
    torch::Tensor gain() const;
    /// Whether the norm subtracts the mean.
    bool centres() const { return m_type.starts_with("layernorm"); }
    /// Whether it changes nothing.
    bool isNone() const { return m_type == "none"; }
    /// Whether it multiplies by the weight alone.
    bool isScale() const { return m_type == "scale"; }

    torch::Tensor weight, bias;

private:
    bool isFused(const torch::Tensor& x) const;

    std::int64_t m_width;
    std::string m_type;
    double m_eps;
    bool m_plusOne;
};
TORCH_MODULE(Norm);

/// x + dropout(branch), in one pass on the CPU.
torch::Tensor addDropped(const torch::Tensor& x, const torch::Tensor& branch, double p);

/// linear2(activation(linear1 x)), or with a gate (gateActivation()) linear2(activation(linear1 x)
/// * linear3 x). [..., d] -> [..., d]; dff 0 means 4 d, with a gate int(2/3 * 4 d).
struct FeedForwardImpl : torch::nn::Module {
    FeedForwardImpl(std::int64_t d, std::int64_t dff, const std::string& activation, bool bias);
    virtual torch::Tensor forward(const torch::Tensor& x);
    /// The bias that ends it; undefined: none.
    torch::Tensor lastBias() const { return linear2.is_empty() ? torch::Tensor() : linear2->bias; }

    Linear linear1{nullptr}, linear2{nullptr}, linear3{nullptr};  ///< null in one of experts

protected:
    explicit FeedForwardImpl(std::string activation) : m_activation(std::move(activation)) {}

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
    /// Rows are of a text of so many tokens, where its length changes the frequencies. Otherwise it
    /// ends with the rows.
    void setLength(std::int64_t tokens) { m_length = tokens; }
    /// For kernels: cos and sin of each pair's angle at positions 0 .. count - 1 (or more), side by
    /// side, [positions, turned dims] float32.
    torch::Tensor table(std::int64_t count, std::int64_t width, const torch::Device& device);

private:
    /// Makes the table for `count` positions of a text of that length unless it is there.
    void extend(std::int64_t count, std::int64_t width, torch::ScalarType type,
                const torch::Device& device);

    RotaryOptions m_options;
    std::int64_t m_length = 0;
    bool m_long = false;          // the table is that of long texts
    torch::Tensor m_rotaryTable;  // exp(i p w_k): complex [positions, turned dims / 2]
};

}  // namespace relascope::core
