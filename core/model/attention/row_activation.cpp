// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/row_activation.h"

#include <algorithm>
#include <cmath>

#include "types/error.h"

namespace relascope::core {

void softmaxRow(std::span<float> x) {
    float most = x[0];
    for (const float each : x) most = std::max(most, each);
    float sum = 0.0f;
    for (float& each : x) sum += each = std::exp(each - most);
    for (float& each : x) each /= sum;
}

void activateRow(const std::string& activation, std::span<float> x) {
    const auto each = [&x](auto&& f) {
        for (float& value : x) value = f(value);
    };
    const auto sigmoid = [](float v) { return 1.0f / (1.0f + std::exp(-v)); };
    if (activation == "identity") return;
    if (activation == "softmax") return softmaxRow(x);
    if (activation == "relu") return each([](float v) { return std::max(v, 0.0f); });
    if (activation == "sigmoid") return each(sigmoid);
    if (activation == "tanh") return each([](float v) { return std::tanh(v); });
    if (activation == "silu") return each([&](float v) { return v * sigmoid(v); });
    if (activation == "gelu")
        return each([](float v) {
            constexpr float root = 0.7978845608028654f;  // sqrt(2 / pi)
            return 0.5f * v * (1.0f + std::tanh(root * (v + 0.044715f * v * v * v)));
        });
    if (activation == "exact_gelu")
        return each([](float v) { return 0.5f * v * (1.0f + std::erf(v * 0.70710678f)); });
    throw OptionError("activation", "unknown activation '" + activation + "'");
}

}  // namespace relascope::core
