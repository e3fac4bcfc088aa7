// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/fitted/directions_read.h"

#include <torch/utils.h>

#include <charconv>

#include "analysis/parts/score_parts.h"
#include "interventions/projection.h"
#include "types/error.h"

namespace relascope::core {
namespace {

// "layer 2" is 1.
int layerOfPairMap(const PairMap& map) {
    static const std::string word = "layer ";
    int layer = 0;
    if (!map.layer.starts_with(word)) throw OptionError("layer", "has no number");
    std::from_chars(map.layer.data() + word.size(), map.layer.data() + map.layer.size(), layer);
    return layer - 1;
}

const char* scoreKindOfMap(const PairMap& map) {
    if (!map.head) return scoreKindName(ScoreKind::Relation);
    const bool relational = map.name.find("relational head") != std::string::npos;
    return scoreKindName(relational ? ScoreKind::RelationalAttention : ScoreKind::SensoryAttention);
}

torch::Tensor rowsReadBy(const ScoreParts::Projection& side) {
    if (!side.norm) return side.weight;
    // The gain of a norm does not depend on what it reads.
    return heldNorm(*side.norm, torch::ones({1, 1, side.weight.size(1)}, torch::kDouble))
        .back(side.weight);
}

}  // namespace

DirectionsRead directionsRead(const ModelStreams& streams, const PairMap& map,
                              const torch::Tensor& basis) {
    const ScoreParts parts(streams, scoreMap(streams, {}, layerOfPairMap(map), scoreKindOfMap(map),
                                             static_cast<int>(map.index)));
    const auto rows = torch::cat(
        {rowsReadBy(parts.projection(ScoreSide::I)), rowsReadBy(parts.projection(ScoreSide::J))});
    const auto d = basis.size(0);
    if (rows.size(1) != d) throw OptionError("layer", "reads a stream of another width");
    const auto read = basisOfRows(rows);
    const auto shared = torch::matmul(basis.t().to(torch::kDouble), read);
    return {shared.square().sum().item<double>() / static_cast<double>(basis.size(1)),
            static_cast<double>(read.size(1)) / static_cast<double>(d)};
}

}  // namespace relascope::core
