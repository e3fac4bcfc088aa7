// SPDX-License-Identifier: GPL-3.0-or-later
// QK attribution: which parts of the streams of i and j a score comes from, exactly
// (interventions.md section 13). Does not include torch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/parts/model_part.h"
#include "types/answer.h"
#include "types/model_options.h"

namespace relascope {

struct OriginOptions {
    std::int64_t layer = 1, index = 1;  ///< from 1
    std::string kind = "relation";
    std::int64_t source = -1, to = -1;  ///< i, j; -1: the cell that is shown
    std::string relation;  ///< file of a fitted relation, in place of a map of the model
    std::string stack;     ///< empty: the layer counts as in the inspector
    std::string against;   ///< empty: row where a softmax follows, else none
    std::string grain = "layers";
    std::string tokens;  ///< a part in words
    std::int64_t top = 20;
};

}  // namespace relascope

namespace relascope::core {

struct ModelImpl;
struct ModelInput;

/// The origins of a cell for an input of one example. `edited`: edits are in force; `features`:
/// names of the numbers of an object; `named`: the objects as text; null: they have none. Throws
/// OptionError naming the option for a map, a cell or a part that is not there, or whose scores are
/// no sum over parts; Error where the parts do not add up.
Answer originsOf(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                 const OriginOptions& what, bool edited,
                 const std::vector<std::string>& features = {},
                 const std::function<std::string(std::int64_t)>& named = nullptr);

/// The answer without rows.
Answer originTables();
/// The cell, its value and how many terms it is made of.
std::string originsSummary(const Answer& origins);

const FieldTable<OriginOptions>& originFields();

}  // namespace relascope::core
