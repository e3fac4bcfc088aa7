// SPDX-License-Identifier: GPL-3.0-or-later
// Patching maps: parts of a clean input's forward pass put into that of a corrupted one.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "analysis/patching_options.h"
#include "data/dataset.h"
#include "interventions/edit_session.h"
#include "model/model.h"
#include "types/edit_results.h"

namespace relascope::core {

/// A number of one input's scores, at one position of those that have several.
struct AnswerMetric {
    enum class Kind { Logit, LogitDifference, Probability };
    Kind kind = Kind::LogitDifference;
    std::int64_t answer = -1, other = -1;
    std::int64_t position = -1;  ///< negative: from the end

    /// scores [1, classes] or [1, n, classes] -> a 0-dimensional tensor.
    torch::Tensor of(const torch::Tensor& scores) const;
    /// "logit-difference 3 - 5 at the last position".
    std::string text() const;
    /// Parses "logit:3", "probability:3", "logit-difference:3,5", with "@P" for a position; "auto"
    /// is the difference between the answers to A and to B. Throws OptionError("--metric", ...).
    static AnswerMetric parse(const std::string& text, const torch::Tensor& clean,
                              const torch::Tensor& corrupted);
};

/// Edits in force in every pass of patch(), on A and on B.
struct PatchedEdits {
    EditSession* session = nullptr;                ///< null: none
    std::function<void(bool clean)> prepare = {};  ///< takes their values for one of the two inputs
};

/// Effects of all cells: first their first-order estimates, sum (T_A - T_B) dm/dT on B, from one
/// backward pass (attribution patching, Nanda 2023), then the exact values, largest estimates
/// first. Positions before the first difference of the inputs of a causal model are 0. `partial`
/// gets the result about ten times a second; on a stop the result so far is returned. Throws
/// OptionError if the inputs have different lengths or the same answer, or the model no such
/// points.
PatchResult patch(ModelImpl& model, const ModelOptions& options, const ModelInput& clean,
                  const ModelInput& corrupted, const PatchOptions& how,
                  const std::stop_token& stop = {}, const ProgressCallback& progress = {},
                  const std::function<void(const PatchResult&)>& partial = {},
                  const PatchedEdits& edits = {});

}  // namespace relascope::core
