// SPDX-License-Identifier: GPL-3.0-or-later
// A norm of one row on raw memory, for decoding: the same as NormImpl. Internal to model/decode.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "model/blocks/layers.h"

namespace relascope::core {

struct RowNorm {
    bool none = true, centres = false;
    torch::Tensor gain, bias;
    double eps = 1e-5;

    RowNorm() = default;
    explicit RowNorm(const Norm& norm) {
        if (norm.is_empty()) return;
        none = norm->isNone(), centres = norm->centres();
        gain = norm->gain(), bias = norm->bias, eps = norm->eps();
    }

    void apply(std::span<const float> x, std::span<float> y) const { apply(x, y, 0); }
    /// Each group of `width` numbers on its own, in place. Groups share a gain of that width.
    void applyByGroups(std::span<float> x, std::int64_t width) const {
        if (none) return;
        const auto group = static_cast<std::size_t>(width);
        const auto gains = gain.defined() ? static_cast<std::size_t>(gain.numel()) : group;
        for (std::size_t at = 0; at < x.size(); at += group)
            apply(x.subspan(at, group), x.subspan(at, group), at % gains);
    }

private:
    // With the gain from number `from` on.
    void apply(std::span<const float> x, std::span<float> y, std::size_t from) const {
        if (none) {
            if (x.data() != y.data()) std::copy(x.begin(), x.end(), y.begin());
            return;
        }
        const auto n = static_cast<double>(x.size());
        double mean = 0.0, square = 0.0;
        if (centres) {
            for (const float each : x) mean += each;
            mean /= n;
        }
        for (const float each : x) square += (each - mean) * (each - mean);
        const auto centre = static_cast<float>(mean),
                   scale = static_cast<float>(1.0 / std::sqrt(square / n + eps));
        const auto* w = gain.defined() ? gain.const_data_ptr<float>() + from : nullptr;
        const auto* b = bias.defined() ? bias.const_data_ptr<float>() : nullptr;
        for (std::size_t i = 0; i < x.size(); ++i)
            y[i] = (x[i] - centre) * scale * (w ? w[i] : 1.0f) + (b ? b[i] : 0.0f);
    }
};

}  // namespace relascope::core
