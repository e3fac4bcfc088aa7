// SPDX-License-Identifier: GPL-3.0-or-later
// The results of the analyses, and the tables that they are written as. Does not include torch.
#pragma once

#include <string>
#include <variant>

#include "types/along.h"
#include "types/edit_results.h"
#include "types/head_measures.h"
#include "types/lens.h"

namespace relascope::core {

/// What an analysis gives: ablate, patch, lens, attribute, inspect --along, heads.
using AnalysisResult =
    std::variant<AblationTable, PatchResult, LensResult, Attribution, AlongTraining, HeadMeasures>;

/// The result as CSV with a line of column names; an ablation's further tables follow after empty
/// lines. Numbers that are not there are empty fields.
std::string csvOf(const AnalysisResult& result);
/// The table of an ablation as a LaTeX tabular.
std::string latexOf(const AblationTable& table);

}  // namespace relascope::core
