// SPDX-License-Identifier: GPL-3.0-or-later
#include "probe/head_places.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>

namespace relascope::core {
namespace {

using Rows = std::vector<std::vector<int>>;

// Columns of each row, of those that `place` names; others are left out.
template <class Place>
Rows rowsOf(int size, Place place) {
    Rows rows(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) place(i, rows[static_cast<std::size_t>(i)]);
    return rows;
}

}  // namespace

HeadPlaces::HeadPlaces(const ProbeResult& result) {
    const auto add = [this](const char* name, auto place) {
        m_names.emplace_back(name);
        m_places.push_back(rowsOf(m_size, place));
    };
    const auto self = [](int i, std::vector<int>& row) { row = {i}; };
    if (result.grid.rows > 0) {
        const auto grid = result.grid;
        const int first = grid.firstTokens();
        m_size = grid.tokens();
        if (grid.classToken)
            add("class token", [](int i, std::vector<int>& row) {
                if (i > 0) row = {0};
            });
        add("itself", self);
        add("neighbours", [&](int i, std::vector<int>& row) {
            if (i < first) return;
            const int y = (i - first) / grid.columns, x = (i - first) % grid.columns;
            for (int v = std::max(0, y - 1); v <= std::min(grid.rows - 1, y + 1); ++v)
                for (int u = std::max(0, x - 1); u <= std::min(grid.columns - 1, x + 1); ++u)
                    if (u != x || v != y) row.push_back(first + v * grid.columns + u);
        });
        return;
    }
    const auto& tokens = result.sample.source.tokens;
    if (tokens.empty() || result.sample.target.size() > 0 || result.sides.size() != 1) return;
    m_size = static_cast<int>(tokens.size());
    // Earlier places of the same token.
    std::vector<std::vector<int>> copies(tokens.size());
    std::map<std::int64_t, std::vector<int>> seen;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        copies[i] = seen[tokens[i]];
        seen[tokens[i]].push_back(static_cast<int>(i));
    }
    add("previous token", [](int i, std::vector<int>& row) {
        if (i > 0) row = {i - 1};
    });
    add("duplicate token",
        [&](int i, std::vector<int>& row) { row = copies[static_cast<std::size_t>(i)]; });
    add("induction", [&](int i, std::vector<int>& row) {
        for (const int copy : copies[static_cast<std::size_t>(i)])
            if (copy + 1 < i) row.push_back(copy + 1);
    });
    add("itself", self);
    add("first token", [](int i, std::vector<int>& row) {
        if (i > 0) row = {0};
    });
}

bool HeadPlaces::fits(const RelationMap& map) const {
    return (map.kind == MapKind::SensoryAttention || map.kind == MapKind::RelationalAttention) &&
           m_size > 0 && map.rows == m_size && map.columns == m_size;
}

template <class Read>
std::vector<double> HeadPlaces::mean(const std::vector<int>& rows, bool causal, Read read) const {
    std::vector<double> sums(m_names.size(), 0.0);
    std::vector<int> counts(m_names.size(), 0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const int i = rows[k];
        const float* row = read(k);
        for (std::size_t m = 0; m < m_names.size(); ++m) {
            double share = 0.0;
            bool any = false;
            for (const int j : m_places[m][static_cast<std::size_t>(i)]) {
                if (causal && j > i) continue;
                any = true;
                share += static_cast<double>(row[j]);
            }
            if (!any) continue;
            sums[m] += share;
            ++counts[m];
        }
    }
    for (std::size_t m = 0; m < sums.size(); ++m)
        sums[m] = counts[m] > 0 ? sums[m] / counts[m] : std::numeric_limits<double>::quiet_NaN();
    return sums;
}

std::vector<int> HeadPlaces::allRows() const {
    std::vector<int> rows(static_cast<std::size_t>(m_size));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

std::vector<double> HeadPlaces::of(const RelationMap& map) const {
    std::vector<float> row(static_cast<std::size_t>(map.columns));
    return mean(allRows(), map.causal, [&](std::size_t k) {
        map.readRows(static_cast<int>(k), 1, row.data());
        return row.data();
    });
}

std::vector<double> HeadPlaces::of(const std::vector<int>& rows, const float* values,
                                   bool causal) const {
    return mean(rows, causal,
                [&](std::size_t k) { return values + k * static_cast<std::size_t>(m_size); });
}

std::vector<double> HeadPlaces::even(bool causal) const {
    std::vector<float> row(static_cast<std::size_t>(m_size));
    return mean(allRows(), causal, [&](std::size_t i) {
        const auto open = static_cast<float>(causal ? i + 1 : row.size());
        std::fill(row.begin(), row.end(), 1.0F / open);
        return row.data();
    });
}

}  // namespace relascope::core
