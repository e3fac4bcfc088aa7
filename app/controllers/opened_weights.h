// SPDX-License-Identifier: GPL-3.0-or-later
// The model that the Checkpoint page inspects.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "train/open_model.h"

namespace relascope::app {

/// Used by the jobs of one queue only, so that one job at a time uses the model.
struct OpenedWeights {
    std::unique_ptr<core::OpenedModel> model;
    std::string path;       ///< where they came from
    std::string tokenizer;  ///< chosen by the user; empty: the one stored with the weights
    std::string which;      ///< of a run: "", "last", "best" or a step, as it was asked for
    bool bfloat16 = false;  ///< rounded since they were read
    /// Every hook point, for the first input; the numbers of objects of others may differ.
    std::shared_ptr<const std::vector<PointInfo>> points;
    /// The last result without edits, and what it is of.
    ProbeSample baseSample;
    std::vector<std::string> baseNames;  ///< of the classes
    std::shared_ptr<const ProbeResult> base;

    /// Reads the weights. On an error the previous ones are kept.
    void load(const std::string& from, const std::string& device, std::stop_token stop,
              const core::ProgressCallback& progress, const std::string& step = {});
    /// Uses the weights rounded, or as in the file, which is then read again. Throws Cancelled if
    /// none are loaded.
    core::OpenedModel& as(bool rounded, std::stop_token stop,
                          const core::ProgressCallback& progress);
    void setTokenizer(const std::string& nameOrPath);
};

/// The run that a file or folder of weights belongs to (RUN/checkpoints/step-N), or empty.
std::string runOfWeights(const std::string& path);
/// The newest folder of weights of a run. Throws FileError if there are none yet.
std::string newestWeights(const std::string& run);

}  // namespace relascope::app
