// SPDX-License-Identifier: GPL-3.0-or-later
// The papers' numbers, built into the program (resources/published).
#pragma once

#include <string>
#include <vector>

#include "types/compared_run.h"
#include "types/run_options.h"
#include "types/study.h"

namespace relascope::core {

/// A published result to compare a run with: the mean over the trials of the authors.
struct PublishedResult {
    std::string split;  ///< "pentos", "hexos", "stripes", "test", "interpolate"
    double accuracy = 0.0;
    double standardError = 0.0;  ///< 0 if none was published
};
/// The published results for that preset, model and training size; empty if there are none.
std::vector<PublishedResult> publishedResults(const RunOptions& options);
/// The published results for the options of a run; empty also for a run of another version, whose
/// options are not known.
std::vector<PublishedResult> publishedResults(const RunInfo& info);

/// A run beside these results, those of its options, without its note: the published value and the
/// result on the same tested split; before the test, the published value of the training family and
/// the accuracy on validation.
ComparedRun comparedRun(const RunInfo& info, const std::vector<PublishedResult>& published);

/// The published curves over training sizes of a preset, for one metric and test split. Series have
/// the names of the models of the preset. Empty if there are none.
std::vector<PublishedPoint> publishedPoints(const std::string& preset, const std::string& metric,
                                            const std::string& split);

/// Results of this program with the same presets, in the same form (resources/reference, with
/// commit, machine and date).
std::vector<PublishedPoint> referencePoints(const std::string& preset, const std::string& metric,
                                            const std::string& split);

}  // namespace relascope::core
