// SPDX-License-Identifier: GPL-3.0-or-later
// Loss and accuracy over a data set.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "model/factory.h"
#include "train/edit_session.h"
#include "train/open_model.h"
#include "train/scoring.h"

namespace relascope::core {

/// How a data set is measured.
struct EvaluationOptions {
    std::int64_t batchSize = 256;
    bool bfloat16 = false;
    /// The number of sequences for free-running decoding (free_running.h): 0 = none, -1 = all.
    std::int64_t freely = 0;
    EditSession* edits = nullptr;  ///< in force in every pass; null for none
    /// Take the batches in turn, and all have the results of all; null: this process alone.
    RankGroup* ranks = nullptr;
};

/// In evaluation mode, without gradients; the model's mode is restored. Loss and accuracy are means
/// over targets: labels, tokens (sequences with teacher forcing), bits. Throws OptionError for a
/// label out of the range of the model's classes, Cancelled.
Evaluation evaluateModel(ModelImpl& model, const ModelOptions& modelOptions, const DatasetPtr& data,
                         const EvaluationOptions& options = {}, std::stop_token stop = {},
                         const ProgressCallback& progress = {});

/// bfloat16 autocast on CUDA in the scope of this object, if `enabled`.
class AutocastScope {
public:
    explicit AutocastScope(bool enabled);
    ~AutocastScope();
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    bool m_enabled;
};

}  // namespace relascope::core
