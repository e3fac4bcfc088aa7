// SPDX-License-Identifier: GPL-3.0-or-later
// Results of analyses that are kept beside their run (formats.md section 16) and opened in place of
// measuring again: of Analysis::kept. Does not include torch.
#pragma once

#include "analysis/run_analysis.h"

namespace relascope::serve {

/// The result for the same weights, examples, options and edits, where one is kept; else empty. The
/// same examples are those that were read, by what is in them. Files that are damaged or of others
/// are passed over. Throws OptionError for wrong options, FileError for a result whose indices are
/// wrong.
std::optional<Answer> keptResult(const core::Analysis& analysis, core::AnalysisSubject& subject,
                                 const core::OptionValues& values);

/// The kept result, or that of the analysis' runner, which is kept from then on. Where it cannot be
/// written (a full disk, a folder of another user) it is not kept. Throws as the runner.
Answer measured(const core::Analysis& analysis, core::AnalysisSubject& subject,
                const core::OptionValues& values, const core::AnalysisWatch& watch);

}  // namespace relascope::serve
