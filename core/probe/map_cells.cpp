// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "types/map_cells.h"
#include "types/map_colors.h"

namespace relascope {
namespace {

Extent extentOfRow(const float* row, int first, int last) {
    const Extent quick = plainExtent(row + first, last - first);
    if (quick.any && std::isfinite(quick.low) && std::isfinite(quick.high)) return quick;
    Extent slow;
    for (int j = first; j < last; ++j)
        if (std::isfinite(row[j])) slow.include({row[j], row[j], true});
    return slow;
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

/// Cells that share `pixels` for every `cells` of them: cell k is in pixel k * pixels / cells.
struct Pooling {
    int pixels = 1, cells = 1;
    int at(int k) const { return static_cast<int>(static_cast<std::int64_t>(k) * pixels / cells); }
    int size(int count) const { return count > 0 ? at(count - 1) + 1 : 0; }
};

/// Pools by the largest |value|; `visit` calls its argument with each row.
template <class Rows>
MapValues pool(int rows, int columns, MapValues::Mask mask, bool gaps, Pooling pooling,
               Rows visit) {
    MapValues out;
    out.gaps = gaps;
    out.rows = pooling.size(rows);
    out.columns = pooling.size(columns);
    out.mask = mask;
    // A block of gaps alone is one.
    const float none = gaps ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
    out.values.assign(static_cast<std::size_t>(out.rows) * out.columns, none);
    std::vector<float> best(static_cast<std::size_t>(columns));
    std::vector<int> place(static_cast<std::size_t>(columns));
    for (int j = 0; j < columns; ++j) place[static_cast<std::size_t>(j)] = pooling.at(j);
    visit([&](int i, const float* row) {
        const int pixel = pooling.at(i);
        if (i == 0 || pooling.at(i - 1) != pixel) std::fill(best.begin(), best.end(), none);
        // First down the columns: a simple loop over a row, which the compiler can vectorize.
        const auto [first, last] = openColumns(mask, i, columns);
        for (int j = first; j < last && !gaps; ++j) {
            const float b = best[static_cast<std::size_t>(j)];
            // Comparisons with NaN are false: it is accepted by the first one and kept by the
            // second.
            best[static_cast<std::size_t>(j)] =
                (std::abs(row[j]) <= std::abs(b)) | (b != b) ? b : row[j];
        }
        for (int j = first; j < last && gaps; ++j) {
            float& b = best[static_cast<std::size_t>(j)];
            if (row[j] == row[j] && !(std::abs(row[j]) <= std::abs(b))) b = row[j];
        }
        if (i + 1 != rows && pooling.at(i + 1) == pixel) return;
        float* to = out.values.data() + static_cast<std::size_t>(pixel) * out.columns;
        for (int j = 0; j < columns; ++j) {
            float& kept = to[place[static_cast<std::size_t>(j)]];
            const float b = best[static_cast<std::size_t>(j)];
            if (std::isnan(gaps ? b : kept)) continue;
            if (std::isnan(gaps ? kept : b) || std::abs(b) > std::abs(kept)) kept = b;
        }
    });
    return out;
}

/// The open cells of some rows, spread evenly: a row of attention costs as much as one of its
/// cells.
std::vector<float> sampledRows(const RelationMap& map, int count) {
    std::vector<float> values, row(static_cast<std::size_t>(map.columns));
    for (int k = 0; k < count; ++k) {
        const int i =
            static_cast<int>((2 * k + 1) * static_cast<std::int64_t>(map.rows) / (2 * count));
        map.readRows(i, 1, row.data());
        for (int j = 0; j < map.columns && !map.masked(i, j); ++j)
            if (std::isfinite(row[static_cast<std::size_t>(j)]))
                values.push_back(row[static_cast<std::size_t>(j)]);
    }
    return values;
}

}  // namespace

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

std::pair<int, int> openColumns(MapValues::Mask mask, int row, int columns) {
    if (mask == MapValues::Mask::Above) return {0, std::min(columns, row + 1)};
    if (mask == MapValues::Mask::Below) return {std::min(columns, row), columns};
    return {0, columns};
}

MapValues::Mask maskOf(const RelationMap& map) {
    return map.causal ? MapValues::Mask::Above : MapValues::Mask::None;
}

bool hasGaps(const RelationMap& map) {
    return !map.fitted.empty();
}

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

MapValues valuesOf(const RelationMap& map) {
    if (map.rows <= 0 || map.columns <= 0) return {};
    MapValues out{map.rows, map.columns, map.all(), maskOf(map), hasGaps(map)};
    out.values.resize(map.cells(), std::numeric_limits<float>::quiet_NaN());
    for (int i = 0; i < out.rows; ++i) {
        const auto row = out.values.begin() + static_cast<std::ptrdiff_t>(i) * out.columns;
        std::fill(row + openColumns(out.mask, i, out.columns).second, row + out.columns, 0.0F);
    }
    return out;
}

MapValues pooled(const MapValues& values, int block) {
    return pooled(values, 1, block);
}

MapValues pooled(const MapValues& values, int pixels, int cells) {
    if (cells <= pixels || values.empty()) return values;
    return pool(values.rows, values.columns, values.mask, values.gaps, {pixels, cells},
                [&](const auto& visit) {
                    for (int i = 0; i < values.rows; ++i)
                        visit(i,
                              values.values.data() + static_cast<std::size_t>(i) * values.columns);
                });
}

MapValues pooled(const RelationMap& map, int block) {
    if (block <= 1 || map.rows <= 0 || map.columns <= 0 || !map.complete()) return valuesOf(map);
    return pool(map.rows, map.columns, maskOf(map), hasGaps(map), {1, block},
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
        // The last row is included: in a causal map it has all columns.
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

Limits limitsOf(const Extent& extent, bool isSigned) {
    if (isSigned) {
        const float top = extent.magnitude();
        return top > 0.0F ? Limits{-top, top} : Limits{-1.0F, 1.0F};
    }
    const float low = extent.any ? std::min(0.0F, extent.low) : 0.0F;
    const float high = extent.any ? extent.high : 1.0F;
    return high > low ? Limits{low, high} : Limits{low, low + 1.0F};
}

bool endsAtPercentiles(const RelationMap& map) {
    if (map.kind == MapKind::Relation) return true;
    const bool attention =
        map.kind == MapKind::RelationalAttention || map.kind == MapKind::SensoryAttention;
    return attention && map.columns > kManyObjects;
}

std::vector<float> scaleSample(const RelationMap& map, int maps) {
    constexpr int all = 65536, most = 4096, least = 64;
    return map.kind == MapKind::Relation
               ? valueSample(map, std::clamp(all / std::max(1, maps), least, most))
               : sampledRows(map, std::max(4, 128 / std::max(1, maps)));
}

namespace {

std::size_t filledLength(const std::vector<std::string>& words) {
    std::size_t count = words.size();
    while (count > 0 && words[count - 1].empty()) --count;
    return count;
}

void shorten(ProbeSequence& sequence, std::size_t count) {
    if (sequence.width == 0 && sequence.tokens.size() > count) sequence.tokens.resize(count);
    if (sequence.labels.size() > count) sequence.labels.resize(count);
}

/// The length of a side without padding. Captures may contain only the labels of the side.
std::size_t shownOf(const ProbeSequence& sequence, const ProbeSide& side) {
    const bool own = sequence.text && sequence.labels.size() == sequence.tokens.size();
    return filledLength(own && !sequence.labels.empty() ? sequence.labels : side.labels);
}

/// Chosen rows and columns of another map.
class CutSource : public MapSource {
public:
    using Indices = std::shared_ptr<const std::vector<int>>;
    CutSource(std::shared_ptr<const RelationMap> map, Indices rows, Indices columns)
        : m_map(std::move(map)), m_rows(std::move(rows)), m_columns(std::move(columns)) {}

    void rows(int, int first, int count, float* out) const override {
        std::vector<float> whole(static_cast<std::size_t>(m_map->columns));
        for (int i = first; i < first + count; ++i) {
            m_map->readRows(m_rows->at(static_cast<std::size_t>(i)), 1, whole.data());
            for (const int j : *m_columns) *out++ = whole[static_cast<std::size_t>(j)];
        }
    }
    float cell(int, int row, int column, int) const override {
        return m_map->at(m_rows->at(static_cast<std::size_t>(row)),
                         m_columns->at(static_cast<std::size_t>(column)));
    }
    std::int64_t cost() const override { return m_map->source ? m_map->source->cost() : 1; }

private:
    std::shared_ptr<const RelationMap> m_map;
    Indices m_rows, m_columns;
};

/// `map` is kept alive by the source of its part.
RelationMap cut(std::shared_ptr<const RelationMap> map, CutSource::Indices rows,
                CutSource::Indices columns) {
    RelationMap out{map->kind,
                    map->layer,
                    map->index,
                    static_cast<int>(rows->size()),
                    static_cast<int>(columns->size()),
                    {},
                    map->causal,
                    map->libraryRows};
    out.source = std::make_shared<CutSource>(std::move(map), std::move(rows), std::move(columns));
    return out;
}

const ProbeLayer* layerOf(const ProbeResult& result, int layer) {
    return layer >= 0 && layer < static_cast<int>(result.layers.size())
               ? &result.layers[static_cast<std::size_t>(layer)]
               : nullptr;
}

}  // namespace

int rowSide(const ProbeResult& result, int layer) {
    const ProbeLayer* known = layerOf(result, layer);
    return known ? known->rows : 0;
}
int columnSide(const ProbeResult& result, int layer) {
    const ProbeLayer* known = layerOf(result, layer);
    return known ? known->columns : 0;
}

std::shared_ptr<const ProbeResult> withoutPadding(std::shared_ptr<const ProbeResult> result,
                                                  int* leftOut) {
    *leftOut = 0;
    // Only pairs of sequences are filled up: "source" and "target" are their sides.
    if (!result || result->sides.size() < 2 || result->sides[0].name != "source") return result;
    const auto& sides = result->sides;
    const std::size_t all = sides[0].labels.size(),
                      shown = shownOf(result->sample.source, sides[0]),
                      answer = shownOf(result->sample.target, sides[1]);
    if (shown == 0 || answer == 0 || (shown == all && answer == sides[1].labels.size()))
        return result;

    auto out = std::make_shared<ProbeResult>();
    out->step = result->step;
    out->sample = result->sample;
    out->classNames = result->classNames;
    out->probabilities = result->probabilities;
    out->layers = result->layers;
    out->partial = result->partial;
    *leftOut = static_cast<int>(all - shown);
    shorten(out->sample.source, shown);
    shorten(out->sample.target, answer);
    std::vector<std::shared_ptr<const std::vector<int>>> kept;  // kept elements of each side
    for (std::size_t k = 0; k < sides.size(); ++k) {
        std::vector<int> indices(k == 1 ? answer : shown);
        std::iota(indices.begin(), indices.end(), 0);
        // Encoder and abstractor are concatenated.
        if (const std::size_t count = indices.size(); k > 1 && sides[k].labels.size() == 2 * all)
            for (std::size_t i = 0; i < count; ++i) indices.push_back(static_cast<int>(all + i));
        ProbeSide side{sides[k].name, {}};
        for (const auto i : indices)
            if (static_cast<std::size_t>(i) < sides[k].labels.size())
                side.labels.push_back(sides[k].labels[static_cast<std::size_t>(i)]);
        out->sides.push_back(std::move(side));
        kept.push_back(std::make_shared<const std::vector<int>>(std::move(indices)));
    }
    const auto fits = [&](int side, int count) {
        return side >= 0 && side < static_cast<int>(kept.size()) &&
               count == static_cast<int>(sides[static_cast<std::size_t>(side)].labels.size());
    };
    for (const RelationMap& map : result->maps) {
        const int rows = rowSide(*result, map.layer), columns = columnSide(*result, map.layer);
        if (!map.complete() || !fits(rows, map.rows)) {
            out->maps.push_back(map);
            continue;
        }
        const auto& above = kept[static_cast<std::size_t>(rows)];
        // The columns of a table of symbols are symbols, except for library rows of pairs.
        const bool objects = map.kind != MapKind::Symbols && fits(columns, map.columns);
        std::shared_ptr<const std::vector<int>> across = above;
        if (!map.libraryRows && objects) {
            across = kept[static_cast<std::size_t>(columns)];
        } else if (!map.libraryRows) {
            std::vector<int> every(static_cast<std::size_t>(map.columns));
            std::iota(every.begin(), every.end(), 0);
            across = std::make_shared<const std::vector<int>>(std::move(every));
        }
        out->maps.push_back(cut(std::shared_ptr<const RelationMap>(result, &map), above, across));
    }
    return out;
}

namespace {

Rgb between(std::span<const Rgb> stops, double t) {
    const double x = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
    const auto k = std::min(static_cast<std::size_t>(x), stops.size() - 2);
    const double f = x - static_cast<double>(k);
    const auto mix = [f](int a, int b) { return static_cast<Rgb>(std::lround(a + f * (b - a))); };
    const Rgb a = stops[k], b = stops[k + 1];
    return 0xff000000 | mix(redOf(a), redOf(b)) << 16 | mix(greenOf(a), greenOf(b)) << 8 |
           mix(blueOf(a), blueOf(b));
}

}  // namespace

ColorTable::ColorTable(std::span<const Rgb> stops, Limits limits) : m_limits(limits) {
    if (!(m_limits.high > m_limits.low)) m_limits.high = m_limits.low + 1.0F;
    m_factor = static_cast<float>(steps) / (m_limits.high - m_limits.low);
    for (int k = 0; k <= steps; ++k)
        m_table[static_cast<std::size_t>(k)] = between(stops, static_cast<double>(k) / steps);
}

}  // namespace relascope
