// SPDX-License-Identifier: GPL-3.0-or-later
// How parameters are created: with random initial values, as uninitialised memory for a checkpoint,
// or as shapes only, so that a model of any size can be described without memory.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <functional>
#include <vector>

namespace relascope::core {

enum class ParameterFill {
    Fresh,          ///< initial distributions, from torch's default generator
    Uninitialised,  ///< allocated, not initialised
    ShapesOnly,     ///< on the meta device: no memory at all
};

/// Sets how parameters are created on this thread in its scope. The default is Fresh.
class ParameterScope {
public:
    explicit ParameterScope(ParameterFill fill);
    ~ParameterScope();
    ParameterScope(const ParameterScope&) = delete;
    ParameterScope& operator=(const ParameterScope&) = delete;

private:
    ParameterFill m_previous;
};

/// The current fill of this thread.
ParameterFill parameterFill();

/// A float32 tensor of that shape; `initialise` is called if parameters are Fresh.
torch::Tensor newParameter(torch::IntArrayRef sizes,
                           const std::function<void(torch::Tensor&)>& initialise);
/// A parameter drawn from N(0, 1).
torch::Tensor newNormal(torch::IntArrayRef sizes);
torch::Tensor newConstant(torch::IntArrayRef sizes, double value);

/// Whether a weight is bfloat16 or float16. Linear and Embedding take such weights and answer in
/// float32.
inline bool isHalf(const torch::Tensor& weight) {
    return weight.scalar_type() == torch::kBFloat16 || weight.scalar_type() == torch::kHalf;
}

/// Keeps the weights of every Linear and Embedding of the module as bfloat16, for generating: half
/// the memory to read a token; products are summed in float32. Not for training.
void castToBFloat16(torch::nn::Module& module);

/// x weight^T + bias: weight [out, in], U(-+1/sqrt(in)) as torch's own (kaiming, sqrt 5).
struct LinearImpl : torch::nn::Module {
    LinearImpl(std::int64_t in, std::int64_t out, bool bias = true);
    /// A layer that is tied to the weight [out, in] of another module; no bias.
    explicit LinearImpl(torch::Tensor shared);
    torch::Tensor forward(const torch::Tensor& x) const;

    torch::Tensor weight, bias;  ///< bias is undefined without one
};
TORCH_MODULE(Linear);

/// layer(x) for each of the layers. Together they cost less than one by one: their gradients of x
/// are summed within the products where oneDNN multiplies (onednn_linear.h).
std::vector<torch::Tensor> applyLinears(const torch::Tensor& x, const std::vector<Linear>& layers);

/// Rows of weight [count, width] by number; N(0, 1).
struct EmbeddingImpl : torch::nn::Module {
    EmbeddingImpl(std::int64_t count, std::int64_t width);
    torch::Tensor forward(const torch::Tensor& ids) const;

    torch::Tensor weight;
};
TORCH_MODULE(Embedding);

}  // namespace relascope::core
