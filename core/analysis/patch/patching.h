// SPDX-License-Identifier: GPL-3.0-or-later
// Patching maps: parts of a clean input's forward pass put into that of a corrupted one.
#pragma once

#include <any>
#include <functional>
#include <stop_token>
#include <string>

#include "analysis/patch/options.h"
#include "data/dataset.h"
#include "interventions/active_edits.h"
#include "model/model.h"
#include "types/edit_results.h"

namespace relascope::core {

class OpenedModel;  // open_model.h

/// A number of one input's scores, at one position of those that have several.
struct AnswerMetric {
    /// Following: the log-probability (nats) of the tokens behind the last difference of A and B.
    enum class Kind { Logit, LogitDifference, Probability, Following };
    Kind kind = Kind::LogitDifference;
    std::int64_t answer = -1, other = -1;
    std::int64_t position = -1;  ///< negative: from the end; of Following the first of its tokens
    torch::Tensor tokens = {};   ///< token ids of A for Following: [n]

    /// The metric of scores [1, classes] or [1, n, classes], a 0-dimensional tensor.
    torch::Tensor of(const torch::Tensor& scores) const;
    /// The metric in words, with the names of answers: "logit of occurs - logit of absent".
    std::string text(const std::function<std::string(std::int64_t)>& name = {}) const;
    /// Parses "logit:3", "probability:3", "logit-difference:3,5", with "@P" for a position; "auto"
    /// is the difference between the answers to A and to B; "following" needs the two inputs.
    /// Throws OptionError("metric", ...).
    static AnswerMetric parse(const std::string& text, const torch::Tensor& clean,
                              const torch::Tensor& corrupted, const ModelInput* a = nullptr,
                              const ModelInput* b = nullptr);
};

/// Reads points from which gradients begin where an edit has put numbers, or where no parameter
/// wants any.
class GradientReader : public PointReader {
public:
    using PointReader::PointReader;
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        const bool begins = torch::GradMode::is_enabled() && !value.requires_grad();
        return PointReader::at(point, begins ? value.detach().requires_grad_() : value);
    }
};

/// Edits in force in every pass of patch(), on A and on B.
struct PatchedEdits {
    ActiveEdits* session = nullptr;                ///< null: none
    std::function<void(bool clean)> prepare = {};  ///< takes their values for one of the two inputs
    /// The name of an answer in the text of the metric; null: its id.
    std::function<std::string(std::int64_t)> answer = {};
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
/// Effects in an open model, above the edits that its weights were trained with, and with names of
/// the positions. `classNames`: as OpenedModel::answerNames().
PatchResult patch(OpenedModel& model, const ProbeSample& clean, const ProbeSample& corrupted,
                  const PatchOptions& how, const std::vector<std::string>& classNames,
                  const Interventions& interventions = {}, const std::stop_token& stop = {},
                  const ProgressCallback& progress = {},
                  const std::function<void(const PatchResult&)>& partial = {});

}  // namespace relascope::core
