// SPDX-License-Identifier: GPL-3.0-or-later
// CPU kernels for decoding one token, on raw memory: products of one row with weight matrices, and
// attention of one query. They create no tensors. A language model reads each weight once for each
// token, so memory bandwidth is the limit (performance.md 3.1).
#pragma once

#include <torch/types.h>
#include <cstdint>
#include <span>
#include <vector>

namespace relascope::core {

// Inner products of the factored form of relational attention, after the keys are mixed.

/// out[b, h, i, l] = scale sum_p keys[b, h, i, l p] q[b, i, l p]: keys [b, h, n, d_r d_p], q [b, n,
/// d_r d_p] -> [b, h, n, d_r]. One pass over keys on the CPU, forward and backward.
torch::Tensor contractKeys(const torch::Tensor& keys, const torch::Tensor& q,
                           std::int64_t relations, double scale);

enum class RowType { Float32, BFloat16, Float16 };
/// Throws Error for a type that rows cannot have.
RowType rowType(torch::ScalarType type);

/// A row-major matrix [out, in] in memory.
struct MatrixRows {
    const void* weight = nullptr;
    const float* bias = nullptr;  ///< [out], or null
    std::int64_t out = 0, in = 0;
    RowType type = RowType::Float32;

    /// Whether its numbers have 16 bits, so that its inputs have to be split.
    bool half() const { return type != RowType::Float32; }
};

/// A vector that matrices are multiplied with.
struct RowInput {
    std::vector<float> x;
    std::vector<float> even, odd;  ///< its even and odd elements, for products with 16-bit rows

    /// Fills even and odd from x. Widths of 16-bit rows have to be even.
    void split();
};

struct RowProduct {
    MatrixRows matrix;
    const RowInput* input;  ///< split if the matrix has 16 bits
    float* out;
};

/// out = matrix x + bias for every product, summed in float32; the threads share the rows of all
/// products.
void multiplyRows(std::span<const RowProduct> products);

/// out[j] = scale <x, rows_j>: `count` rows of `width` numbers, `stride` apart.
void dotRows(const float* x, const float* rows, std::int64_t count, std::int64_t width,
             std::int64_t stride, float scale, float* out);
/// out = sum_j weights[j] rows_j, [width].
void mixRows(const float* weights, const float* rows, std::int64_t count, std::int64_t width,
             std::int64_t stride, float* out);
/// out[j, l] = scale sum_p q[l p] keys[j, l p]: keys [count, relations * width] -> [count,
/// relations].
void relateRows(const float* q, const float* keys, std::int64_t count, std::int64_t relations,
                std::int64_t width, float scale, float* out);

}  // namespace relascope::core
