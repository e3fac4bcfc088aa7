// SPDX-License-Identifier: GPL-3.0-or-later
#include "probe/map_factors.h"

#include <algorithm>
#include <cstring>

#include "model/attention/row_activation.h"
#include "model/attention/tile_levels.h"
#include "types/error.h"

namespace relascope::core {
namespace {

typedef float Lanes __attribute__((vector_size(64)));  // one AVX-512 register, two of AVX2
constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kBlock = 4;  // rows that share one pass over the keys

// out[r, j] = scale <queries[r], keys[:, j]> for `count` <= kBlock rows and the columns before
// `open`: queries [count, width], keys [width, columns].
RELASCOPE_VECTORS
void innerProducts(const float* queries, const float* keys, std::int64_t count, std::int64_t open,
                   std::int64_t columns, std::int64_t width, float scale, float* out) {
    const float* q[kBlock];
    float* to[kBlock];
    for (std::int64_t r = 0; r < kBlock; ++r) {  // rows beyond the last repeat it
        q[r] = queries + std::min(r, count - 1) * width;
        to[r] = out + std::min(r, count - 1) * columns;
    }
    std::int64_t j = 0;
    for (; j + kLanes <= open; j += kLanes) {
        Lanes s0 = {}, s1 = {}, s2 = {}, s3 = {};
        for (std::int64_t w = 0; w < width; ++w) {
            Lanes key;
            std::memcpy(&key, keys + w * columns + j, sizeof key);
            s0 += key * q[0][w];
            s1 += key * q[1][w];
            s2 += key * q[2][w];
            s3 += key * q[3][w];
        }
        s0 *= scale, s1 *= scale, s2 *= scale, s3 *= scale;
        std::memcpy(to[0] + j, &s0, sizeof s0);
        std::memcpy(to[1] + j, &s1, sizeof s1);
        std::memcpy(to[2] + j, &s2, sizeof s2);
        std::memcpy(to[3] + j, &s3, sizeof s3);
    }
    for (; j < open; ++j)
        for (std::int64_t r = 0; r < count; ++r) {
            float sum = 0.0F;
            for (std::int64_t w = 0; w < width; ++w) sum += q[r][w] * keys[w * columns + j];
            to[r][j] = scale * sum;
        }
}

}  // namespace

FactoredMaps::FactoredMaps(MapFactors factors) : m_factors(std::move(factors)) {
    const auto& f = m_factors;
    const bool shaped = f.maps > 0 && f.groups > 0 && f.rows > 0 && f.columns > 0 && f.width > 0 &&
                        f.maps % f.groups == 0;
    if (!shaped || !f.keys ||
        f.queries.size() != static_cast<std::size_t>(f.maps * f.rows * f.width) ||
        f.keys->size() != static_cast<std::size_t>(f.groups * f.columns * f.width))
        throw Error("the factors of a map do not match its shape");
}

void FactoredMaps::rows(int index, int first, int count, float* out) const {
    const auto& f = m_factors;
    const std::int64_t group = index / (f.maps / f.groups);
    const float* queries = f.queries.data() + (index * f.rows + first) * f.width;
    const float* keys = f.keys->data() + group * f.width * f.columns;
    for (std::int64_t begin = 0; begin < count; begin += kBlock) {
        const auto rows = std::min<std::int64_t>(kBlock, count - begin);
        // The last row of a block sees most of all; whole registers are faster than their parts.
        const auto seenByLast = (first + begin + rows + kLanes - 1) / kLanes * kLanes;
        const auto open = f.causal ? std::min(f.columns, seenByLast) : f.columns;
        float* block = out + begin * f.columns;
        innerProducts(queries + begin * f.width, keys, rows, open, f.columns, f.width,
                      static_cast<float>(f.scale), block);
        for (std::int64_t r = 0; r < rows; ++r) {
            float* row = block + r * f.columns;
            const auto seen = f.causal ? std::min(f.columns, first + begin + r + 1) : f.columns;
            activateRow(f.activation, {row, static_cast<std::size_t>(seen)});
            std::fill(row + seen, row + f.columns, 0.0F);
        }
    }
}

float FactoredMaps::cell(int index, int row, int column, int columns) const {
    const auto& f = m_factors;
    if (f.activation == "softmax") return MapSource::cell(index, row, column, columns);
    if (f.causal && column > row) return 0.0F;
    const float* q = f.queries.data() + (index * f.rows + row) * f.width;
    const float* k = f.keys->data() + index / (f.maps / f.groups) * f.width * f.columns + column;
    float sum = 0.0F;
    for (std::int64_t w = 0; w < f.width; ++w) sum += q[w] * k[w * f.columns];
    float value = static_cast<float>(f.scale) * sum;
    activateRow(f.activation, {&value, 1});
    return value;
}

void OffsetRows::rows(int, int first, int count, float* out) const {
    for (std::int64_t i = first; i < first + count; ++i)
        for (std::int64_t j = 0; j < m_columns; ++j)
            *out++ = static_cast<float>(std::clamp(j - i, -m_most, m_most) + m_most);
}

float OffsetRows::cell(int, int row, int column, int) const {
    return static_cast<float>(std::clamp<std::int64_t>(column - row, -m_most, m_most) + m_most);
}

void IdentityRows::rows(int, int first, int count, float* out) const {
    std::fill(out, out + count * m_columns, 0.0F);
    for (std::int64_t r = 0; r < count && first + r < m_columns; ++r)
        out[r * m_columns + first + r] = 1.0F;
}

}  // namespace relascope::core
