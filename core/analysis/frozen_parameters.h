// SPDX-License-Identifier: GPL-3.0-or-later
// Gradients of streams and maps alone.
#pragma once

#include <torch/types.h>
#include <vector>

#include "model/model.h"

namespace relascope::core {

/// Freezes the parameters while it exists, so that nothing is kept for their gradients.
class FrozenParameters {
public:
    explicit FrozenParameters(ModelImpl& model) {
        for (auto& parameter : model.parameters())
            if (parameter.requires_grad()) {
                parameter.requires_grad_(false);
                m_frozen.push_back(parameter);
            }
    }
    ~FrozenParameters() {
        for (auto& parameter : m_frozen) parameter.requires_grad_(true);
    }
    FrozenParameters(const FrozenParameters&) = delete;
    FrozenParameters& operator=(const FrozenParameters&) = delete;

private:
    std::vector<torch::Tensor> m_frozen;
};

}  // namespace relascope::core
