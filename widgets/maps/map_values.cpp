// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/map_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace relascope::widgets {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Columns of a row that are not masked: [first, last).
std::pair<int, int> openColumns(MapValues::Mask mask, int row, int columns) {
    if (mask == MapValues::Mask::Above) return {0, std::min(columns, row + 1)};
    if (mask == MapValues::Mask::Below) return {std::min(columns, row), columns};
    return {0, columns};
}

/// e^x for x <= 0 within two units in the last place, in plain arithmetic that the compiler can
/// vectorize: a layer of 12 maps of 512 tokens has three million values, for which std::exp() would
/// be noticeably slow.
float exponential(float x) {
    constexpr float rounder = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
    const float low = x < -87.0F ? -87.0F : x;
    const float n = (low * 1.44269504F + rounder) - rounder;
    const float f = (low - n * 0.693359375F) + n * 2.12194440e-4F;
    const float series =
        1.0F +
        f * (1.0F +
             f * (0.5F +
                  f * (1.0F / 6 +
                       f * (1.0F / 24 + f * (1.0F / 120 + f * (1.0F / 720 + f * (1.0F / 5040)))))));
    const float power = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
    return x < -87.0F ? 0.0F : series * power;
}

/// Minimum and maximum, ignoring NaN. Eight lanes, as the compiler must not reorder a single chain
/// of comparisons.
Extent plainExtent(const float* row, int count) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    constexpr int lanes = 8;
    float low[lanes];
    float high[lanes];
    std::fill(low, low + lanes, inf);
    std::fill(high, high + lanes, -inf);
    int j = 0;
    for (; j + lanes <= count; j += lanes)
        for (int k = 0; k < lanes; ++k) {
            const float v = row[j + k];
            low[k] = v < low[k] ? v : low[k];
            high[k] = v > high[k] ? v : high[k];
        }
    for (; j < count; ++j) {
        low[0] = row[j] < low[0] ? row[j] : low[0];
        high[0] = row[j] > high[0] ? row[j] : high[0];
    }
    Extent e{*std::min_element(low, low + lanes), *std::max_element(high, high + lanes), false};
    e.any = e.low <= e.high;
    return e;
}

Extent extentOfRow(const float* row, int first, int last) {
    const Extent quick = plainExtent(row + first, last - first);
    if (quick.any && std::isfinite(quick.low) && std::isfinite(quick.high)) return quick;
    Extent slow;
    for (int j = first; j < last; ++j)
        if (std::isfinite(row[j])) slow.include({row[j], row[j], true});
    return slow;
}

void softmaxRow(float* row, int count) {
    bool broken = count == 0;
    for (int j = 0; j < count; ++j) broken |= row[j] != row[j];
    const float top = plainExtent(row, count).high;
    if (broken || !std::isfinite(top)) {
        std::fill(row, row + count, nan);
        return;
    }
    for (int j = 0; j < count; ++j) row[j] = exponential(row[j] - top);
    double sum = 0.0;
    for (int j = 0; j < count; ++j) sum += row[j];
    const auto scale = static_cast<float>(1.0 / sum);
    for (int j = 0; j < count; ++j) row[j] *= scale;
}

/// Keeps the k entries of largest size, of equal ones the first; NaN is kept, so that it is
/// visible.
void topRow(float* row, int count, int k, std::vector<float>& best) {
    if (k >= count) return;
    // The k largest magnitudes in descending order. Most entries need only the comparison with the
    // last one.
    best.clear();
    for (int j = 0; j < count; ++j) {
        const float size = std::abs(row[j]);
        const bool room = static_cast<int>(best.size()) < k;
        if (size != size || (!room && size <= best.back())) continue;
        if (!room) best.pop_back();
        best.insert(std::upper_bound(best.begin(), best.end(), size, std::greater<>()), size);
    }
    if (best.empty()) return;
    const float bound = best.back();
    auto equal = std::count(best.begin(), best.end(), bound);
    for (int j = 0; j < count; ++j) {
        const float size = std::abs(row[j]);
        if (size > bound || size != size || (size == bound && equal-- > 0)) continue;
        row[j] = 0.0F;
    }
}

MapValues::Mask maskOf(const RelationMap& map) {
    return map.causal ? MapValues::Mask::Above : MapValues::Mask::None;
}

MapValues pool(const float* values, int rows, int columns, MapValues::Mask mask, int block) {
    MapValues out;
    out.rows = (rows + block - 1) / block;
    out.columns = (columns + block - 1) / block;
    out.mask = mask;
    out.values.assign(static_cast<std::size_t>(out.rows) * out.columns, 0.0F);
    std::vector<float> best(static_cast<std::size_t>(columns));
    for (int r = 0; r < out.rows; ++r) {
        std::fill(best.begin(), best.end(), 0.0F);
        const int end = std::min((r + 1) * block, rows);
        for (int i = r * block; i < end; ++i) {
            // First down the columns: a simple loop over a row, which the compiler can vectorize.
            const float* row = values + static_cast<std::size_t>(i) * columns;
            const auto [first, last] = openColumns(mask, i, columns);
            for (int j = first; j < last; ++j) {
                const float b = best[static_cast<std::size_t>(j)];
                // Comparisons with NaN are false: it is accepted by the first one and kept by the
                // second.
                best[static_cast<std::size_t>(j)] =
                    (std::abs(row[j]) <= std::abs(b)) | (b != b) ? b : row[j];
            }
        }
        float* to = out.values.data() + static_cast<std::size_t>(r) * out.columns;
        for (int j = 0; j < columns; ++j) {
            float& kept = to[j / block];
            const float b = best[static_cast<std::size_t>(j)];
            if (std::isnan(kept)) continue;
            if (std::isnan(b) || std::abs(b) > std::abs(kept)) kept = b;
        }
    }
    return out;
}

}  // namespace

const char* processingName(Processing processing) {
    switch (processing) {
        case Processing::Raw:
            return "raw";
        case Processing::Tanh:
            return "tanh";
        case Processing::Sigmoid:
            return "sigmoid";
        case Processing::SoftmaxOverJ:
            return "softmax over j";
        case Processing::TopK:
            return "top k";
    }
    return "";
}

const char* rangeName(Range range) {
    switch (range) {
        case Range::ThisMap:
            return "This map";
        case Range::ThisLayer:
            return "This layer";
        case Range::WholeModel:
            return "Whole model";
        case Range::Fixed:
            return "Fixed";
    }
    return "";
}

void Extent::include(const Extent& other) {
    if (!other.any) return;
    low = any ? std::min(low, other.low) : other.low;
    high = any ? std::max(high, other.high) : other.high;
    any = true;
}
float Extent::magnitude() const {
    return any ? std::max(std::abs(low), std::abs(high)) : 0.0F;
}

MapValues::Row MapValues::row(int row) const {
    Row cells;
    for (int j = 0; j < columns; ++j) {
        cells.values.push_back(at(row, j));
        cells.masked.push_back(masked(row, j));
    }
    return cells;
}

float processedValue(float value, Processing processing) {
    if (processing == Processing::Tanh) return std::tanh(value);
    if (processing == Processing::Sigmoid) return 1.0F / (1.0F + std::exp(-value));
    return value;
}

MapValues processed(const RelationMap& map, Processing processing, int topK) {
    MapValues out{map.rows, map.columns, map.values, maskOf(map)};
    if (out.empty()) return {};
    out.values.resize(static_cast<std::size_t>(map.rows) * map.columns, nan);
    std::vector<float> best;
    for (int i = 0; i < out.rows; ++i) {
        float* row = out.values.data() + static_cast<std::size_t>(i) * out.columns;
        const int open = openColumns(out.mask, i, out.columns).second;
        switch (processing) {
            case Processing::Raw:
                break;
            case Processing::Tanh:
            case Processing::Sigmoid:
                for (int j = 0; j < open; ++j) row[j] = processedValue(row[j], processing);
                break;
            case Processing::SoftmaxOverJ:
                softmaxRow(row, open);
                break;
            case Processing::TopK:
                topRow(row, open, std::max(1, topK), best);
                break;
        }
        std::fill(row + open, row + out.columns, 0.0F);
    }
    return out;
}

RelationMap product(const RelationMap& attention, const RelationMap& relation) {
    RelationMap out;
    out.kind = MapKind::AttentionTimesRelation;
    out.layer = relation.layer;
    out.index = relation.index;
    if (attention.rows != relation.rows || attention.columns != relation.columns) return out;
    out.rows = relation.rows;
    out.columns = relation.columns;
    out.causal = relation.causal || attention.causal;
    out.values.resize(relation.values.size());
    const std::size_t count = std::min(attention.values.size(), relation.values.size());
    for (std::size_t k = 0; k < count; ++k)
        out.values[k] = attention.values[k] * relation.values[k];
    return out;
}

MapValues transposed(const MapValues& values) {
    MapValues out;
    out.rows = values.columns;
    out.columns = values.rows;
    out.mask = values.mask == MapValues::Mask::Above   ? MapValues::Mask::Below
               : values.mask == MapValues::Mask::Below ? MapValues::Mask::Above
                                                       : MapValues::Mask::None;
    out.values.resize(values.values.size());
    constexpr int tile = 32;  // small enough that both sides of a tile stay in the first cache
    for (int r0 = 0; r0 < values.rows; r0 += tile)
        for (int c0 = 0; c0 < values.columns; c0 += tile)
            for (int r = r0; r < std::min(r0 + tile, values.rows); ++r)
                for (int c = c0; c < std::min(c0 + tile, values.columns); ++c)
                    out.values[static_cast<std::size_t>(c) * out.columns + r] = values.at(r, c);
    return out;
}

MapValues pooled(const MapValues& values, int block) {
    if (block <= 1 || values.empty()) return values;
    return pool(values.values.data(), values.rows, values.columns, values.mask, block);
}

MapValues pooled(const RelationMap& map, int block) {
    if (block <= 1 || map.rows <= 0 || map.columns <= 0 ||
        map.values.size() < static_cast<std::size_t>(map.rows) * map.columns)
        return processed(map, Processing::Raw);
    return pool(map.values.data(), map.rows, map.columns, maskOf(map), block);
}

Extent extentOf(const MapValues& values) {
    Extent all;
    for (int i = 0; i < values.rows; ++i) {
        const auto [first, last] = openColumns(values.mask, i, values.columns);
        all.include(extentOfRow(values.values.data() + static_cast<std::size_t>(i) * values.columns,
                                first, last));
    }
    return all;
}

Extent extentOf(const RelationMap& map) {
    Extent all;
    if (map.values.size() <
        static_cast<std::size_t>(std::max(0, map.rows)) * std::max(0, map.columns))
        return all;
    for (int i = 0; i < map.rows; ++i) {
        const int open = openColumns(maskOf(map), i, map.columns).second;
        all.include(
            extentOfRow(map.values.data() + static_cast<std::size_t>(i) * map.columns, 0, open));
    }
    return all;
}

std::vector<float> valueSample(const RelationMap& map) {
    constexpr std::size_t most = 4096;
    std::vector<float> values;
    const auto cells = static_cast<std::size_t>(std::max(0, map.rows)) *
                       static_cast<std::size_t>(std::max(0, map.columns));
    if (map.values.size() < cells) return values;
    const auto take = [&](std::size_t cell) {
        const int i = static_cast<int>(cell / static_cast<std::size_t>(map.columns));
        const int j = static_cast<int>(cell % static_cast<std::size_t>(map.columns));
        if (!map.masked(i, j) && std::isfinite(map.values[cell]))
            values.push_back(map.values[cell]);
    };
    if (cells <= most) {
        for (std::size_t cell = 0; cell < cells; ++cell) take(cell);
        return values;
    }
    // Multiples of the golden ratio are evenly distributed modulo 1 and not periodic for any width.
    constexpr double golden = 0.6180339887498949;
    for (std::size_t k = 0; k < most; ++k) {
        const double place = golden * static_cast<double>(k);
        take(static_cast<std::size_t>((place - std::floor(place)) * static_cast<double>(cells)));
    }
    return values;
}

Extent percentiles(std::vector<float> values) {
    if (values.empty()) return {};
    const auto at = [&values](double fraction) {
        const double place = fraction * static_cast<double>(values.size() - 1);
        const auto below = static_cast<std::ptrdiff_t>(place);
        const auto lower = values.begin() + below;
        std::nth_element(values.begin(), lower, values.end());
        if (lower + 1 == values.end()) return *lower;
        const float upper = *std::min_element(lower + 1, values.end());
        return *lower + static_cast<float>(place - static_cast<double>(below)) * (upper - *lower);
    };
    return {at(0.02), at(0.98), true};
}

double saturatedFraction(const MapValues& values, Processing processing) {
    constexpr float end = 0.99F;
    if (processing != Processing::Tanh && processing != Processing::Sigmoid) return 0.0;
    std::size_t all = 0, saturated = 0;
    for (int i = 0; i < values.rows; ++i) {
        const auto [first, last] = openColumns(values.mask, i, values.columns);
        for (int j = first; j < last; ++j) {
            const float v = values.at(i, j);
            if (v != v) continue;
            ++all;
            saturated +=
                std::abs(v) >= end || (processing == Processing::Sigmoid && v <= 1.0F - end);
        }
    }
    return all == 0 ? 0.0 : static_cast<double>(saturated) / static_cast<double>(all);
}

Limits limitsOf(const Extent& extent, bool isSigned) {
    if (isSigned) {
        const float top = extent.magnitude();
        return top > 0.0F ? Limits{-top, top} : Limits{-1.0F, 1.0F};
    }
    const float low = extent.any ? std::min(0.0F, extent.low) : 0.0F;
    const float high = extent.any ? extent.high : 1.0F;
    return high > low ? Limits{low, high} : Limits{low, low + 1.0F};
}

}  // namespace relascope::widgets
