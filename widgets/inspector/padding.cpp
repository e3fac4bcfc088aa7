// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/padding.h"

#include <algorithm>
#include <vector>

#include "widgets/source/sides.h"

namespace relascope::widgets {
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

RelationMap cut(const RelationMap& map, const std::vector<std::size_t>& rows,
                const std::vector<std::size_t>& columns) {
    RelationMap out = map;
    out.rows = static_cast<int>(rows.size());
    out.columns = static_cast<int>(columns.size());
    out.values.clear();
    out.values.reserve(rows.size() * columns.size());
    for (const auto i : rows)
        for (const auto j : columns)
            out.values.push_back(map.values[i * static_cast<std::size_t>(map.columns) + j]);
    return out;
}

}  // namespace

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
    *leftOut = static_cast<int>(all - shown);
    shorten(out->sample.source, shown);
    shorten(out->sample.target, answer);
    std::vector<std::vector<std::size_t>> kept;  // of each side
    for (std::size_t k = 0; k < sides.size(); ++k) {
        std::vector<std::size_t> indices;
        const std::size_t count = k == 1 ? answer : shown;
        for (std::size_t i = 0; i < count; ++i) indices.push_back(i);
        // Encoder and abstractor are concatenated.
        if (k > 1 && sides[k].labels.size() == 2 * all)
            for (std::size_t i = 0; i < count; ++i) indices.push_back(all + i);
        ProbeSide side{sides[k].name, {}};
        for (const auto i : indices)
            if (i < sides[k].labels.size()) side.labels.push_back(sides[k].labels[i]);
        out->sides.push_back(std::move(side));
        kept.push_back(std::move(indices));
    }
    const auto fits = [&](int side, int count) {
        return side >= 0 && side < static_cast<int>(kept.size()) &&
               count == static_cast<int>(sides[static_cast<std::size_t>(side)].labels.size());
    };
    for (const RelationMap& map : result->maps) {
        const int rows = rowSide(*result, map.layer), columns = columnSide(*result, map.layer);
        const bool whole = map.values.size() == static_cast<std::size_t>(map.rows) *
                                                    static_cast<std::size_t>(map.columns);
        if (!whole || !fits(rows, map.rows)) {
            out->maps.push_back(map);
            continue;
        }
        const auto& above = kept[static_cast<std::size_t>(rows)];
        std::vector<std::size_t> across;
        // The columns of a table of symbols are symbols, except for library rows of pairs.
        if (map.libraryRows)
            across = above;
        else if (map.kind != MapKind::Symbols && fits(columns, map.columns))
            across = kept[static_cast<std::size_t>(columns)];
        else
            for (int j = 0; j < map.columns; ++j) across.push_back(static_cast<std::size_t>(j));
        out->maps.push_back(cut(map, above, across));
    }
    return out;
}

}  // namespace relascope::widgets
