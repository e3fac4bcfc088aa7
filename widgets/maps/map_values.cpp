// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/map_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

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

/// Rows read at a time of a map that a source makes: enough that the source works on blocks, few
/// enough that the copy is small.
constexpr int rowsAtATime = 64;

/// Calls visit(i, row) for each row of a complete map; a source makes some of them at a time.
template <class Visit>
void visitRows(const RelationMap& map, Visit visit) {
    if (!map.source) {
        for (int i = 0; i < map.rows; ++i)
            visit(i, map.values.data() + static_cast<std::size_t>(i) * map.columns);
        return;
    }
    const int most = std::min(rowsAtATime, map.rows);
    std::vector<float> rows(static_cast<std::size_t>(most) * map.columns);
    for (int first = 0; first < map.rows; first += most) {
        const int count = std::min(most, map.rows - first);
        map.readRows(first, count, rows.data());
        for (int i = 0; i < count; ++i)
            visit(first + i, rows.data() + static_cast<std::size_t>(i) * map.columns);
    }
}

/// alpha_ij r_ij, made from the rows of both maps.
class ProductSource : public MapSource {
public:
    ProductSource(RelationMap attention, RelationMap relation)
        : m_attention(std::move(attention)), m_relation(std::move(relation)) {}

    void rows(int, int first, int count, float* out) const override {
        const std::size_t cells =
            static_cast<std::size_t>(count) * static_cast<std::size_t>(m_relation.columns);
        std::vector<float> attention(cells);
        m_attention.readRows(first, count, attention.data());
        m_relation.readRows(first, count, out);
        for (std::size_t k = 0; k < cells; ++k) out[k] *= attention[k];
    }
    float cell(int, int row, int column, int) const override {
        return m_attention.at(row, column) * m_relation.at(row, column);
    }
    std::int64_t cost() const override {
        const auto of = [](const RelationMap& map) { return map.source ? map.source->cost() : 1; };
        return of(m_attention) + of(m_relation);
    }

private:
    RelationMap m_attention, m_relation;
};

void processRow(float* row, MapValues::Mask mask, int i, int columns, Processing processing,
                int topK, std::vector<float>& best) {
    const int open = openColumns(mask, i, columns).second;
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
    std::fill(row + open, row + columns, 0.0F);
}

/// Cells that share `pixels` for every `cells` of them: cell k is in pixel k * pixels / cells.
struct Pooling {
    int pixels = 1, cells = 1;
    int at(int k) const { return static_cast<int>(static_cast<std::int64_t>(k) * pixels / cells); }
    int size(int count) const { return count > 0 ? at(count - 1) + 1 : 0; }
};

/// Pools by the largest |value|; `visit` calls its argument with each row.
template <class Rows>
MapValues pool(int rows, int columns, MapValues::Mask mask, Pooling pooling, Rows visit) {
    MapValues out;
    out.rows = pooling.size(rows);
    out.columns = pooling.size(columns);
    out.mask = mask;
    out.values.assign(static_cast<std::size_t>(out.rows) * out.columns, 0.0F);
    std::vector<float> best(static_cast<std::size_t>(columns));
    std::vector<int> place;
    for (int j = 0; j < columns; ++j) place.push_back(pooling.at(j));
    visit([&](int i, const float* row) {
        const int pixel = pooling.at(i);
        if (i == 0 || pooling.at(i - 1) != pixel) std::fill(best.begin(), best.end(), 0.0F);
        // First down the columns: a simple loop over a row, which the compiler can vectorize.
        const auto [first, last] = openColumns(mask, i, columns);
        for (int j = first; j < last; ++j) {
            const float b = best[static_cast<std::size_t>(j)];
            // Comparisons with NaN are false: it is accepted by the first one and kept by the
            // second.
            best[static_cast<std::size_t>(j)] =
                (std::abs(row[j]) <= std::abs(b)) | (b != b) ? b : row[j];
        }
        if (i + 1 != rows && pooling.at(i + 1) == pixel) return;
        float* to = out.values.data() + static_cast<std::size_t>(pixel) * out.columns;
        for (int j = 0; j < columns; ++j) {
            float& kept = to[place[static_cast<std::size_t>(j)]];
            const float b = best[static_cast<std::size_t>(j)];
            if (std::isnan(kept)) continue;
            if (std::isnan(b) || std::abs(b) > std::abs(kept)) kept = b;
        }
    });
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
    if (map.rows <= 0 || map.columns <= 0) return {};
    MapValues out{map.rows, map.columns, map.all(), maskOf(map)};
    out.values.resize(map.cells(), nan);
    std::vector<float> best;
    for (int i = 0; i < out.rows; ++i)
        processRow(out.values.data() + static_cast<std::size_t>(i) * out.columns, out.mask, i,
                   out.columns, processing, topK, best);
    return out;
}

std::vector<float> processedRow(const RelationMap& map, int row, Processing processing, int topK) {
    std::vector<float> out, best;
    if (row < 0 || row >= map.rows || map.columns <= 0 || !map.complete()) return out;
    out.resize(static_cast<std::size_t>(map.columns));
    map.readRows(row, 1, out.data());
    processRow(out.data(), maskOf(map), row, map.columns, processing, topK, best);
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
    if ((attention.source || relation.source) && attention.complete() && relation.complete()) {
        out.source = std::make_shared<ProductSource>(attention, relation);
        return out;
    }
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
    return pooled(values, 1, block);
}

MapValues pooled(const MapValues& values, int pixels, int cells) {
    if (cells <= pixels || values.empty()) return values;
    return pool(values.rows, values.columns, values.mask, {pixels, cells}, [&](const auto& visit) {
        for (int i = 0; i < values.rows; ++i)
            visit(i, values.values.data() + static_cast<std::size_t>(i) * values.columns);
    });
}

MapValues pooled(const RelationMap& map, int block) {
    if (block <= 1 || map.rows <= 0 || map.columns <= 0 || !map.complete())
        return processed(map, Processing::Raw);
    return pool(map.rows, map.columns, maskOf(map), {1, block},
                [&](const auto& visit) { visitRows(map, visit); });
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
    if (map.cells() == 0 || !map.complete()) return all;
    visitRows(map, [&](int i, const float* row) {
        all.include(extentOfRow(row, 0, openColumns(maskOf(map), i, map.columns).second));
    });
    return all;
}

Extent extentOfRows(const RelationMap& map, int count) {
    Extent all;
    if (map.cells() == 0 || !map.complete()) return all;
    count = std::clamp(count, 1, map.rows);
    std::vector<float> row(static_cast<std::size_t>(map.columns));
    for (int k = 0; k < count; ++k) {
        // The last row is one of them: of a causal map it has all columns.
        const int i = static_cast<int>(static_cast<std::int64_t>(k + 1) * map.rows / count) - 1;
        map.readRows(i, 1, row.data());
        all.include(extentOfRow(row.data(), 0, openColumns(maskOf(map), i, map.columns).second));
    }
    return all;
}

std::vector<float> valueSample(const RelationMap& map, int most) {
    std::vector<float> values;
    const std::size_t cells = map.cells(), count = static_cast<std::size_t>(std::max(1, most));
    if (cells == 0 || !map.complete()) return values;
    if (cells <= count) {
        visitRows(map, [&](int i, const float* row) {
            for (int j = 0; j < map.columns; ++j)
                if (!map.masked(i, j) && std::isfinite(row[j])) values.push_back(row[j]);
        });
        return values;
    }
    // Multiples of the golden ratio are evenly distributed modulo 1 and not periodic for any width.
    constexpr double golden = 0.6180339887498949;
    for (std::size_t k = 0; k < count; ++k) {
        const double place = golden * static_cast<double>(k);
        const auto cell =
            static_cast<std::size_t>((place - std::floor(place)) * static_cast<double>(cells));
        const int i = static_cast<int>(cell / static_cast<std::size_t>(map.columns));
        const int j = static_cast<int>(cell % static_cast<std::size_t>(map.columns));
        if (map.masked(i, j)) continue;
        if (const float value = map.at(i, j); std::isfinite(value)) values.push_back(value);
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
