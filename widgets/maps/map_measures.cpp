// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/map_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace relascope::widgets {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

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

/// Of the pairs among the rows that were read.
float symmetryOf(const RelationMap& map, const RowSample& sample) {
    if (map.rows != map.columns || map.kind == MapKind::Symbols) return nan;
    double sum = 0.0, difference = 0.0;
    bool bothHalves = !map.causal;
    const auto at = [&](std::size_t a, std::size_t b) {
        return static_cast<double>(sample.values[a * static_cast<std::size_t>(map.columns) +
                                                 static_cast<std::size_t>(sample.rows[b])]);
    };
    for (std::size_t a = 0; a < sample.rows.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
            const double there = at(a, b), back = at(b, a);
            bothHalves |= back != 0.0;
            sum += (there + back) * (there + back);
            difference += (there - back) * (there - back);
        }
    const double all = std::sqrt(sum) + std::sqrt(difference);
    return bothHalves && all > 0.0 ? static_cast<float>(std::sqrt(sum) / all) : nan;
}

}  // namespace

MapMeasures::MapMeasures() : magnitude(nan), symmetry(nan), entropy(nan), spread(nan) {}

float MapMeasures::of(MapOrder order) const {
    switch (order) {
        case MapOrder::Symmetry:
            return symmetry;
        case MapOrder::Entropy:
            return entropy;
        case MapOrder::Spread:
            return spread;
        default:
            return magnitude;
    }
}

MapMeasures measuresOf(const RelationMap& map, int mostRows) {
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
    }
    return "";
}

}  // namespace relascope::widgets
