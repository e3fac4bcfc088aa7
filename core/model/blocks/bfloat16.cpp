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

// Rounded weights of the same width below one another.
torch::Tensor roundedTogether(const variable_list& weights) {
    if (weights.size() == 1) return roundedWeight(weights[0]);
    std::int64_t rows = 0;
    for (const auto& weight : weights) rows += weight.size(0);
    const torch::NoGradGuard noGrad;
    auto all = torch::empty({rows, weights[0].size(1)}, torch::kBFloat16);
    std::int64_t first = 0;
    for (const auto& weight : weights) {
        all.narrow(0, first, weight.size(0)).copy_(t_scopes > 0 ? roundedWeight(weight) : weight);
        first += weight.size(0);
    }
    return all;
}

// A rounded product in float32, some rows at a time: its copy in bfloat16 is never whole.
torch::Tensor widenedProduct(const torch::Tensor& a, const torch::Tensor& b) {
    constexpr std::int64_t kNumbersAtOnce = std::int64_t{1} << 20;
    const std::int64_t rows = a.size(0),
                       atOnce = std::max<std::int64_t>(1, kNumbersAtOnce / b.size(1));
    if (rows <= atOnce) return roundedProduct(a, b).to(torch::kFloat);
    auto product = torch::empty({rows, b.size(1)}, torch::kFloat);
    for (std::int64_t first = 0; first < rows; first += atOnce) {
        const auto count = std::min(atOnce, rows - first);
        product.narrow(0, first, count).copy_(roundedProduct(a.narrow(0, first, count), b));
    }
    return product;
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
            const auto bias = biasOf[i] < 0 ? torch::Tensor() : roundedWeight(biases[biasOf[i]]);
            shape.back() = weights[i].size(0);
            outputs.push_back(
                roundedProduct(rows, roundedWeight(weights[i]).t(), bias).view(shape));
            // Rounded again in the backward pass: all of them at once would be half of the model.
            saved.push_back(weights[i]);
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
            given.push_back(g.reshape({-1, g.size(-1)}).to(torch::kBFloat16).contiguous());
            gradients[i].reset();
            weights.push_back(saved[1 + i]);
            layers.push_back(i);
        }
        const auto biases = std::accumulate(biasOf.begin(), biasOf.end(), std::int64_t{-1},
                                            [](auto a, auto b) { return std::max(a, b); });
        variable_list all(2 + biasOf.size() + static_cast<std::size_t>(biases + 1));
        if (layers.empty()) return all;
        if (context->needs_input_grad(0)) {
            const auto g = given.size() == 1 ? given[0] : torch::cat(given, 1);
            all[0] = roundedProduct(g, roundedTogether(weights))
                         .view(context->saved_data["shape"].toIntVector());
        }
        for (std::size_t k = 0; k < layers.size(); ++k) {
            const auto i = layers[k];
            if (context->needs_input_grad(1 + i)) all[1 + i] = widenedProduct(given[k].t(), x);
            const auto bias = 1 + biasOf.size() + static_cast<std::size_t>(biasOf[i]);
            if (biasOf[i] >= 0 && context->needs_input_grad(bias))
                all[bias] = given[k].sum(0, false, torch::kFloat);
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

RoundedWeightsScope::RoundedWeightsScope(bool keeps) : m_keeps(keeps) {
    if (keeps) ++t_scopes;
}
RoundedWeightsScope::~RoundedWeightsScope() {
    if (m_keeps && --t_scopes == 0) t_rounded.clear();
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
    return applyLayers<RoundedLayers>(x, layers);
}

void widenNumbers(const at::BFloat16* from, float* to, std::int64_t count) {
    widenAll(reinterpret_cast<const std::uint16_t*>(from), to, count);
}
void narrowNumbers(const float* from, at::BFloat16* to, std::int64_t count) {
    narrowAll(from, reinterpret_cast<std::uint16_t*>(to), count);
}

}  // namespace relascope::core
