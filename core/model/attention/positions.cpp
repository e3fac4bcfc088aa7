// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/positions.h"

#include <cmath>

#include "model/blocks/parameters.h"
#include "types/error.h"

namespace relascope::core {
namespace {

torch::Tensor angles(std::int64_t n, std::int64_t d) {
    return rotaryAngles(torch::arange(n, torch::kFloat), d, 10000.0);
}

}  // namespace

torch::Tensor rotaryAngles(const torch::Tensor& positions, std::int64_t d, double theta) {
    const auto frequency =
        torch::exp(torch::arange(0, d, 2, torch::kFloat) * (-std::log(theta) / d));
    return positions.unsqueeze(1) * frequency;
}

torch::Tensor interleavedSinusoids(std::int64_t n, std::int64_t d) {
    const auto a = angles(n, d);
    return torch::stack({a.sin(), a.cos()}, 2).flatten(1);
}

torch::Tensor halvedSinusoids(std::int64_t n, std::int64_t d) {
    const auto a = angles(n, d);
    return torch::cat({a.sin(), a.cos()}, 1);
}

SinusoidalPositionsImpl::SinusoidalPositionsImpl(std::int64_t d, std::int64_t max_length) {
    pe = register_buffer("pe", parameterFill() == ParameterFill::Fresh
                                   ? interleavedSinusoids(max_length, d)
                                   : newConstant({max_length, d}, 0.0));
}

torch::Tensor SinusoidalPositionsImpl::forward(const torch::Tensor& x, std::int64_t first) {
    const std::int64_t end = first + x.size(1);
    if (end > pe.size(0))
        throw OptionError("sequence", std::to_string(end) + " elements, but only " +
                                          std::to_string(pe.size(0)) + " positions");
    return x * std::sqrt(static_cast<double>(x.size(2))) + pe.slice(0, first, end);
}

}  // namespace relascope::core
