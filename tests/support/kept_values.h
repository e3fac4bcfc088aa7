// SPDX-License-Identifier: GPL-3.0-or-later
// Weights that change a little from step to step, as those of a training do.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "checkpoint/kept_weights.h"
#include "support/rooms.h"

namespace relascope::testing_support {

/// Three tensors of floats (one of rank 0, one that is empty), a counter and a second name.
inline WeightValues keptValues(std::int64_t step, KeptForm form, std::int64_t width = 24) {
    const bool full = form == KeptForm::Float32;
    WeightValues values;
    const auto add = [&](const char* name, std::vector<std::int64_t> shape) {
        std::int64_t count = 1;
        for (const auto size : shape) count *= size;
        WeightValues::Tensor tensor{name, full ? "F32" : "BF16", std::move(shape), {}};
        for (std::int64_t i = 0; i < count; ++i) {
            const auto value = static_cast<float>(0.1 * std::sin(1.7 * static_cast<double>(i * i)) +
                                                  0.001 * std::sin(static_cast<double>(i + step)) *
                                                      std::sqrt(static_cast<double>(step)));
            std::uint8_t bytes[4];
            std::memcpy(bytes, &value, 4);
            tensor.bytes.insert(tensor.bytes.end(), bytes + (full ? 0 : 2), bytes + 4);
        }
        values.tensors.push_back(std::move(tensor));
    };
    add("block.bias", {});
    add("block.none", {0, 3});
    values.tensors.push_back({"block.steps", "I64", {1}, std::vector<std::uint8_t>(8)});
    values.tensors.back().bytes[0] = static_cast<std::uint8_t>(step);
    add("block.weight", {width, width});
    values.sameAs["block.tied"] = "block.weight";
    return values;
}

inline bool equalValues(const WeightValues& a, const WeightValues& b) {
    if (a.tensors.size() != b.tensors.size() || a.sameAs != b.sameAs) return false;
    for (std::size_t i = 0; i < a.tensors.size(); ++i) {
        const auto &x = a.tensors[i], &y = b.tensors[i];
        if (x.name != y.name || x.dtype != y.dtype || x.shape != y.shape || x.bytes != y.bytes)
            return false;
    }
    return true;
}

}  // namespace relascope::testing_support
