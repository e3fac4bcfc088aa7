// SPDX-License-Identifier: GPL-3.0-or-later
// A model that answers batch after batch with its edits in force, for analyses that run two models
// side by side. From OpenedModel::edited(), which must outlive it.
#pragma once

#include <torch/types.h>
#include <memory>
#include <vector>

#include "data/batches.h"
#include "interventions/active_edits.h"
#include "model/model.h"

namespace relascope::core {

class EditedModel {
public:
    /// `trained`: the edits that the weights were trained with; both may be null.
    EditedModel(ModelImpl& model, const ModelOptions& options,
                std::unique_ptr<ActiveEdits> trained = nullptr,
                std::unique_ptr<ActiveEdits> edits = nullptr);

    /// The scores of a batch, whose examples are `indices` of `data`, in evaluation mode without
    /// gradients. The hooks `above` see the tensors as the edits leave them.
    torch::Tensor answers(const Batch& batch, const DatasetPtr& data,
                          const std::vector<std::int64_t>& indices, Hooks* above = nullptr);
    std::vector<PointInfo> points(const Batch& batch);
    /// The edits of OpenedModel::edited(); null without any.
    ActiveEdits* edits() const { return m_edits.get(); }
    const ModelOptions& options() const { return m_options; }
    ModelImpl& model() const { return m_model; }

private:
    torch::Device device() const { return m_model.device(); }

    ModelImpl& m_model;
    const ModelOptions& m_options;
    std::unique_ptr<ActiveEdits> m_trained, m_edits;
};

}  // namespace relascope::core
