// SPDX-License-Identifier: GPL-3.0-or-later
// Shares: how much of what the attention of each layer gives comes from each sensory head, and in
// each relational head from each relation and from the symbols (interventions.md section 10). The
// output y of a layer is a sum of parts c; the share of a part in an example is sum <c, y> / sum
// <y, y> over its positions. Shares of a layer add up to 1, and one below 0 works against the
// others. Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/parts/model_part.h"
#include "types/answer.h"

namespace relascope {

/// A part of the attention of a layer.
struct LayerShare {
    /// SensoryHead; Relation and Symbols of a relational head; RelationalHead where its relations
    /// are its attention; Bias, of all heads.
    PartKind kind = PartKind::SensoryHead;
    int layer = 0, head = -1, relation = -1;  ///< from 0; -1: has none
    double mean = 0.0, deviation = 0.0;       ///< over the examples
};

struct LayerShares {
    std::vector<LayerShare> parts;  ///< layer by layer
    /// The sums of each layer over its parts of one kind: SensoryHead, Relation, Symbols, ...
    std::vector<LayerShare> kinds;
    std::int64_t examples = 0;
    bool linked = false;  ///< layers and numbers are those of the maps in the inspector
};

struct ShareOptions {
    std::int64_t examples = 500;  ///< at most; of text a tenth as many windows
};

}  // namespace relascope

namespace relascope::core {

/// The shares as an answer with the tables "parts" and "layers".
Answer answerOf(const LayerShares& shares);

const FieldTable<ShareOptions>& shareFields();

}  // namespace relascope::core
