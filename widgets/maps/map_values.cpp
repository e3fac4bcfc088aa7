// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "probe/head_places.h"
#include "widgets/maps/map_values.h"

namespace relascope::widgets {
namespace {

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

void softmaxRow(float* row, int count) {
    bool broken = count == 0;
    for (int j = 0; j < count; ++j) broken |= row[j] != row[j];
    const float top = plainExtent(row, count).high;
    if (broken || !std::isfinite(top)) {
        std::fill(row, row + count, NAN);
        return;
    }
    for (int j = 0; j < count; ++j) row[j] = exponential(row[j] - top);
    double sum = 0.0;
    for (int j = 0; j < count; ++j) sum += row[j];
    const auto scale = static_cast<float>(1.0 / sum);
    for (int j = 0; j < count; ++j) row[j] *= scale;
}

/// The softmax of the cells that have a value.
void softmaxBetweenGaps(float* row, int count) {
    std::vector<float> values;
    std::copy_if(row, row + count, std::back_inserter(values), [](float v) { return v == v; });
    softmaxRow(values.data(), static_cast<int>(values.size()));
    auto next = values.begin();
    for (int j = 0; j < count; ++j)
        if (row[j] == row[j]) row[j] = *next++;
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

void processRow(float* row, const RelationMap& map, int i, Processing processing, int topK,
                std::vector<float>& best) {
    const int columns = map.columns, open = openColumns(maskOf(map), i, columns).second;
    switch (processing) {
        case Processing::Raw:
            break;
        case Processing::Tanh:
        case Processing::Sigmoid:
        case Processing::Sign:
            for (int j = 0; j < open; ++j) row[j] = processedValue(row[j], processing);
            break;
        case Processing::SoftmaxOverJ:
            hasGaps(map) ? softmaxBetweenGaps(row, open) : softmaxRow(row, open);
            break;
        case Processing::TopK:
            topRow(row, open, std::max(1, topK), best);
            break;
    }
    std::fill(row + open, row + columns, 0.0F);
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
        case Processing::Sign:
            return "sign";
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

float processedValue(float value, Processing processing) {
    if (processing == Processing::Tanh) return std::tanh(value);
    if (processing == Processing::Sigmoid) return 1.0F / (1.0F + std::exp(-value));
    if (processing == Processing::Sign && value == value)
        return static_cast<float>((value > 0.0F) - (value < 0.0F));
    return value;
}

MapValues processed(const RelationMap& map, Processing processing, int topK) {
    MapValues out = valuesOf(map);
    std::vector<float> best;
    for (int i = 0; i < out.rows; ++i)
        processRow(out.values.data() + static_cast<std::size_t>(i) * out.columns, map, i,
                   processing, topK, best);
    return out;
}

std::vector<float> processedRow(const RelationMap& map, int row, Processing processing, int topK) {
    std::vector<float> out, best;
    if (row < 0 || row >= map.rows || map.columns <= 0 || !map.complete()) return out;
    out.resize(static_cast<std::size_t>(map.columns));
    map.readRows(row, 1, out.data());
    processRow(out.data(), map, row, processing, topK, best);
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
    out.fitted = relation.fitted;
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
    out.gaps = values.gaps;
    out.values.resize(values.values.size());
    constexpr int tile = 32;  // small enough that both sides of a tile stay in the first cache
    for (int r0 = 0; r0 < values.rows; r0 += tile)
        for (int c0 = 0; c0 < values.columns; c0 += tile)
            for (int r = r0; r < std::min(r0 + tile, values.rows); ++r)
                for (int c = c0; c < std::min(c0 + tile, values.columns); ++c)
                    out.values[static_cast<std::size_t>(c) * out.columns + r] = values.at(r, c);
    return out;
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

namespace {

/// Some rows of a map, spread evenly; the last one is one of them.
struct RowSample {
    RowSample(const RelationMap& map, int most) {
        const int count = std::min(most, map.rows);
        values.resize(static_cast<std::size_t>(count) * map.columns);
        for (int k = 0; k < count; ++k)
            rows.push_back(static_cast<int>(static_cast<std::int64_t>(k + 1) * map.rows / count) -
                           1);
        if (count == map.rows)
            map.readRows(0, count, values.data());
        else
            for (int k = 0; k < count; ++k)
                map.readRows(rows[static_cast<std::size_t>(k)], 1,
                             values.data() + static_cast<std::size_t>(k) * map.columns);
    }
    std::vector<int> rows;
    std::vector<float> values;
};

/// Measures the pairs among the rows that were read.
float symmetryOf(const RelationMap& map, const RowSample& sample) {
    if (map.rows != map.columns || map.kind == MapKind::Symbols) return NAN;
    double sum = 0.0, difference = 0.0;
    bool bothHalves = !map.causal;
    const auto at = [&](std::size_t a, std::size_t b) {
        return static_cast<double>(sample.values[a * static_cast<std::size_t>(map.columns) +
                                                 static_cast<std::size_t>(sample.rows[b])]);
    };
    for (std::size_t a = 0; a < sample.rows.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
            const double there = at(a, b), back = at(b, a);
            if (hasGaps(map) && std::isnan(there + back)) continue;
            bothHalves |= back != 0.0;
            sum += (there + back) * (there + back);
            difference += (there - back) * (there - back);
        }
    const double all = std::sqrt(sum) + std::sqrt(difference);
    return bothHalves && all > 0.0 ? static_cast<float>(std::sqrt(sum) / all) : NAN;
}

}  // namespace

MapMeasures::MapMeasures() : magnitude(NAN), symmetry(NAN), entropy(NAN), spread(NAN) {
    places.fill(NAN);
}

float MapMeasures::of(MapOrder order) const {
    switch (order) {
        case MapOrder::Symmetry:
            return symmetry;
        case MapOrder::Entropy:
            return entropy;
        case MapOrder::Spread:
            return spread;
        case MapOrder::Index:
        case MapOrder::Magnitude:
            return magnitude;
        default:
            return places.at(static_cast<std::size_t>(order) - kFirstPlace);
    }
}

MapMeasures measuresOf(const RelationMap& map, const core::HeadPlaces* places, int mostRows) {
    MapMeasures out;
    if (map.cells() == 0 || !map.complete()) return out;
    const RowSample sample(map, std::max(1, mostRows));
    const bool attention =
        map.kind == MapKind::RelationalAttention || map.kind == MapKind::SensoryAttention;
    double sum = 0.0, squares = 0.0, entropy = 0.0;
    std::size_t count = 0;
    float largest = 0.0F;
    for (std::size_t k = 0; k < sample.rows.size(); ++k) {
        const float* row = sample.values.data() + k * static_cast<std::size_t>(map.columns);
        const int open = map.causal ? std::min(map.columns, sample.rows[k] + 1) : map.columns;
        for (int j = 0; j < open; ++j) {
            const float v = row[j];
            if (!std::isfinite(v)) continue;
            ++count;
            largest = std::max(largest, std::abs(v));
            sum += v;
            squares += static_cast<double>(v) * v;
            if (attention && v > 0.0F) entropy -= static_cast<double>(v) * std::log(v);
        }
    }
    if (count == 0) return out;
    const double mean = sum / static_cast<double>(count);
    out.magnitude = largest;
    out.spread = static_cast<float>(
        std::sqrt(std::max(0.0, squares / static_cast<double>(count) - mean * mean)));
    if (attention)
        out.entropy = static_cast<float>(entropy / static_cast<double>(sample.rows.size()));
    out.symmetry = symmetryOf(map, sample);
    if (!places || !places->fits(map)) return out;
    const auto shares = places->of(sample.rows, sample.values.data(), map.causal);
    for (std::size_t m = 0; m < shares.size(); ++m)
        for (int order = kFirstPlace; order < kMapOrders; ++order)
            if (places->measures()[m] == measureName(static_cast<MapOrder>(order)))
                out.places.at(static_cast<std::size_t>(order - kFirstPlace)) =
                    static_cast<float>(shares[m]);
    return out;
}

const char* measureName(MapOrder order) {
    switch (order) {
        case MapOrder::Index:
            return "index";
        case MapOrder::Magnitude:
            return "largest |value|";
        case MapOrder::Symmetry:
            return "symmetry";
        case MapOrder::Entropy:
            return "entropy";
        case MapOrder::Spread:
            return "spread";
        case MapOrder::Previous:
            return "previous token";
        case MapOrder::Duplicate:
            return "duplicate token";
        case MapOrder::Induction:
            return "induction";
        case MapOrder::Itself:
            return "itself";
        case MapOrder::First:
            return "first token";
        case MapOrder::ClassToken:
            return "class token";
        case MapOrder::Neighbours:
            return "neighbours";
    }
    return "";
}

const char* measureText(MapOrder order) {
    switch (order) {
        case MapOrder::Index:
            return "In the order of the model";
        case MapOrder::Magnitude:
            return "Largest |r| or attention weight";
        case MapOrder::Symmetry:
            return "|R + R^T| / (|R + R^T| + |R - R^T|): 1 is symmetric, 0 antisymmetric; "
                   "not known where a causal mask leaves out one half";
        case MapOrder::Entropy:
            return "Entropy of attention in nats, mean over rows: 0 looks at one token";
        case MapOrder::Spread:
            return "Standard deviation of the values";
        case MapOrder::Previous:
            return "Mean attention to the previous token of this input";
        case MapOrder::Duplicate:
            return "Mean attention to earlier copies of the token, where this input has any";
        case MapOrder::Induction:
            return "Mean attention to the tokens after earlier copies of the token, where this "
                   "input has any";
        case MapOrder::Itself:
            return "Mean attention of a token or patch to itself";
        case MapOrder::First:
            return "Mean attention to the first token";
        case MapOrder::ClassToken:
            return "Mean attention of patches to the class token";
        case MapOrder::Neighbours:
            return "Mean attention of a patch to the patches around it";
    }
    return "";
}

}  // namespace relascope::widgets
