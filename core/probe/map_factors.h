// SPDX-License-Identifier: GPL-3.0-or-later
// Maps kept as the factors that they are products of, and made when they are read. Does not include
// torch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "types/relation_map.h"

namespace relascope::core {

/// The maps of one kind in one layer: cell (i, j) of map m is
///     activation(scale <queries[m, i], keys[g, j]>),   g = m / (maps / groups),
/// where the activation is one of applyActivation (layers.h); softmax runs over j.
struct MapFactors {
    std::int64_t maps = 0, groups = 0, rows = 0, columns = 0, width = 0;
    std::vector<float> queries;  ///< [maps, rows, width]
    /// [groups, width, columns]: as columns of keys, since a row of a map reads all of them. Shared
    /// by the layers that read the same keys, as the keys of a library of symbols.
    std::shared_ptr<const std::vector<float>> keys;
    double scale = 1.0;
    std::string activation = "identity";
    /// Cells j > i take no part in a softmax, and are 0 after any activation.
    bool causal = false;

    /// The number of floats of the factors, keys included.
    std::uint64_t floats() const { return floats(maps, groups, rows, columns, width); }
    static std::uint64_t floats(std::int64_t maps, std::int64_t groups, std::int64_t rows,
                                std::int64_t columns, std::int64_t width) {
        return static_cast<std::uint64_t>((maps * rows + groups * columns) * width);
    }
    /// The number of floats of the maps themselves.
    std::uint64_t mapFloats() const { return static_cast<std::uint64_t>(maps * rows * columns); }
};

/// Makes maps from factors, in blocks of rows.
class FactoredMaps final : public MapSource {
public:
    /// Maps from `factors`. Throws Error if the sizes of the vectors do not match.
    explicit FactoredMaps(MapFactors factors);
    const MapFactors& factors() const { return m_factors; }

    void rows(int index, int first, int count, float* out) const override;
    float cell(int index, int row, int column, int columns) const override;
    std::int64_t cost() const override { return m_factors.width; }

private:
    MapFactors m_factors;
};

/// The library row of every pair (i, j): clamp(j - i, -most, most) + most.
class OffsetRows final : public MapSource {
public:
    OffsetRows(std::int64_t columns, std::int64_t most) : m_columns(columns), m_most(most) {}
    std::int64_t most() const { return m_most; }

    void rows(int index, int first, int count, float* out) const override;
    float cell(int index, int row, int column, int columns) const override;

private:
    std::int64_t m_columns, m_most;
};

/// The weights of positional symbols: 1 where j = i.
class IdentityRows final : public MapSource {
public:
    explicit IdentityRows(std::int64_t columns) : m_columns(columns) {}

    void rows(int index, int first, int count, float* out) const override;
    float cell(int, int row, int column, int) const override { return row == column ? 1.0F : 0.0F; }

private:
    std::int64_t m_columns;
};

}  // namespace relascope::core
