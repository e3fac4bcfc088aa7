// SPDX-License-Identifier: GPL-3.0-or-later
// What ablation tables and patching maps measure, and their texts. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "types/edit_results.h"

namespace relascope::core {

struct AblationOptions {
    std::vector<EditOp> how = {EditOp::Zero, EditOp::Mean, EditOp::Resample};
    struct PatchOptions {
        std::vector<std::string> over = {"resid", "attn", "mlp", "heads", "relations"};
        /// The table as CSV or as a LaTeX tabular.
        std::string ablationCsv(const AblationTable& table);
        std::string ablationLatex(const AblationTable& table);

        /// One line for each cell: map, row, column, estimate, exact.
        std::string patchCsv(const PatchResult& result);

    }  // namespace relascope::core
