// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "model/attention/tile_levels.h"
#include "model/blocks/bfloat16.h"
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

// The numbers of a tensor in blocks of floats, which stay in the first cache while bfloat16 is
// widened and narrowed.
constexpr std::int64_t kBlock = 1024;
class BlockOf {
public:
    explicit BlockOf(const torch::Tensor& x)
        : m_floats(x.scalar_type() == torch::kFloat ? x.const_data_ptr<float>() : nullptr),
          m_halves(m_floats ? nullptr : x.const_data_ptr<at::BFloat16>()) {}
    const float* read(std::int64_t first, std::int64_t count, float* room) const {
        if (m_floats) return m_floats + first;
        widenNumbers(m_halves + first, room, count);
        return room;
    }

private:
    const float* m_floats;
    const at::BFloat16* m_halves;
};
class BlockInto {
public:
    explicit BlockInto(torch::Tensor& x)
        : m_floats(x.scalar_type() == torch::kFloat ? x.mutable_data_ptr<float>() : nullptr),
          m_halves(m_floats ? nullptr : x.mutable_data_ptr<at::BFloat16>()) {}
    float* room(std::int64_t first, float* spare) const {
        return m_floats ? m_floats + first : spare;
    }
    void write(std::int64_t first, std::int64_t count, const float* spare) const {
        if (m_halves) narrowNumbers(spare, m_halves + first, count);
    }

private:
    float* m_floats;
    at::BFloat16* m_halves;
};
// work(first, count) for blocks of all numbers, on all threads.
template <class Work>
void inBlocks(std::int64_t numbers, const Work& work) {
    at::parallel_for(0, numbers, kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t first = begin; first < end; first += kBlock)
            work(first, std::min(kBlock, end - first));
    });
}

struct Gelu : torch::autograd::Function<Gelu> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const torch::Tensor& input) {
        const auto x = input.contiguous();
        auto y = torch::empty_like(x);
        const BlockOf from(x);
        const BlockInto to(y);
        inBlocks(x.numel(), [&](std::int64_t first, std::int64_t count) {
            float in[kBlock], out[kBlock];
            gelu(from.read(first, count, in), to.room(first, out), count);
            to.write(first, count, out);
        });
        context->save_for_backward({x});
        return y;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto x = context->get_saved_variables()[0], dy = gradients[0].contiguous();
        auto dx = torch::empty_like(x);
        const BlockOf in(x), from(dy);
        const BlockInto to(dx);
        inBlocks(x.numel(), [&](std::int64_t first, std::int64_t count) {
            float a[kBlock], b[kBlock], out[kBlock];
            geluBackward(in.read(first, count, a), from.read(first, count, b), to.room(first, out),
                         count);
            to.write(first, count, out);
        });
        return {dx};
    }
};

struct Swiglu : torch::autograd::Function<Swiglu> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const torch::Tensor& gate, const torch::Tensor& value) {
        const auto a = gate.contiguous(), b = value.contiguous();
        auto y = torch::empty_like(a);
        const BlockOf gates(a), values(b);
        const BlockInto to(y);
        inBlocks(a.numel(), [&](std::int64_t first, std::int64_t count) {
            float one[kBlock], two[kBlock], out[kBlock];
            swiglu(gates.read(first, count, one), values.read(first, count, two),
                   to.room(first, out), count);
            to.write(first, count, out);
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
        const BlockOf gates(a), values(b), from(dy);
        const BlockInto toGates(da), toValues(db);
        inBlocks(a.numel(), [&](std::int64_t first, std::int64_t count) {
            float one[kBlock], two[kBlock], given[kBlock], out[kBlock], other[kBlock];
            swigluBackward(gates.read(first, count, one), values.read(first, count, two),
                           from.read(first, count, given), toGates.room(first, out),
                           toValues.room(first, other), count);
            toGates.write(first, count, out);
            toValues.write(first, count, other);
        });
        return {da, db};
    }
};

}  // namespace

bool hasFusedActivation(const torch::Tensor& x) {
    return x.device().is_cpu() &&
           (x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kBFloat16) &&
           x.layout() == torch::kStrided && x.numel() >= kGrain;
}

torch::Tensor fusedGelu(const torch::Tensor& x) {
    return Gelu::apply(x);
}
torch::Tensor fusedSwiglu(const torch::Tensor& gate, const torch::Tensor& value) {
    return Swiglu::apply(gate, value);
}

}  // namespace relascope::core
