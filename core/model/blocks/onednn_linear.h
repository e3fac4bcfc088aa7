// SPDX-License-Identifier: GPL-3.0-or-later
// Linear layers through oneDNN, the second BLAS in LibTorch. On processors that are not Intel's,
// MKL (LibTorch's first choice) runs generic AVX2 code with 0.4 to 0.9 of oneDNN's speed
// (resources/docs/performance.md 1.5).
#pragma once

#include <torch/types.h>

#include <vector>

namespace relascope::core {

/// y_i = x weight_i^T + bias_i of one input: weight [out_i, in], bias [out_i] or undefined.
struct LinearWeights {
    torch::Tensor weight, bias;
};

/// Which library multiplies. Automatic is a rule of processor and shape and never a measurement, so
/// that two runs on one machine give equal bits.
enum class LinearForm { Automatic, Plain, OneDnn };

/// Sets the form in its scope, for all threads. For tests and comparisons.
class LinearFormScope {
public:
    explicit LinearFormScope(LinearForm form);
    ~LinearFormScope();
    LinearFormScope(const LinearFormScope&) = delete;
    LinearFormScope& operator=(const LinearFormScope&) = delete;

private:
    LinearForm m_previous;
};

/// Whether `onednnLinear` takes such an input and weight, and is expected to be faster: dense
/// float32 on the CPU without autocast, products large enough to pay for its longer call.
bool hasOnednnLinear(const torch::Tensor& x, const torch::Tensor& weight);

/// Calls Layers::apply(x, weights, biases, the number of each layer's bias or -1): an
/// autograd::Function takes lists of tensors, in which none is undefined.
template <class Layers>
std::vector<torch::Tensor> applyLayers(const torch::Tensor& x,
                                       const std::vector<LinearWeights>& layers) {
    std::vector<torch::Tensor> weights, biases;
    std::vector<std::int64_t> biasOf;
    for (const auto& layer : layers) {
        weights.push_back(layer.weight);
        biasOf.push_back(layer.bias.defined() ? static_cast<std::int64_t>(biases.size()) : -1);
        if (layer.bias.defined()) biases.push_back(layer.bias);
    }
    return Layers::apply(x, at::TensorList(weights), at::TensorList(biases), biasOf);
}

/// The products of x [..., in] with each of the weights, [..., out_i]. In the backward pass the
/// gradients of x are summed within the products, with no tensor for each summand.
std::vector<torch::Tensor> onednnLinear(const torch::Tensor& x,
                                        const std::vector<LinearWeights>& layers);

}  // namespace relascope::core
