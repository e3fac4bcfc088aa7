// SPDX-License-Identifier: GPL-3.0-or-later
// Results of analyses with Analysis::kept, which are stored beside their run (formats.md section
// 16) and opened instead of measuring again. Does not include torch.
#pragma once

#include "analysis/run_analysis.h"

namespace relascope::serve {

/// The stored result for the same weights, examples, options and edits; nullopt if there is none.
/// Examples are compared by the contents of those that were read. Files that are damaged or of
/// another format are skipped. Throws OptionError for wrong options, FileError for a result whose
/// indices are wrong.
std::optional<Answer> keptResult(const core::Analysis& analysis, core::AnalysisSubject& subject,
                                 const core::OptionValues& values);

/// The stored result, or that of the analysis' runner, which is then stored, unless it cannot be
/// written (a full disk, a folder of another user). Throws what the runner throws.
Answer measured(const core::Analysis& analysis, core::AnalysisSubject& subject,
                const core::OptionValues& values, const core::AnalysisWatch& watch);

}  // namespace relascope::serve
