// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors of a model without building it: names, order and shapes. A test compares them with
// the built model for every preset and checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/model_options.h"

namespace relascope::core {

/// A parameter or stored buffer.
struct TensorShape {
    std::string name;
    std::vector<std::int64_t> shape;
    std::string aliasOf;  ///< the first name, where this is a further one
    bool trainable = true;
    bool buffer = false;  ///< stored, but no parameter: positions

    std::int64_t count() const {
        std::int64_t n = 1;
        for (const auto size : shape) n *= size;
        return n;
    }
    bool operator==(const TensorShape&) const = default;
};

/// Every tensor under its first name, in the order of registration (a module's own parameters
/// before those of its submodules), then buffers, then every further name. Throws OptionError for
/// options that cannot be built.
std::vector<TensorShape> modelShapes(const ModelOptions& options);

/// The number of parameters of a model, each counted once.
struct ParameterCount {
    std::int64_t total = 0, trainable = 0;
};
ParameterCount countParameters(const ModelOptions& options);

/// Collects the shapes of one model, in the order of registration.
class ShapeList {
public:
    void parameter(const std::string& name, std::vector<std::int64_t> shape, bool trainable = true);
    void buffer(const std::string& name, std::vector<std::int64_t> shape);
    /// A further name of a parameter that is listed under `first`.
    void alias(const std::string& name, const std::string& first);

    /// Lists the tensors of a linear layer: weight [out, in], bias [out].
    void linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias = true,
                bool trainable = true);
    void aliasOfLinear(const std::string& name, const std::string& first, bool bias);
    /// Lists the tensors of a norm: weight and bias for "layernorm", weight for "rmsnorm" and
    /// "layernorm_no_bias", nothing for "none" and those without weights. `heads` as NormImpl has
    /// it.
    void norm(const std::string& name, std::int64_t d, const std::string& type = "layernorm",
              std::int64_t heads = 0);
    /// Lists linear layers with the indices 0, 2, 4 ... (with a relu between them).
    void mlp(const std::string& name, const std::vector<std::int64_t>& widths);
    /// Lists `hidden` and `final_out`, the layers between relations and outputs.
    void hidden(std::int64_t in, std::int64_t hidden, std::int64_t outputs) {
        linear("hidden", in, hidden);
        linear("final_out", hidden, outputs);
    }
    /// Lists a feed-forward block. dff 0: 4 d, with a gate 8/3 d.
    void feedForward(const std::string& name, std::int64_t d, std::int64_t dff,
                     const std::string& activation, bool bias);

    std::vector<TensorShape> take();

private:
    std::vector<TensorShape> m_parameters, m_buffers, m_aliases;
};

/// The activation of the gate of a feed-forward block with one: "swiglu" silu, "geglu" gelu (tanh
/// approximation), "exact_geglu" exact_gelu. Empty for activations without a gate.
std::string gateActivation(const std::string& activation);
/// The width of a feed-forward block: dff, or the default if it is 0.
std::int64_t feedForwardWidth(std::int64_t d, std::int64_t dff, const std::string& activation);

}  // namespace relascope::core
