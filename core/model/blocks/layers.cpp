// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/layers.h"

#include <torch/nn/functional.h>

#include <c10/core/InferenceMode.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "model/attention/dropout.h"
#include "model/blocks/fused_layers.h"
#include "model/graph/device_graph.h"
#include "types/error.h"

namespace relascope::core {
namespace {

bool alike(const torch::Tensor& a, const torch::Tensor& b) {
    return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() && a.device() == b.device();
}

}  // namespace

torch::Tensor applyActivation(const std::string& name, const torch::Tensor& x) {
    if (name == "identity") return x;
    if (name == "relu") return torch::relu(x);
    if (name == "relu2") return torch::relu(x).square();
    if (name == "sigmoid") return torch::sigmoid(x);
    if (name == "tanh") return torch::tanh(x);
    if (name == "gelu") return hasFusedActivation(x) ? fusedGelu(x) : torch::gelu(x, "tanh");
    if (name == "exact_gelu") return torch::gelu(x, "none");
    if (name == "silu") return torch::silu(x);
    if (name == "softmax") return torch::softmax(x, -1);
    throw OptionError("activation", "unknown activation '" + name + "'");
}

NormImpl::NormImpl(std::int64_t d, const std::string& type, double eps)
    : m_width(d), m_type(type), m_eps(eps) {
    const bool plain = type == "none" || type == "rmsnorm_no_weight";
    if (type != "layernorm" && type != "layernorm_no_bias" && type != "rmsnorm" && !plain)
        throw OptionError("norm_type", "unknown norm '" + type + "'");
    if (!plain) weight = register_parameter("weight", newConstant({d}, 1.0));
    if (type == "layernorm") bias = register_parameter("bias", newConstant({d}, 0.0));
}

bool NormImpl::isFused(const torch::Tensor& x) const {
    // The fused form takes a norm without bias for an RMS norm.
    return weight.defined() && centres() == bias.defined() &&
           weight.scalar_type() == torch::kFloat && hasFusedNorm(x) && weight.device().is_cpu();
}

torch::Tensor NormImpl::forward(const torch::Tensor& x) {
    if (m_type == "none") return x;
    if (isFused(x)) return fusedNormedSum(x, {}, 0.0, {weight, bias, m_eps}).normed;
    if (centres()) return torch::layer_norm(x, {m_width}, weight, bias, m_eps);
    const auto normed = x * torch::rsqrt(x.square().mean(-1, true) + m_eps);
    return weight.defined() ? normed * weight : normed;
}

NormedSum NormImpl::ofSum(const torch::Tensor& x, const torch::Tensor& branch, double p) {
    if (isFused(x) && (!branch.defined() || alike(x, branch)))
        return fusedNormedSum(x, branch, p, {weight, bias, m_eps});
    const auto sum = branch.defined() ? x + dropout(branch, p) : x;
    return {sum, forward(sum)};
}

torch::Tensor addDropped(const torch::Tensor& x, const torch::Tensor& branch, double p) {
    return hasFusedNorm(x) && alike(x, branch) ? fusedSum(x, branch, p) : x + dropout(branch, p);
}

FeedForwardImpl::FeedForwardImpl(std::int64_t d, std::int64_t dff, const std::string& activation,
                                 bool bias)
    : m_activation(activation) {
    if (dff == 0)
        dff = activation == "swiglu"
                  ? static_cast<std::int64_t>(2.0 / 3.0 * 4.0 * static_cast<double>(d))
                  : 4 * d;
    linear1 = register_module("linear1", Linear(d, dff, bias));
    linear2 = register_module("linear2", Linear(dff, d, bias));
    if (activation == "swiglu") linear3 = register_module("linear3", Linear(d, dff, bias));
}

torch::Tensor FeedForwardImpl::forward(const torch::Tensor& x) {
    if (m_activation == "swiglu") {
        const auto both = applyLinears(x, {linear1, linear3});
        return linear2(hasFusedActivation(both[0]) ? fusedSwiglu(both[0], both[1])
                                                   : torch::silu(both[0]) * both[1]);
    }
    return linear2(applyActivation(m_activation, linear1(x)));
}

namespace {

// The scaled frequencies (RotaryOptions).
torch::Tensor scaledFrequency(const torch::Tensor& frequency, const RotaryOptions& o) {
    const auto wave = 2 * M_PI / frequency;
    const auto original = static_cast<double>(o.rope_original);
    const auto slow = frequency / o.rope_factor;
    const auto share = (original / wave - o.rope_low_freq_factor) /
                       (o.rope_high_freq_factor - o.rope_low_freq_factor);
    const auto between = (1 - share) * slow + share * frequency;
    return torch::where(
        wave.gt(original / o.rope_low_freq_factor), slow,
        torch::where(wave.lt(original / o.rope_high_freq_factor), frequency, between));
}

}  // namespace

void RotaryPositions::extend(std::int64_t count, std::int64_t width, torch::ScalarType type,
                             const torch::Device& device) {
    if (m_rotaryTable.defined() && m_rotaryTable.size(0) >= count &&
        m_rotaryTable.size(1) == width / 2 &&
        m_rotaryTable.scalar_type() == c10::toComplexType(type) && m_rotaryTable.device() == device)
        return;
    // As published: angles in float32, the rest in the type of the model.
    const torch::NoGradGuard noGrad;
    const c10::InferenceMode lasting(false);  // training may use the table later
    const auto options = torch::TensorOptions().dtype(torch::kFloat).device(device);
    const std::int64_t known = m_rotaryTable.defined() ? 2 * m_rotaryTable.size(0) : 0;
    auto frequency = torch::pow(m_options.rope_theta,
                                -torch::arange(0, width, 2, options) / static_cast<double>(width));
    // A last bit more or less of an angle would move cosines by a whole step of bfloat16.
    if (m_options.rotary_rounded)
        frequency = 1.0 / torch::pow(m_options.rope_theta, torch::arange(0, width, 2, options) /
                                                               static_cast<double>(width));
    if (m_options.rope_factor != 1.0) frequency = scaledFrequency(frequency, m_options);
    const auto angle =
        torch::outer(torch::arange(std::max(known, count), options), frequency).to(type);
    auto cosine = angle.cos(), sine = angle.sin();
    if (m_options.rotary_rounded)
        cosine = cosine.to(torch::kBFloat16).to(type), sine = sine.to(torch::kBFloat16).to(type);
    m_rotaryTable = torch::complex(cosine, m_options.rotary_backwards ? -sine : sine);
}

torch::Tensor RotaryPositions::table(std::int64_t count, std::int64_t width,
                                     const torch::Device& device) {
    extend(count, m_options.dims(width), torch::kFloat, device);
    keepForGraph(m_rotaryTable);
    return torch::view_as_real(m_rotaryTable).flatten(1);
}

torch::Tensor RotaryPositions::rotate(const torch::Tensor& x, std::int64_t start) {
    const std::int64_t n = x.size(2), width = m_options.dims(x.size(3));
    const auto type = x.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
    extend(start + n, width, type, x.device());
    keepForGraph(m_rotaryTable);
    const auto table = m_rotaryTable.slice(0, start, start + n);
    if (m_options.rotary_halves) {
        const auto cosine = torch::real(table), sine = torch::imag(table);
        const auto first = x.slice(3, 0, width / 2).to(type),
                   second = x.slice(3, width / 2, width).to(type);
        const auto turned =
            torch::cat({first * cosine - second * sine, second * cosine + first * sine}, 3)
                .to(x.scalar_type());
        return width == x.size(3) ? turned : torch::cat({turned, x.slice(3, width)}, 3);
    }
    const auto rest = x.slice(3, width);
    const auto whole = width == x.size(3) ? x : x.slice(3, 0, width);
    const auto pairs =
        torch::view_as_complex(whole.to(type).contiguous().unflatten(3, {width / 2, 2}));
    const auto turned =
        torch::view_as_real(pairs * table).flatten(3).to(x.scalar_type());  // [b, heads, n, width]
    return width == x.size(3) ? turned : torch::cat({turned, rest}, 3);
}

}  // namespace relascope::core
