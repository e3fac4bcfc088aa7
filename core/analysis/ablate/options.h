// SPDX-License-Identifier: GPL-3.0-or-later
// The options of ablation tables, and their texts. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "analysis/ablate/answer.h"
#include "analysis/analysis.h"
#include "types/edit_results.h"

namespace relascope::core {

struct AblationOptions {
    std::vector<EditOp> how = {EditOp::Zero, EditOp::Mean, EditOp::Resample};
    /// partGroups(); "symbols" (of a library) are measured on demand only.
    std::vector<std::string> what = {"heads", "relations", "columns", "paths", "mlp"};
    std::vector<AblationRow> rows = {};  ///< these alone, in place of `what`; empty: by `what`
    std::string metric = "accuracy";     ///< or "loss", "mean_error"
    std::int64_t examples = 2000;        ///< at most, drawn from the data set by seed 0
    std::int64_t batchSize = 250;
    int draws = 3;  ///< how many Resample averages
    bool cumulative = false, pairs = false;
    bool refit = false;                  ///< also with a head that is fitted anew behind each part
    std::vector<double> untrained = {};  ///< AblationTable::untrained

    /// Throws OptionError for an unknown group or metric and for other operations.
    void check() const;
    bool operator==(const AblationOptions&) const = default;
};

/// The options of the analysis, as words.
struct AblationChoice {
    std::int64_t examples = AblationOptions().examples;
    std::string metric = "auto";
    std::vector<std::string> how = {"zero", "mean", "resample"};
    std::vector<std::string> what = AblationOptions().what;
    bool cumulative = false, pairs = false, refit = false;
    std::int64_t untrained = 4;  ///< models with fresh weights beside it
};

/// The table as an answer, with the word for the use of each part (claims.h).
Answer answerOf(const AblationTable& table);
const FieldTable<AblationChoice>& ablationFields();

}  // namespace relascope::core
