// SPDX-License-Identifier: GPL-3.0-or-later
// Heads that are fitted anew behind edits: whether classes can still be told from the features that
// edits leave (a head that stays says what the model says without a part).
#pragma once

#include <torch/types.h>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "data/dataset.h"
#include "model/public/public_image_model.h"

namespace relascope::core {

/// A pass with edits in force over the examples `indices` of `data`, whose input is given: what
/// answersOf() (finite_outputs.h) gives.
using EditedPass = std::function<torch::Tensor(const ModelInput& input, const DatasetPtr& data,
                                               const std::vector<std::int64_t>& indices)>;

class HeadRefit {
public:
    using Fit = std::function<ImageHead(const EditedPass&, const std::stop_token&)>;
    HeadRefit(PublicImageModelImpl& model, Fit fit) : m_model(model), m_fit(std::move(fit)) {}

    /// Fits a head on the features that `pass` gives of the pictures that the model's own was
    /// fitted on, and calls `measure` while the model has it. Throws Cancelled, and what `pass`
    /// and `measure` throw; the model has its own head again in any case.
    void behind(const EditedPass& pass, const std::stop_token& stop,
                const std::function<void()>& measure) const;

private:
    PublicImageModelImpl& m_model;
    Fit m_fit;
};

}  // namespace relascope::core
