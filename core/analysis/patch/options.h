// SPDX-License-Identifier: GPL-3.0-or-later
// The options of patching maps, and their texts. Does not include torch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "types/answer.h"
#include "types/edit_results.h"

namespace relascope::core {

struct PatchOptions {
    /// Also "cells:2:1": the cells of relation 1 of layer 2.
    std::vector<std::string> over = {"resid", "attn", "mlp", "heads", "relations"};
    std::string metric = "auto";  ///< as AnswerMetric::parse() takes it (patching.h)
    bool estimateOnly = false;
    bool noising = false;  ///< exchanges the two inputs

    void check() const;
};

/// Begins a name of the cells i, j of a relation, as "cells:2:1" for relation 1 of layer 2.
constexpr std::string_view kPatchedCells = "cells:";
/// The words of an edit of patched cells: "layer 2 relation 1 zero" for "cells:2:1". Throws
/// OptionError("over", ...).
std::string wordsOfPatchedCells(const std::string& over);

/// "blocks.1" -> "layer 2", "decoder.0" -> "decoder 1".
std::string blockTitle(const std::string& block);

/// The maps as an answer with the tables "cells" (every cell of every map, row by row), "maps"
/// (their kinds and sizes, in that order) and "positions", where there are any.
Answer answerOf(const PatchResult& result);
const FieldTable<PatchOptions>& patchingFields();

}  // namespace relascope::core
