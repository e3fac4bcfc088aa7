// SPDX-License-Identifier: GPL-3.0-or-later
// The papers' numbers, built into the program (resources/published).
#pragma once

#include <string>
#include <vector>

#include "types/run_options.h"
#include "types/study.h"

namespace relascope::core {

/// A published result that belongs beside a run: the mean over the authors' trials.
struct PublishedResult {
    std::string split;  ///< "pentos", "hexos", "stripes", "test", "interpolate"
    double accuracy = 0.0;
    double standardError = 0.0;  ///< 0 where none was printed
};
/// The papers' numbers for that preset, model and training size; empty where none were printed.
std::vector<PublishedResult> publishedResults(const RunOptions& options);

/// The published curves over training sizes of a preset, for one metric and test split. Series are
/// called as the preset's models. Empty where none were published.
std::vector<PublishedPoint> publishedPoints(const std::string& preset, const std::string& metric,
                                            const std::string& split);

/// What this program reached with the same presets (resources/reference, which says at which
/// commit, on which machine and when), in the same form.
std::vector<PublishedPoint> referencePoints(const std::string& preset, const std::string& metric,
                                            const std::string& split);

}  // namespace relascope::core
