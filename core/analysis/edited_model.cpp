// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/edited_model.h"

#include <torch/utils.h>
#include <optional>
#include <utility>

#include "interventions/edited_run.h"
#include "model/finite_outputs.h"

namespace relascope::core {

EditedModel::EditedModel(ModelImpl& model, const ModelOptions& options,
                         std::unique_ptr<ActiveEdits> trained, std::unique_ptr<ActiveEdits> edits)
    : m_model(model),
      m_options(options),
      m_trained(std::move(trained)),
      m_edits(std::move(edits)) {}

torch::Tensor EditedModel::answers(const Batch& batch, const DatasetPtr& data,
                                   const std::vector<std::int64_t>& indices, Hooks* above) {
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(m_model);
    const auto input = inputOf(batch, device());
    const HookScope below(m_trained ? &m_trained->editor() : nullptr);
    std::optional<InterventionScope> edited, read;
    if (m_edits) {
        m_edits->prepareBatch(input, data, indices);
        edited.emplace(&m_edits->editor());
    }
    if (above) read.emplace(above);
    return answersOf(m_model, input);
}

std::vector<PointInfo> EditedModel::points(const Batch& batch) {
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(m_model);
    return pointsOf(m_model, inputOf(batch, device()));
}

}  // namespace relascope::core
