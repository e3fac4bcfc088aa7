#include <ATen/Parallel.h>
#include <c10/util/BFloat16.h>

#include <bit>
#include <cstdint>

#include "model/matvec.h"

namespace relascope {
namespace {

constexpr std::int64_t kLanes = 64;  // partial sums of a row: enough for any vector width

inline float widen(float w) {
    return w;
}
// bfloat16 is the upper half of a float32.
inline float widen(std::uint16_t w) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(w) << 16);
}

template <class Weight>
inline __attribute__((always_inline)) void rowsLoop(const float* x, const Weight* weight, float* y,
                                                    std::int64_t in, std::int64_t begin,
                                                    std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
        const Weight* w = weight + row * in;
        float sums[kLanes] = {};
        std::int64_t i = 0;
        for (; i + kLanes <= in; i += kLanes)
            for (std::int64_t lane = 0; lane < kLanes; ++lane)
                sums[lane] += widen(w[i + lane]) * x[i + lane];
        float sum = 0.0f;
        for (; i < in; ++i) sum += widen(w[i]) * x[i];
        for (std::int64_t width = kLanes / 2; width > 0; width /= 2)
            for (std::int64_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
        y[row] = sum + sums[0];
    }
}

// One copy for each vector width, chosen when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define RELASCOPE_VECTOR                               \
    __attribute__((optimize("O3", "fp-contract=fast"), \
                   target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define RELASCOPE_VECTOR
#endif
RELASCOPE_VECTOR void rows(const float* x, const float* weight, float* y, std::int64_t in,
                           std::int64_t begin, std::int64_t end) {
    rowsLoop(x, weight, y, in, begin, end);
}
RELASCOPE_VECTOR void rows(const float* x, const std::uint16_t* weight, float* y, std::int64_t in,
                           std::int64_t begin, std::int64_t end) {
    rowsLoop(x, weight, y, in, begin, end);
}

}  // namespace

bool isRowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight) {
    return !torch::GradMode::is_enabled() && x.is_cpu() && x.scalar_type() == torch::kFloat &&
           x.numel() == weight.size(1) && x.is_contiguous() && weight.is_contiguous() &&
           (weight.scalar_type() == torch::kFloat || weight.scalar_type() == torch::kBFloat16);
}

torch::Tensor rowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight) {
    const std::int64_t out = weight.size(0), in = weight.size(1);
    auto shape = x.sizes().vec();
    shape.back() = out;
    auto y = torch::empty(shape, x.options());
    const auto* from = x.const_data_ptr<float>();
    auto* to = y.mutable_data_ptr<float>();
    const std::int64_t grain = std::max<std::int64_t>(1, (1 << 16) / in);
    if (weight.scalar_type() == torch::kFloat) {
        const auto* w = weight.const_data_ptr<float>();
        at::parallel_for(0, out, grain, [&](std::int64_t begin, std::int64_t end) {
            rows(from, w, to, in, begin, end);
        });
    } else {
        const auto* w =
            reinterpret_cast<const std::uint16_t*>(weight.const_data_ptr<at::BFloat16>());
        at::parallel_for(0, out, grain, [&](std::int64_t begin, std::int64_t end) {
            rows(from, w, to, in, begin, end);
        });
    }
    return y;
}

}  // namespace relascope
