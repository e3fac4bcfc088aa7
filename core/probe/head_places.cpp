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
        if (grid.registers > 0)
            add("registers", [&](int i, std::vector<int>& row) {
                if (i < first) return;
                for (int j = first - grid.registers; j < first; ++j) row.push_back(j);
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

// What a head attends to by place alone
// -------------------------------------------------------------------------------------------------

PlaceShares::PlaceShares(int objects, int columns) : m_objects(objects), m_columns(columns) {}

void PlaceShares::add(int i, const float* row, bool causal, int lineStart, bool firstToken) {
    const int open = causal ? i + 1 : m_objects;
    const double each = 1.0 / open;
    const auto at = [&](int j) { return static_cast<double>(row[j]); };
    m_back[0].add(at(i), each);
    if (m_columns > 0) {
        const int y = i / m_columns, x = i % m_columns;
        double ofRow = 0.0, ofColumn = 0.0, near = 0.0, inRow = 0.0, inColumn = 0.0, nearby = 0.0;
        for (int j = 0; j < open; ++j) {
            const int v = j / m_columns, u = j % m_columns;
            if (v == y) ofRow += at(j), inRow += each;
            if (u == x) ofColumn += at(j), inColumn += each;
            if (j != i && std::abs(v - y) <= 1 && std::abs(u - x) <= 1)
                near += at(j), nearby += each;
        }
        m_row.add(ofRow, inRow), m_column.add(ofColumn, inColumn), m_near.add(near, nearby);
        return;
    }
    double sum = at(i);
    for (int back = 1; back <= std::min({kBack, i, m_objects / 2}); ++back) {
        m_back[back].add(at(i - back), each);
        if (back < kLast) {
            sum += at(i - back);
            m_last[back + 1].add(sum, each * (back + 1));
        }
    }
    if (firstToken && i > 0) m_firstToken.add(at(0), each);
    if (lineStart > 0 || (lineStart == 0 && firstToken))
        if (lineStart < i) m_line.add(at(lineStart), each);
}

std::string PlaceShares::reading() const {
    constexpr double kMost = 0.8, kOfTheRest = 0.5;
    const auto percent = [](double share) {
        return " (" +
               std::to_string(static_cast<int>(std::lround(100.0 * std::min(share, 0.995)))) +
               " %)";
    };
    const auto explains = [&](const Share& share) {
        if (share.rows <= 0) return false;
        const double weight = share.weight / share.rows, even = share.even / share.rows;
        return weight >= kMost && 1.0 - weight <= kOfTheRest * (1.0 - even);
    };
    const auto text = [&](const std::string& places, const Share& share, const char* end = "") {
        return "attends " + places + percent(share.weight / share.rows) + end;
    };
    if (explains(m_back[0]))
        return text(m_columns > 0 ? "to the patch itself" : "to the token itself", m_back[0]);
    if (m_columns > 0) {
        for (const auto& [places, share] : {std::pair("to its own row", &m_row),
                                            {"to its own column", &m_column},
                                            {"to its neighbours", &m_near}})
            if (explains(*share)) return text(places, *share, ", whatever they show");
        return {};
    }
    for (int back = 1; back <= kBack; ++back)
        if (explains(m_back[back]))
            return text(back == 1 ? "1 token back" : std::to_string(back) + " tokens back",
                        m_back[back]);
    if (explains(m_firstToken)) return text("to the first token", m_firstToken);
    if (m_first >= kMost) return "attends to the first token" + percent(m_first);
    if (explains(m_line)) return text("to the start of the line", m_line);
    for (int last = 2; last <= kLast; ++last)
        if (explains(m_last[last]))
            return text("to the last " + std::to_string(last) + " tokens", m_last[last],
                        ", whatever they are");
    return {};
}

}  // namespace relascope::core
