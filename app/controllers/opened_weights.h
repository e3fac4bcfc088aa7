// SPDX-License-Identifier: GPL-3.0-or-later
// The model whose inside the Checkpoint page shows.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "train/open_model.h"

namespace relascope::app {

/// Touched by the jobs of one queue only, so that one job at a time uses the model.
struct OpenedWeights {
    std::unique_ptr<core::OpenedModel> model;
    std::string path;       ///< where they came from
    std::string tokenizer;  ///< chosen in place of the one that was found; empty: that one
    bool bfloat16 = false;  ///< rounded since they were read

    /// Reads them. What was there goes only when this has worked.
    void load(const std::string& from, const std::string& device, std::stop_token stop,
              const core::ProgressCallback& progress);
    /// As the file has them, or rounded; exact ones come from the file again. Throws Cancelled
    /// where none are loaded.
    core::OpenedModel& as(bool rounded, std::stop_token stop,
                          const core::ProgressCallback& progress);
    void setTokenizer(const std::string& nameOrPath);
};

/// The run that a file or folder of weights belongs to (RUN/checkpoints/step-N); empty: none.
std::string runOfWeights(const std::string& path);
/// The newest folder of weights of a run. Throws FileError where it has none yet.
std::string newestWeights(const std::string& run);

}  // namespace relascope::app
