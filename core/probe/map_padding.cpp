// SPDX-License-Identifier: GPL-3.0-or-later
#include "types/map_padding.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace relascope {
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
    std::vector<std::shared_ptr<const std::vector<int>>> kept;  // of each side
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

}  // namespace relascope
