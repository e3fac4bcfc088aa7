// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/layers.h"

#include <torch/nn/functional.h>

#include <c10/core/InferenceMode.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "model/attention/dropout.h"
#include "model/blocks/bfloat16.h"
#include "model/blocks/fused_layers.h"
#include "model/blocks/module_span.h"
#include "model/graph/device_graph.h"
#include "model/shapes.h"
#include "types/error.h"

namespace relascope::core {
namespace {

// Whether the fused forms add b to a.
bool alike(const torch::Tensor& a, const torch::Tensor& b) {
    return a.sizes() == b.sizes() && a.device() == b.device() &&
           (b.scalar_type() == a.scalar_type() || b.scalar_type() == torch::kBFloat16);
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
    if (name == "quick_gelu") return x * torch::sigmoid(1.702 * x);
    if (name == "silu") return torch::silu(x);
    if (name == "softmax") return softmaxOf(x);
    throw OptionError("activation", "unknown activation '" + name + "'");
}

torch::Tensor softmaxOf(const torch::Tensor& x) {
    const bool widens = x.is_cpu() && x.scalar_type() == torch::kBFloat16 && roundsProducts();
    return torch::softmax(x, -1, widens ? std::optional(torch::kFloat) : std::nullopt);
}

NormImpl::NormImpl(std::int64_t d, const std::string& type, double eps, bool plusOne,
                   std::int64_t heads)
    : m_width(d), m_type(type), m_eps(eps), m_plusOne(plusOne) {
    const bool plain =
        type == "none" || type == "rmsnorm_no_weight" || type == "layernorm_no_weight";
    if (type != "layernorm" && type != "layernorm_no_bias" && type != "rmsnorm" &&
        type != "scale" && !plain)
        throw OptionError("norm_type", "unknown norm '" + type + "'");
    const auto shape = heads > 0 ? std::vector{heads, d} : std::vector{d};
    if (!plain) weight = register_parameter("weight", newConstant(shape, plusOne ? 0.0 : 1.0));
    if (type == "layernorm") bias = register_parameter("bias", newConstant({d}, 0.0));
}

bool NormImpl::isFused(const torch::Tensor& x) const {
    // The fused form takes a norm without bias for an RMS norm.
    return !isScale() && weight.defined() && weight.dim() == 1 && centres() == bias.defined() &&
           weight.scalar_type() == torch::kFloat && hasFusedNorm(x) && weight.device().is_cpu();
}

torch::Tensor NormImpl::gain() const {
    return m_plusOne && weight.defined() ? weight + 1 : weight;
}

torch::Tensor NormImpl::forward(const torch::Tensor& x) {
    const ModuleSpan span(*this);
    if (m_type == "none") return x;
    if (isScale()) return x * weight;
    if (x.scalar_type() == torch::kBFloat16 && roundsProducts())
        return forward(x.to(torch::kFloat));
    if (isFused(x)) return fusedNormedSum(x, {}, 0.0, {gain(), bias, m_eps}).normed;
    const auto scaled = [this](const torch::Tensor& normed) {
        return weight.defined() ? normed * gain() : normed;
    };
    if (centres() && weight.defined() && weight.dim() > 1)
        return scaled(torch::layer_norm(x, {m_width}, {}, {}, m_eps));
    if (centres()) return torch::layer_norm(x, {m_width}, gain(), bias, m_eps);
    return scaled(x * torch::rsqrt(x.square().mean(-1, true) + m_eps));
}

NormedSum NormImpl::ofSum(const torch::Tensor& x, const torch::Tensor& branch, double p,
                          bool forProducts) {
    const ModuleSpan span(*this);
    if (isFused(x) && (!branch.defined() || alike(x, branch)))
        return fusedNormedSum(x, branch, p, {gain(), bias, m_eps},
                              forProducts && roundsProducts() ? torch::kBFloat16 : torch::kFloat);
    const auto sum = branch.defined() ? x + dropout(branch, p) : x;
    return {sum, forward(sum)};
}

torch::Tensor addDropped(const torch::Tensor& x, const torch::Tensor& branch, double p) {
    return hasFusedNorm(x) && alike(x, branch) ? fusedSum(x, branch, p) : x + dropout(branch, p);
}

FeedForwardImpl::FeedForwardImpl(std::int64_t d, std::int64_t dff, const std::string& activation,
                                 bool bias)
    : m_activation(activation) {
    dff = feedForwardWidth(d, dff, activation);
    linear1 = register_module("linear1", Linear(d, dff, bias));
    linear2 = register_module("linear2", Linear(dff, d, bias));
    if (!gateActivation(activation).empty())
        linear3 = register_module("linear3", Linear(d, dff, bias));
}

torch::Tensor FeedForwardImpl::forward(const torch::Tensor& x) {
    const ModuleSpan span(*this);
    if (!linear3.is_empty()) {
        const auto both = applyLinears(x, {linear1, linear3});
        return linear2(m_activation == "swiglu" && hasFusedActivation(both[0])
                           ? fusedSwiglu(both[0], both[1])
                           : applyActivation(gateActivation(m_activation), both[0]) * both[1]);
    }
    return linear2(applyActivation(m_activation, linear1(x)));
}

namespace {

// The numbers of a text, one for each pair.
torch::Tensor pairNumbers(const std::string& text, const torch::Tensor& like) {
    std::vector<double> numbers;
    std::istringstream words(text);
    for (double number; words >> number;) numbers.push_back(number);
    return torch::tensor(numbers, torch::kDouble).to(like.options());
}

// The scaled frequencies of a text that is `longer` than the original context or not
// (RotaryOptions).
torch::Tensor scaledFrequency(const torch::Tensor& frequency, const RotaryOptions& o, bool longer) {
    if (o.rope_type == "longrope")
        return frequency /
               pairNumbers(longer ? o.rope_long_factors : o.rope_short_factors, frequency);
    if (o.rope_type == "linear") return frequency / o.rope_factor;
    if (o.rope_type == "yarn") {
        const auto pairs = frequency.size(0);
        const double r = 2.0 * static_cast<double>(pairs);
        // The pair that turns so many times within the original context.
        const auto pairOf = [&](double turns) {
            return r * std::log(static_cast<double>(o.rope_original) / (2 * M_PI * turns)) /
                   (2 * std::log(o.rope_theta));
        };
        double a = pairOf(o.yarn_beta_fast), b = pairOf(o.yarn_beta_slow);
        if (o.yarn_truncate) a = std::floor(a), b = std::ceil(b);
        a = std::clamp(a, 0.0, r - 1), b = std::clamp(b, 0.0, r - 1);
        if (a == b) b += 0.001;
        const auto share = ((torch::arange(pairs, frequency.options()) - a) / (b - a)).clamp(0, 1);
        return share * frequency / o.rope_factor + (1 - share) * frequency;
    }
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

namespace {

// The angles of an image's tokens [tokens, width / 2]: by the rows of patches, then by the columns
// (DINOv3).
torch::Tensor gridAngles(const RotaryOptions& o, std::int64_t width,
                         const torch::TensorOptions& options) {
    const auto quarter = width / 4;
    const auto frequency =
        torch::pow(o.rope_theta, -4.0 * torch::arange(quarter, options) / double(width));
    // From the middles of patches, -1 to 1.
    const auto places = [&](std::int64_t n) {
        return (torch::arange(n, options) + 0.5) * (2.0 / static_cast<double>(n)) - 1.0;
    };
    const auto angles = [&](std::int64_t n) {
        return torch::outer(2.0 * M_PI * places(n), frequency);  // [n, quarter]
    };
    const auto rows = angles(o.turned_rows).unsqueeze(1), columns = angles(o.turned_columns);
    const std::vector<std::int64_t> grid = {o.turned_rows, o.turned_columns, quarter};
    const auto patches = torch::cat({rows.expand(grid), columns.expand(grid)}, 2).flatten(0, 1);
    return torch::cat({torch::zeros({o.turned_first, width / 2}, options), patches});
}

}  // namespace

void RotaryPositions::extend(std::int64_t count, std::int64_t width, torch::ScalarType type,
                             const torch::Device& device) {
    const bool longer =
        m_options.dependsOnLength() && std::max(count, m_length) > m_options.rope_original;
    if (m_rotaryTable.defined() && m_rotaryTable.size(0) >= count && m_long == longer &&
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
    if (m_options.rope_factor != 1.0 || m_options.dependsOnLength())
        frequency = scaledFrequency(frequency, m_options, longer);
    m_long = longer;
    const auto angle =
        (m_options.turned_rows > 0
             ? gridAngles(m_options, width, options)
             : torch::outer(torch::arange(std::max(known, count), options), frequency))
            .to(type);
    auto cosine = angle.cos(), sine = angle.sin();
    if (m_options.rope_attention != 1.0)
        cosine = cosine * m_options.rope_attention, sine = sine * m_options.rope_attention;
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
