#include <ATen/Parallel.h>
#include <c10/util/BFloat16.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model/matvec.h"

namespace relascope {
namespace {

// Sixteen lanes: one AVX-512 register, two of AVX2, four of SSE.
typedef float Lanes __attribute__((vector_size(64)));
typedef std::uint32_t Words __attribute__((vector_size(64)));
constexpr std::int64_t kLanes = 16;
// Rows at once: the memory gives several streams faster than one.
constexpr int kRows = 4;

// A bfloat16 is the upper half of a float32, so a word of two weights holds the second as it is and
// the first shifted: no shuffles, if x comes as its even and its odd elements.
inline __attribute__((always_inline)) void addPairs(const std::uint32_t* pairs, const Lanes& even,
                                                    const Lanes& odd, Lanes& sum) {
    Words words;
    std::memcpy(&words, pairs, sizeof words);
    const Words low = words << 16, high = words & 0xFFFF0000u;
    Lanes first, second;
    std::memcpy(&first, &low, sizeof first);
    std::memcpy(&second, &high, sizeof second);
    sum += first * even;
    sum += second * odd;
}
inline __attribute__((always_inline)) void load(const float* from, Lanes& lanes) {
    std::memcpy(&lanes, from, sizeof lanes);
}

// y[row] for rows begin..end; `half` pairs of weights a row.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
// One copy for each vector width, chosen when the program starts.
__attribute__((optimize("O3", "fp-contract=fast"), target_clones("avx512f", "avx2", "default")))
#endif
void rows(const float* even, const float* odd, const std::uint32_t* weight, float* y,
          std::int64_t half, std::int64_t begin, std::int64_t end) {
    const std::int64_t whole = half - half % kLanes;
    for (std::int64_t row = begin; row < end; row += kRows) {
        const std::int64_t count = std::min<std::int64_t>(kRows, end - row);
        // The last rows of all are taken with the ones before, some twice.
        const std::uint32_t* w[kRows];
        for (std::int64_t r = 0; r < kRows; ++r)
            w[r] = weight + (row + std::min(r, count - 1)) * half;
        Lanes s0 = {}, s1 = {}, s2 = {}, s3 = {};
        for (std::int64_t i = 0; i < whole; i += kLanes) {
            Lanes e, o;
            load(even + i, e);
            load(odd + i, o);
            addPairs(w[0] + i, e, o, s0);
            addPairs(w[1] + i, e, o, s1);
            addPairs(w[2] + i, e, o, s2);
            addPairs(w[3] + i, e, o, s3);
        }
        const Lanes* sums[kRows] = {&s0, &s1, &s2, &s3};
        for (std::int64_t r = 0; r < count; ++r) {
            float sum = 0.0f;
            for (int lane = 0; lane < kLanes; ++lane) sum += (*sums[r])[lane];
            for (std::int64_t i = whole; i < half; ++i)
                sum += std::bit_cast<float>(w[r][i] << 16) * even[i] +
                       std::bit_cast<float>(w[r][i] & 0xFFFF0000u) * odd[i];
            y[row + r] = sum;
        }
    }
}

}  // namespace

bool isRowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight) {
    return weight.scalar_type() == torch::kBFloat16 && !torch::GradMode::is_enabled() &&
           x.is_cpu() && x.scalar_type() == torch::kFloat && x.numel() == weight.size(1) &&
           x.numel() % 2 == 0 && x.is_contiguous() && weight.is_contiguous();
}

torch::Tensor rowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight) {
    static_assert(std::endian::native == std::endian::little);
    const std::int64_t out = weight.size(0), half = weight.size(1) / 2;
    auto shape = x.sizes().vec();
    shape.back() = out;
    auto y = torch::empty(shape, x.options());
    const auto* from = x.const_data_ptr<float>();
    auto* to = y.mutable_data_ptr<float>();
    const std::int64_t grain = std::max<std::int64_t>(kRows, (1 << 15) / half / kRows * kRows);
    std::vector<float> even(static_cast<std::size_t>(half)), odd(even.size());
    for (std::size_t i = 0; i < even.size(); ++i) even[i] = from[2 * i], odd[i] = from[2 * i + 1];
    const auto* pairs =
        reinterpret_cast<const std::uint32_t*>(weight.const_data_ptr<at::BFloat16>());
    at::parallel_for(0, out, grain, [&](std::int64_t begin, std::int64_t end) {
        rows(even.data(), odd.data(), pairs, to, half, begin, end);
    });
    return y;
}

}  // namespace relascope
