// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "model/attention/tile_levels.h"
#include "model/blocks/fused_layers.h"

#define RELASCOPE_INLINE inline __attribute__((always_inline))

namespace relascope::core {
namespace {

// Below, a second thread costs more than it saves; and a call of our own more than a pass.
constexpr std::int64_t kGrain = 1 << 14;

// 1 / (1 + exp(-x)) to a few units in the last place. Beyond 80 it is 1, or too small to matter.
RELASCOPE_INLINE float sigmoid(float x) {
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: the sum has no room for a fraction
    const float z = std::min(std::max(-x, -80.0f), 80.0f);
    const float shifted = z * 1.44269504f + kRound, n = shifted - kRound;
    const float f = (z - n * 0.693359375f) - n * -2.12194440e-4f;  // |f| <= ln(2) / 2
    float e = 1.3981999507e-3f;
    e = e * f + 8.3334519073e-3f;
    e = e * f + 4.1665795894e-2f;
    e = e * f + 1.6666665459e-1f;
    e = e * f + 5.0000001201e-1f;
    e = (e * f) * f + f + 1.0f;
    // The integer is in the low bits of `shifted`: moved to the exponent's place it is 2^n.
    const auto power = (std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3F800000u;
    return 1.0f / (1.0f + e * std::bit_cast<float>(power));
}

// GELU(x) = x (1 + tanh u) / 2 = x sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3).
constexpr float kLinear = 1.5957691216f, kCubic = kLinear * 0.044715f;

RELASCOPE_VECTORS void gelu(const float* x, float* y, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        y[i] = x[i] * sigmoid(x[i] * (kLinear + kCubic * x[i] * x[i]));
}

RELASCOPE_VECTORS void geluBackward(const float* x, const float* dy, float* dx,
                                    std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const float square = x[i] * x[i], s = sigmoid(x[i] * (kLinear + kCubic * square));
        dx[i] = dy[i] * (s + x[i] * s * (1.0f - s) * (kLinear + 3.0f * kCubic * square));
    }
}

RELASCOPE_VECTORS void swiglu(const float* a, const float* b, float* y, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) y[i] = a[i] * sigmoid(a[i]) * b[i];
}

RELASCOPE_VECTORS void swigluBackward(const float* a, const float* b, const float* dy, float* da,
                                      float* db, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const float s = sigmoid(a[i]), silu = a[i] * s;
        da[i] = dy[i] * b[i] * (s + silu * (1.0f - s));
        db[i] = dy[i] * silu;
    }
}

struct Gelu : torch::autograd::Function<Gelu> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const torch::Tensor& input) {
        const auto x = input.contiguous();
        auto y = torch::empty_like(x);
        const auto* from = x.const_data_ptr<float>();
        auto* to = y.mutable_data_ptr<float>();
        at::parallel_for(0, x.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            gelu(from + begin, to + begin, end - begin);
        });
        context->save_for_backward({x});
        return y;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto x = context->get_saved_variables()[0], dy = gradients[0].contiguous();
        auto dx = torch::empty_like(x);
        const auto *in = x.const_data_ptr<float>(), *from = dy.const_data_ptr<float>();
        auto* to = dx.mutable_data_ptr<float>();
        at::parallel_for(0, x.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            geluBackward(in + begin, from + begin, to + begin, end - begin);
        });
        return {dx};
    }
};

struct Swiglu : torch::autograd::Function<Swiglu> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const torch::Tensor& gate, const torch::Tensor& value) {
        const auto a = gate.contiguous(), b = value.contiguous();
        auto y = torch::empty_like(a);
        const auto *first = a.const_data_ptr<float>(), *second = b.const_data_ptr<float>();
        auto* to = y.mutable_data_ptr<float>();
        at::parallel_for(0, a.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            swiglu(first + begin, second + begin, to + begin, end - begin);
        });
        context->save_for_backward({a, b});
        return y;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const auto &a = saved[0], &b = saved[1];
        const auto dy = gradients[0].contiguous();
        auto da = torch::empty_like(a), db = torch::empty_like(b);
        const auto *first = a.const_data_ptr<float>(), *second = b.const_data_ptr<float>(),
                   *from = dy.const_data_ptr<float>();
        auto *toFirst = da.mutable_data_ptr<float>(), *toSecond = db.mutable_data_ptr<float>();
        at::parallel_for(0, a.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            swigluBackward(first + begin, second + begin, from + begin, toFirst + begin,
                           toSecond + begin, end - begin);
        });
        return {da, db};
    }
};

}  // namespace

bool hasFusedActivation(const torch::Tensor& x) {
    return x.device().is_cpu() && x.scalar_type() == torch::kFloat &&
           x.layout() == torch::kStrided && x.numel() >= kGrain &&
           !at::autocast::is_autocast_enabled(at::kCPU);
}

torch::Tensor fusedGelu(const torch::Tensor& x) {
    return Gelu::apply(x);
}
torch::Tensor fusedSwiglu(const torch::Tensor& gate, const torch::Tensor& value) {
    return Swiglu::apply(gate, value);
}

}  // namespace relascope::core
