// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Parallel.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/attention/row_kernels.h"
#include "model/attention/tile_levels.h"
#include "types/error.h"

namespace relascope::core {
namespace {

static_assert(std::endian::native == std::endian::little);

// Sixteen lanes: one AVX-512 register, two of AVX2, four of SSE.
typedef float Lanes __attribute__((vector_size(64)));
typedef std::uint32_t Words __attribute__((vector_size(64)));
constexpr std::int64_t kLanes = 16;
// Rows at once: several memory streams are faster than one.
constexpr std::int64_t kRows = 4;
// Rows prefetched: rows are short, and the hardware prefetcher stops at their ends.
constexpr std::int64_t kAhead = 2 * kRows;

inline __attribute__((always_inline)) void load(const float* from, Lanes& lanes) {
    std::memcpy(&lanes, from, sizeof lanes);
}

// The two numbers of each word of 16-bit weights. No shuffles are needed, as x is split into even
// and odd elements.
template <RowType type>
inline __attribute__((always_inline)) void widen(const Words& words, Lanes& first, Lanes& second) {
    if constexpr (type == RowType::BFloat16) {  // the upper half of a float32
        const Words low = words << 16, high = words & 0xFFFF0000u;
        std::memcpy(&first, &low, sizeof first);
        std::memcpy(&second, &high, sizeof second);
        return;
    }
    // float16: exponent and mantissa moved to where float32 has them, and the exponent's bias, 15
    // in place of 127, made good by a product. The largest exponent stands for what is not finite.
    const auto number = [](const Words& magnitude, const Words& sign, Lanes& to) {
        std::memcpy(&to, &magnitude, sizeof to);
        to *= 0x1p112f;
        Words bits;
        std::memcpy(&bits, &to, sizeof bits);
        bits |= sign | ((magnitude >= 0x0F800000u) & 0x7F800000u);
        std::memcpy(&to, &bits, sizeof to);
    };
    number((words & 0x7FFFu) << 13, (words << 16) & 0x80000000u, first);
    number((words >> 3) & 0x0FFFE000u, words & 0x80000000u, second);
}

template <RowType type>
inline __attribute__((always_inline)) void addPairs(const std::uint32_t* pairs, const Lanes& even,
                                                    const Lanes& odd, Lanes& sum) {
    Words words;
    std::memcpy(&words, pairs, sizeof words);
    Lanes first, second;
    widen<type>(words, first, second);
    sum += first * even;
    sum += second * odd;
}

// y[row] for rows begin..end of 16 bits; `half` pairs of weights a row.
template <RowType type>
inline __attribute__((always_inline)) void halfRows(const float* even, const float* odd,
                                                    const std::uint32_t* weight, float* y,
                                                    std::int64_t half, std::int64_t begin,
                                                    std::int64_t end) {
    const std::int64_t whole = half - half % kLanes;
    for (std::int64_t row = begin; row < end; row += kRows) {
        const std::int64_t count = std::min<std::int64_t>(kRows, end - row);
        // The last group overlaps the previous one, so that some rows are computed twice.
        const std::uint32_t* w[kRows];
        for (std::int64_t r = 0; r < kRows; ++r)
            w[r] = weight + (row + std::min(r, count - 1)) * half;
        Lanes s0 = {}, s1 = {}, s2 = {}, s3 = {};
        for (std::int64_t i = 0; i < whole; i += kLanes) {
            Lanes e, o;
            load(even + i, e);
            load(odd + i, o);
            for (std::int64_t r = 0; r < kRows; ++r) __builtin_prefetch(w[r] + i + kAhead * half);
            addPairs<type>(w[0] + i, e, o, s0);
            addPairs<type>(w[1] + i, e, o, s1);
            addPairs<type>(w[2] + i, e, o, s2);
            addPairs<type>(w[3] + i, e, o, s3);
        }
        const Lanes* sums[kRows] = {&s0, &s1, &s2, &s3};
        for (std::int64_t r = 0; r < count; ++r) {
            float sum = 0.0f;
            for (int lane = 0; lane < kLanes; ++lane) sum += (*sums[r])[lane];
            for (std::int64_t i = whole; i < half; ++i) {
                Words one = {w[r][i]};
                Lanes first, second;
                widen<type>(one, first, second);
                sum += first[0] * even[i] + second[0] * odd[i];
            }
            y[row + r] = sum;
        }
    }
}

RELASCOPE_VECTORS
void bfloat16Rows(const float* even, const float* odd, const std::uint32_t* weight, float* y,
                  std::int64_t half, std::int64_t begin, std::int64_t end) {
    halfRows<RowType::BFloat16>(even, odd, weight, y, half, begin, end);
}

RELASCOPE_VECTORS
void float16Rows(const float* even, const float* odd, const std::uint32_t* weight, float* y,
                 std::int64_t half, std::int64_t begin, std::int64_t end) {
    halfRows<RowType::Float16>(even, odd, weight, y, half, begin, end);
}

// y[row] = scale <x, row> for rows begin..end of float32, `stride` apart.
RELASCOPE_VECTORS
void floatRows(const float* x, const float* rows, float* y, std::int64_t width, std::int64_t stride,
               float scale, std::int64_t begin, std::int64_t end) {
    const std::int64_t whole = width - width % kLanes;
    for (std::int64_t row = begin; row < end; row += kRows) {
        const std::int64_t count = std::min<std::int64_t>(kRows, end - row);
        const float* w[kRows];
        for (std::int64_t r = 0; r < kRows; ++r)
            w[r] = rows + (row + std::min(r, count - 1)) * stride;
        Lanes s0 = {}, s1 = {}, s2 = {}, s3 = {};
        for (std::int64_t i = 0; i < whole; i += kLanes) {
            Lanes in, w0, w1, w2, w3;
            load(x + i, in);
            for (std::int64_t r = 0; r < kRows; ++r) __builtin_prefetch(w[r] + i + kAhead * stride);
            load(w[0] + i, w0);
            load(w[1] + i, w1);
            load(w[2] + i, w2);
            load(w[3] + i, w3);
            s0 += w0 * in;
            s1 += w1 * in;
            s2 += w2 * in;
            s3 += w3 * in;
        }
        const Lanes* sums[kRows] = {&s0, &s1, &s2, &s3};
        for (std::int64_t r = 0; r < count; ++r) {
            float sum = 0.0f;
            for (int lane = 0; lane < kLanes; ++lane) sum += (*sums[r])[lane];
            for (std::int64_t i = whole; i < width; ++i) sum += w[r][i] * x[i];
            y[row + r] = scale * sum;
        }
    }
}

void multiplyPart(const RowProduct& product, std::int64_t begin, std::int64_t end) {
    const auto& m = product.matrix;
    if (m.half())
        (m.type == RowType::BFloat16 ? bfloat16Rows : float16Rows)(
            product.input->even.data(), product.input->odd.data(),
            static_cast<const std::uint32_t*>(m.weight), product.out, m.in / 2, begin, end);
    else
        floatRows(product.input->x.data(), static_cast<const float*>(m.weight), product.out, m.in,
                  m.in, 1.0f, begin, end);
    if (m.bias)
        for (std::int64_t row = begin; row < end; ++row) product.out[row] += m.bias[row];
}

}  // namespace

RowType rowType(torch::ScalarType type) {
    switch (type) {
        case torch::kFloat:
            return RowType::Float32;
        case torch::kBFloat16:
            return RowType::BFloat16;
        case torch::kHalf:
            return RowType::Float16;
        default:
            throw Error(std::string("weights of type ") + c10::toString(type) +
                        " cannot be multiplied row by row");
    }
}

void RowInput::split() {
    even.resize(x.size() / 2), odd.resize(x.size() / 2);
    for (std::size_t i = 0; i < even.size(); ++i) even[i] = x[2 * i], odd[i] = x[2 * i + 1];
}

void multiplyRows(std::span<const RowProduct> products) {
    std::int64_t work = 0;
    for (const auto& product : products) work += product.matrix.out * product.matrix.in;
    // Smaller work is done before a second thread has started.
    constexpr std::int64_t grain = 1 << 15;
    at::parallel_for(0, work, grain, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t before = 0;
        for (const auto& product : products) {
            const std::int64_t in = product.matrix.in, size = product.matrix.out * in;
            // The rows that start within the part, in whole groups.
            const auto rowAt = [&](std::int64_t at) {
                const std::int64_t inside = std::clamp<std::int64_t>(at - before, 0, size);
                const std::int64_t group = kRows * in;
                return std::min(product.matrix.out, (inside + group - 1) / group * kRows);
            };
            const auto first = rowAt(begin), last = rowAt(end);
            if (first < last) multiplyPart(product, first, last);
            before += size;
        }
    });
}

void dotRows(const float* x, const float* rows, std::int64_t count, std::int64_t width,
             std::int64_t stride, float scale, float* out) {
    floatRows(x, rows, out, width, stride, scale, 0, count);
}

RELASCOPE_VECTORS
void mixRows(const float* weights, const float* rows, std::int64_t count, std::int64_t width,
             std::int64_t stride, float* out) {
    std::int64_t column = 0;
    for (; column + 4 * kLanes <= width; column += 4 * kLanes) {
        Lanes s0 = {}, s1 = {}, s2 = {}, s3 = {};
        for (std::int64_t j = 0; j < count; ++j) {
            const float* row = rows + j * stride + column;
            Lanes r0, r1, r2, r3;
            load(row, r0);
            load(row + kLanes, r1);
            load(row + 2 * kLanes, r2);
            load(row + 3 * kLanes, r3);
            s0 += weights[j] * r0;
            s1 += weights[j] * r1;
            s2 += weights[j] * r2;
            s3 += weights[j] * r3;
        }
        std::memcpy(out + column, &s0, sizeof s0);
        std::memcpy(out + column + kLanes, &s1, sizeof s1);
        std::memcpy(out + column + 2 * kLanes, &s2, sizeof s2);
        std::memcpy(out + column + 3 * kLanes, &s3, sizeof s3);
    }
    for (; column + kLanes <= width; column += kLanes) {
        Lanes sum = {};
        for (std::int64_t j = 0; j < count; ++j) {
            Lanes row;
            load(rows + j * stride + column, row);
            sum += weights[j] * row;
        }
        std::memcpy(out + column, &sum, sizeof sum);
    }
    for (; column < width; ++column) {
        float sum = 0.0f;
        for (std::int64_t j = 0; j < count; ++j) sum += weights[j] * rows[j * stride + column];
        out[column] = sum;
    }
}

RELASCOPE_VECTORS
void relateRows(const float* q, const float* keys, std::int64_t count, std::int64_t relations,
                std::int64_t width, float scale, float* out) {
    for (std::int64_t j = 0; j < count; ++j) {
        const float* key = keys + j * relations * width;
        float* r = out + j * relations;
        if (width == 8) {  // the width of the published models: sums of eight lanes without a loop
            for (std::int64_t l = 0; l < relations; ++l) {
                const float *a = q + l * 8, *b = key + l * 8;
                r[l] = scale * (((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) +
                                ((a[4] * b[4] + a[5] * b[5]) + (a[6] * b[6] + a[7] * b[7])));
            }
            continue;
        }
        for (std::int64_t l = 0; l < relations; ++l) {
            float sum = 0.0f;
            for (std::int64_t p = l * width; p < (l + 1) * width; ++p) sum += q[p] * key[p];
            r[l] = scale * sum;
        }
    }
}

}  // namespace relascope::core
