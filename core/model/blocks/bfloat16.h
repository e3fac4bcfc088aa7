// SPDX-License-Identifier: GPL-3.0-or-later
// Training in bfloat16 on the CPU (resources/docs/performance.md 1.5b): inside of autocast, linear
// layers round inputs and weights to bfloat16 and sum in float32, and what lies between them reads
// and writes bfloat16. Norms, softmax, losses and weights are float32.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "model/blocks/onednn_linear.h"

namespace relascope::core {

/// Whether this thread rounds products on the CPU: autocast is on for it, to bfloat16.
bool roundsProducts();

/// How bfloat16 is multiplied: by the processor's instructions, or widened to float32. Automatic
/// asks the processor.
enum class ProductForm { Automatic, Native, Widening };

/// Sets the form in its scope, for all threads. For tests and comparisons.
class ProductFormScope {
public:
    explicit ProductFormScope(ProductForm form);
    ~ProductFormScope();
    ProductFormScope(const ProductFormScope&) = delete;
    ProductFormScope& operator=(const ProductFormScope&) = delete;

private:
    ProductForm m_previous;
};

/// Whether products are those of the processor's instructions.
bool multipliesNatively();

/// a b of bfloat16 matrices [m, k] and [k, n], plus `bias` [n] if it is defined: summed in float32
/// and rounded once. [m, n] bfloat16. Not differentiable.
torch::Tensor roundedProduct(const torch::Tensor& a, const torch::Tensor& b,
                             const torch::Tensor& bias = {});

/// While it exists and `keeps`, this thread rounds each weight once: for a step of several batches,
/// in which weights do not change. Otherwise a weight is rounded for each pass, which takes less
/// memory: half of the model's.
class RoundedWeightsScope {
public:
    explicit RoundedWeightsScope(bool keeps = true);
    ~RoundedWeightsScope();
    RoundedWeightsScope(const RoundedWeightsScope&) = delete;
    RoundedWeightsScope& operator=(const RoundedWeightsScope&) = delete;

private:
    bool m_keeps;
};

/// Whether `roundedLinear` takes them: roundsProducts(), and float32 or bfloat16 on the CPU.
bool hasRoundedLinear(const torch::Tensor& x, const torch::Tensor& weight);

/// The products of x [..., in] with each of the weights, [..., out_i] bfloat16; the backward pass
/// keeps x rounded, and the gradients of weights and biases are float32.
std::vector<torch::Tensor> roundedLinear(const torch::Tensor& x,
                                         const std::vector<LinearWeights>& layers);

/// Exact, and to nearest with ties to even; NaN stays NaN.
void widenNumbers(const at::BFloat16* from, float* to, std::int64_t count);
void narrowNumbers(const float* from, at::BFloat16* to, std::int64_t count);

}  // namespace relascope::core
