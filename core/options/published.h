// SPDX-License-Identifier: GPL-3.0-or-later
// The papers' numbers, built into the program (resources/published).
#pragma once

#include <string>
#include <vector>

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

/// The published curves over training sizes of a preset, for one metric and test split. Series have
/// the names of the models of the preset. Empty if there are none.
std::vector<PublishedPoint> publishedPoints(const std::string& preset, const std::string& metric,
                                            const std::string& split);

/// Results of this program with the same presets, in the same form (resources/reference, with
/// commit, machine and date).
std::vector<PublishedPoint> referencePoints(const std::string& preset, const std::string& metric,
                                            const std::string& split);

}  // namespace relascope::core
