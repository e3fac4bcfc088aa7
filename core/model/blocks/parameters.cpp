// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/parameters.h"

#include <torch/nn/functional.h>
#include <torch/nn/init.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "model/blocks/bfloat16.h"
#include "model/blocks/fused_layers.h"
#include "model/blocks/module_span.h"
#include "model/blocks/onednn_linear.h"

namespace relascope::core {
namespace {

thread_local ParameterFill t_fill = ParameterFill::Fresh;

}  // namespace

ParameterScope::ParameterScope(ParameterFill fill) : m_previous(t_fill) {
    t_fill = fill;
}
ParameterScope::~ParameterScope() {
    t_fill = m_previous;
}
ParameterFill parameterFill() {
    return t_fill;
}

torch::Tensor newParameter(torch::IntArrayRef sizes,
                           const std::function<void(torch::Tensor&)>& initialise) {
    auto options = torch::TensorOptions().dtype(torch::kFloat);
    if (t_fill == ParameterFill::ShapesOnly) options = options.device(torch::kMeta);
    auto tensor = torch::empty(sizes, options);
    if (t_fill == ParameterFill::Fresh) {
        const torch::NoGradGuard noGrad;
        initialise(tensor);
    }
    return tensor;
}

torch::Tensor newNormal(torch::IntArrayRef sizes) {
    return newParameter(sizes, [](torch::Tensor& t) { t.normal_(); });
}
torch::Tensor newConstant(torch::IntArrayRef sizes, double value) {
    return newParameter(sizes, [value](torch::Tensor& t) { t.fill_(value); });
}

LinearImpl::LinearImpl(std::int64_t in, std::int64_t out, bool withBias) {
    weight = register_parameter("weight", newParameter({out, in}, [](torch::Tensor& t) {
                                    torch::nn::init::kaiming_uniform_(t, std::sqrt(5.0));
                                }));
    if (!withBias) return;
    const double bound = 1.0 / std::sqrt(static_cast<double>(in));
    bias = register_parameter(
        "bias", newParameter({out}, [bound](torch::Tensor& t) { t.uniform_(-bound, bound); }));
}

LinearImpl::LinearImpl(torch::Tensor shared) {
    weight = register_parameter("weight", std::move(shared));
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) const {
    const ModuleSpan span(*this);
    if (isRowTimesWeight(x, weight)) {
        const auto y = rowTimesWeight(x, weight);
        return bias.defined() ? y + bias : y;
    }
    if (hasRoundedLinear(x, weight)) return roundedLinear(x, {{weight, bias}})[0];
    if (hasOnednnLinear(x, weight)) return onednnLinear(x, {{weight, bias}})[0];
    // 16-bit weights are converted to float32 for the product (autocast converts both sides
    // itself).
    const bool widen = isHalf(weight) && x.scalar_type() == torch::kFloat;
    // Blocks of rows: an output layer of 128k words would take a gigabyte at once.
    constexpr std::int64_t kWidened = 1 << 24;
    if (widen && weight.numel() > 2 * kWidened && !torch::GradMode::is_enabled()) {
        const auto rows = std::max<std::int64_t>(1, kWidened / weight.size(1));
        const auto in = x.reshape({-1, weight.size(1)});
        auto y = torch::empty({in.size(0), weight.size(0)}, x.options());
        for (std::int64_t at = 0; at < weight.size(0); at += rows) {
            const auto part = weight.slice(0, at, at + rows);
            auto to = y.narrow(1, at, part.size(0));
            at::mm_out(to, in, part.to(torch::kFloat).t());
        }
        if (bias.defined()) y += bias;
        auto shape = x.sizes().vec();
        shape.back() = weight.size(0);
        return y.view(shape);
    }
    return torch::nn::functional::linear(x, widen ? weight.to(torch::kFloat) : weight, bias);
}

std::vector<torch::Tensor> applyLinears(const torch::Tensor& x, const std::vector<Linear>& layers) {
    for (const auto& [has, apply] : {std::pair{&hasRoundedLinear, &roundedLinear},
                                     std::pair{&hasOnednnLinear, &onednnLinear}}) {
        const bool together = std::all_of(layers.begin(), layers.end(), [&](const Linear& layer) {
            return has(x, layer->weight);
        });
        if (!together) continue;
        std::vector<LinearWeights> weights;
        for (const auto& layer : layers) weights.push_back({layer->weight, layer->bias});
        const ModuleSpan span(*layers.front());
        return apply(x, weights);
    }
    std::vector<torch::Tensor> outputs;
    for (const auto& layer : layers) outputs.push_back(layer->forward(x));
    return outputs;
}

EmbeddingImpl::EmbeddingImpl(std::int64_t count, std::int64_t width) {
    weight = register_parameter("weight", newNormal({count, width}));
}

torch::Tensor EmbeddingImpl::forward(const torch::Tensor& ids) const {
    const ModuleSpan span(*this);
    const auto rows = torch::embedding(weight, ids);
    return isHalf(weight) ? rows.to(torch::kFloat) : rows;
}

void castToBFloat16(torch::nn::Module& module) {
    const torch::NoGradGuard noGrad;
    // Replaces the data and not the tensor, so that tied weights stay one tensor.
    const auto narrow = [](torch::Tensor& weight) {
        if (weight.scalar_type() == torch::kFloat) weight.set_data(weight.to(torch::kBFloat16));
    };
    for (const auto& part : module.modules()) {
        if (auto* linear = part->as<LinearImpl>()) narrow(linear->weight);
        if (auto* embedding = part->as<EmbeddingImpl>()) narrow(embedding->weight);
    }
}

}  // namespace relascope::core
