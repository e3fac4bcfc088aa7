// SPDX-License-Identifier: GPL-3.0-or-later
// Maps with a source in place of stored values.
#pragma once

#include <atomic>
#include <cmath>
#include <memory>
#include <vector>

#include "support/rooms.h"
#include "types/relation_map.h"

namespace relascope::fixture {

/// Gives the values of a stored map, and counts the rows that were read.
class StoredSource : public MapSource {
public:
    explicit StoredSource(RelationMap map, std::int64_t cost = 1)
        : m_map(std::move(map)), m_cost(cost) {}
    void rows(int, int first, int count, float* out) const override {
        rowsRead += count;
        m_map.readRows(first, count, out);
    }
    std::int64_t cost() const override { return m_cost; }
    mutable std::atomic<int> rowsRead = 0;

private:
    RelationMap m_map;
    std::int64_t m_cost;
};

/// The same map with a source.
inline RelationMap sourced(const RelationMap& map, std::int64_t cost = 1) {
    RelationMap out = map;
    out.values.clear();
    out.source = std::make_shared<StoredSource>(map, cost);
    return out;
}
inline std::shared_ptr<ProbeResult> sourced(const ProbeResult& result, std::int64_t cost = 1) {
    auto out = std::make_shared<ProbeResult>(result);
    for (RelationMap& map : out->maps) map = sourced(map, cost);
    return out;
}

/// r_ij = q_i . k_j and, for attention, the softmax of q_i . k_j / sqrt(width) over j <= i: as a
/// probe keeps them, in memory for n and not for n x n numbers.
class FactorSource : public MapSource {
public:
    FactorSource(int n, int width, bool softmax, unsigned seed)
        : m_n(n), m_width(width), m_softmax(softmax) {
        unsigned state = seed * 2654435761U + 1U;
        const auto next = [&state] {
            state = state * 1664525U + 1013904223U;
            return static_cast<float>(state >> 8U) / 8388608.0F - 1.0F;
        };
        const auto cells = static_cast<std::size_t>(n) * static_cast<std::size_t>(width);
        for (auto* factor : {&m_q, &m_k}) {
            factor->resize(cells);
            for (float& v : *factor) v = next();
        }
    }
    void rows(int, int first, int count, float* out) const override {
        for (int i = first; i < first + count; ++i, out += m_n) {
            const float* q = m_q.data() + static_cast<std::size_t>(i) * m_width;
            // By columns of k, which the compiler can vectorize.
            for (int j = 0; j < m_n; ++j) {
                const float* k = m_k.data() + static_cast<std::size_t>(j) * m_width;
                float sum = 0.0F;
                for (int c = 0; c < m_width; ++c) sum += q[c] * k[c];
                out[j] = sum;
            }
            if (!m_softmax) continue;
            float all = 0.0F;
            for (int j = 0; j < m_n; ++j)
                all += out[j] = j > i ? 0.0F : std::exp(3.0F * out[j] / std::sqrt(1.0F * m_width));
            for (int j = 0; j < m_n; ++j) out[j] /= all;
        }
    }
    float cell(int index, int row, int column, int columns) const override {
        if (m_softmax) return MapSource::cell(index, row, column, columns);
        float sum = 0.0F;
        for (int c = 0; c < m_width; ++c)
            sum += m_q[static_cast<std::size_t>(row) * m_width + c] *
                   m_k[static_cast<std::size_t>(column) * m_width + c];
        return sum;
    }
    std::int64_t cost() const override { return m_width + (m_softmax ? 8 : 0); }

private:
    int m_n, m_width;
    bool m_softmax;
    std::vector<float> m_q, m_k;
};

/// The result of a large language model: `relations` relations of width 8 and `heads` heads of each
/// kind of attention a layer, of width 64, over words.
inline std::shared_ptr<ProbeResult> largeText(int tokens, int layers, int relations, int heads) {
    static const char* const words[] = {" the",  " cat",  " sat", " on",    " a",     " mat",  ",",
                                        " and",  " it",   " saw", " bird",  " in",    " tree", ".",
                                        " When", " ever", "body", " asked", " about", " rain"};
    auto result = std::make_shared<ProbeResult>();
    result->step = 60000;
    result->sample.origin = "validation 3";
    ProbeSequence& text = result->sample.source;
    text.text = true;
    for (int k = 0; k < tokens; ++k) {
        const auto word = static_cast<unsigned>(k) * 7919U % 9973U % 20U;
        text.tokens.push_back(word);
        text.labels.push_back(k % 97 == 96 ? "\n" : words[word]);
    }
    result->sides = {{"tokens", text.labels}};
    for (int l = 0; l < layers; ++l)
        result->layers.push_back({"layer " + std::to_string(l + 1), 0, 0});
    unsigned seed = 0;
    const auto add = [&](MapKind kind, int count, int width) {
        for (int l = 0; l < layers; ++l)
            for (int k = 0; k < count; ++k) {
                RelationMap map{kind, l, k, tokens, tokens, {}, true};
                map.source = std::make_shared<FactorSource>(tokens, width,
                                                            kind != MapKind::Relation, ++seed);
                result->maps.push_back(std::move(map));
            }
    };
    add(MapKind::Relation, relations, 8);
    add(MapKind::RelationalAttention, heads, 64);
    add(MapKind::SensoryAttention, heads, 64);
    return result;
}

}  // namespace relascope::fixture
