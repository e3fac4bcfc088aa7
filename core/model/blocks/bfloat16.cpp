// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/bfloat16.h"

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/utils.h>

#include <atomic>
#include <numeric>
#include <unordered_map>

#include "files/processor.h"
#include "model/attention/tile_levels.h"
#include "model/blocks/bfloat16_lanes.h"

namespace relascope::core {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::atomic<ProductForm> s_productForm = ProductForm::Automatic;

// The weights of a step that are rounded already. `of` keeps the tensor alive, so that no other one
// takes its address.
struct RoundedOne {
    torch::Tensor of, rounded;
};
thread_local std::unordered_map<const void*, RoundedOne> t_rounded;
thread_local int t_scopes = 0;

torch::Tensor roundedWeight(const torch::Tensor& weight) {
    if (!weight.defined() || weight.scalar_type() == torch::kBFloat16) return weight;
    const torch::NoGradGuard noGrad;
    if (t_scopes == 0) return weight.detach().to(torch::kBFloat16);
    auto& known = t_rounded[weight.unsafeGetTensorImpl()];
    if (!known.of.defined()) known = {weight, weight.detach().to(torch::kBFloat16)};
    return known.rounded;
}

torch::Tensor sideBySide(const variable_list& parts, std::int64_t dim) {
    return parts.size() == 1 ? parts[0] : torch::cat(parts, dim);
}

struct RoundedLayers : torch::autograd::Function<RoundedLayers> {
    static variable_list forward(AutogradContext* context, const torch::Tensor& x,
                                 at::TensorList weights, at::TensorList biases,
                                 const std::vector<std::int64_t>& biasOf) {
        // The products have their types already.
        const c10::impl::ExcludeDispatchKeyGuard asTheyAre(c10::autocast_dispatch_keyset);
        context->set_materialize_grads(false);
        const auto rows = x.reshape({-1, x.size(-1)}).to(torch::kBFloat16).contiguous();
        auto shape = x.sizes().vec();
        variable_list outputs, saved = {rows};
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const auto weight = roundedWeight(weights[i]);
            const auto bias = biasOf[i] < 0 ? torch::Tensor() : roundedWeight(biases[biasOf[i]]);
            shape.back() = weight.size(0);
            outputs.push_back(roundedProduct(rows, weight.t(), bias).view(shape));
            saved.push_back(weight);
        }
        context->save_for_backward(saved);
        context->saved_data["biasOf"] = biasOf;
        context->saved_data["shape"] = x.sizes();
        return outputs;
    }

    // All layers together: the gradient of x is summed in float32 within one product.
    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const auto biasOf = context->saved_data["biasOf"].toIntVector();
        const auto& x = saved[0];
        variable_list given, weights;
        std::vector<std::size_t> layers;
        for (std::size_t i = 0; i + 1 < saved.size(); ++i) {
            if (!gradients[i].defined()) continue;
            const auto& g = gradients[i];
            given.push_back(g.reshape({-1, g.size(-1)}).to(torch::kBFloat16));
            weights.push_back(saved[1 + i]);
            layers.push_back(i);
        }
        const auto biases = std::accumulate(biasOf.begin(), biasOf.end(), std::int64_t{-1},
                                            [](auto a, auto b) { return std::max(a, b); });
        variable_list all(2 + biasOf.size() + static_cast<std::size_t>(biases + 1));
        if (layers.empty()) return all;
        const auto g = sideBySide(given, 1).contiguous();
        if (context->needs_input_grad(0))
            all[0] = roundedProduct(g, sideBySide(weights, 0))
                         .view(context->saved_data["shape"].toIntVector());
        torch::Tensor ofWeights, ofBiases;
        std::int64_t first = 0;
        for (std::size_t k = 0; k < layers.size(); ++k) {
            const auto i = layers[k];
            const auto count = weights[k].size(0), begin = first;
            first += count;
            if (context->needs_input_grad(1 + i)) {
                if (!ofWeights.defined()) ofWeights = roundedProduct(g.t(), x);
                all[1 + i] = ofWeights.narrow(0, begin, count).to(torch::kFloat);
            }
            const auto bias = 1 + biasOf.size() + static_cast<std::size_t>(biasOf[i]);
            if (biasOf[i] < 0 || !context->needs_input_grad(bias)) continue;
            if (!ofBiases.defined()) ofBiases = g.sum(0, false, torch::kFloat);
            all[bias] = ofBiases.narrow(0, begin, count);
        }
        return all;
    }
};

RELASCOPE_VECTORS void widenAll(const std::uint16_t* from, float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = widenedBits(from[i]);
}
RELASCOPE_VECTORS void narrowAll(const float* from, std::uint16_t* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = narrowedBits(from[i]);
}

}  // namespace

bool roundsProducts() {
    return at::autocast::is_autocast_enabled(at::kCPU) &&
           at::autocast::get_autocast_dtype(at::kCPU) == torch::kBFloat16;
}

bool multipliesNatively() {
    const auto form = s_productForm.load();
    return form == ProductForm::Native || (form == ProductForm::Automatic && hasBFloat16Products());
}

ProductFormScope::ProductFormScope(ProductForm form) : m_previous(s_productForm.exchange(form)) {}
ProductFormScope::~ProductFormScope() {
    s_productForm = m_previous;
}

torch::Tensor roundedProduct(const torch::Tensor& a, const torch::Tensor& b,
                             const torch::Tensor& bias) {
    if (multipliesNatively()) return bias.defined() ? at::addmm(bias, a, b) : at::mm(a, b);
    const auto wideA = a.to(torch::kFloat), wideB = b.to(torch::kFloat);
    const auto sum =
        bias.defined() ? at::addmm(bias.to(torch::kFloat), wideA, wideB) : at::mm(wideA, wideB);
    return sum.to(torch::kBFloat16);
}

RoundedWeightsScope::RoundedWeightsScope() {
    ++t_scopes;
}
RoundedWeightsScope::~RoundedWeightsScope() {
    if (--t_scopes == 0) t_rounded.clear();
}

bool hasRoundedLinear(const torch::Tensor& x, const torch::Tensor& weight) {
    const auto served = [](const torch::Tensor& t) {
        return t.is_cpu() && t.layout() == torch::kStrided &&
               (t.scalar_type() == torch::kFloat || t.scalar_type() == torch::kBFloat16);
    };
    return roundsProducts() && served(x) && served(weight) && x.numel() > 0;
}

std::vector<torch::Tensor> roundedLinear(const torch::Tensor& x,
                                         const std::vector<LinearWeights>& layers) {
    variable_list weights, biases;
    std::vector<std::int64_t> biasOf;  // the number of each layer's bias, -1 without one
    for (const auto& layer : layers) {
        weights.push_back(layer.weight);
        biasOf.push_back(layer.bias.defined() ? static_cast<std::int64_t>(biases.size()) : -1);
        if (layer.bias.defined()) biases.push_back(layer.bias);
    }
    return RoundedLayers::apply(x, at::TensorList(weights), at::TensorList(biases), biasOf);
}

void widenNumbers(const at::BFloat16* from, float* to, std::int64_t count) {
    widenAll(reinterpret_cast<const std::uint16_t*>(from), to, count);
}
void narrowNumbers(const float* from, at::BFloat16* to, std::int64_t count) {
    narrowAll(from, reinterpret_cast<std::uint16_t*>(to), count);
}

}  // namespace relascope::core
