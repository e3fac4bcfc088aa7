// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/shapes.h"

#include <algorithm>
#include <utility>

#include "model/architecture.h"

namespace relascope::core {

void ShapeList::parameter(const std::string& name, std::vector<std::int64_t> shape,
                          bool trainable) {
    m_parameters.push_back({name, std::move(shape), "", trainable, false});
}

void ShapeList::buffer(const std::string& name, std::vector<std::int64_t> shape) {
    m_buffers.push_back({name, std::move(shape), "", false, true});
}

void ShapeList::alias(const std::string& name, const std::string& first) {
    const auto at = std::find_if(m_parameters.begin(), m_parameters.end(),
                                 [&](const TensorShape& shape) { return shape.name == first; });
    if (at == m_parameters.end()) throw std::logic_error(first + " is not listed before " + name);
    m_aliases.push_back({name, at->shape, first, at->trainable, false});
}

void ShapeList::linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias,
                       bool trainable) {
    parameter(name + ".weight", {out, in}, trainable);
    if (bias) parameter(name + ".bias", {out}, trainable);
}

void ShapeList::aliasOfLinear(const std::string& name, const std::string& first, bool bias) {
    alias(name + ".weight", first + ".weight");
    if (bias) alias(name + ".bias", first + ".bias");
}

void ShapeList::norm(const std::string& name, std::int64_t d, const std::string& type,
                     std::int64_t heads) {
    if (type != "none" && !type.ends_with("no_weight"))
        parameter(name + ".weight", heads > 0 ? std::vector{heads, d} : std::vector{d});
    if (type == "layernorm") parameter(name + ".bias", {d});
}

void ShapeList::mlp(const std::string& name, const std::vector<std::int64_t>& widths) {
    for (std::size_t i = 0; i + 1 < widths.size(); ++i)
        linear(name + "." + std::to_string(2 * i), widths[i], widths[i + 1]);
}

void ShapeList::feedForward(const std::string& name, std::int64_t d, std::int64_t dff,
                            const std::string& activation, bool bias) {
    const std::int64_t width = feedForwardWidth(d, dff, activation);
    linear(name + ".linear1", d, width, bias);
    linear(name + ".linear2", width, d, bias);
    if (!gateActivation(activation).empty()) linear(name + ".linear3", d, width, bias);
}

std::vector<TensorShape> ShapeList::take() {
    auto all = std::move(m_parameters);
    all.insert(all.end(), m_buffers.begin(), m_buffers.end());
    all.insert(all.end(), m_aliases.begin(), m_aliases.end());
    return all;
}

std::string gateActivation(const std::string& activation) {
    if (activation == "swiglu") return "silu";
    if (activation == "geglu") return "gelu";
    return activation == "exact_geglu" ? "exact_gelu" : "";
}

std::int64_t feedForwardWidth(std::int64_t d, std::int64_t dff, const std::string& activation) {
    if (dff > 0) return dff;
    return !gateActivation(activation).empty()
               ? static_cast<std::int64_t>(2.0 / 3.0 * 4.0 * static_cast<double>(d))
               : 4 * d;
}

std::vector<TensorShape> modelShapes(const ModelOptions& options) {
    options.check();
    return options.info().shapes(options);
}

ParameterCount countParameters(const ModelOptions& options) {
    ParameterCount count;
    for (const auto& shape : modelShapes(options)) {
        if (shape.buffer || !shape.aliasOf.empty()) continue;
        count.total += shape.count();
        if (shape.trainable) count.trainable += shape.count();
    }
    return count;
}

}  // namespace relascope::core
