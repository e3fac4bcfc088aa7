// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluation mode for the time of a scope.
#pragma once

#include "model/model.h"

namespace relascope::core {

/// Puts a model into evaluation mode in its scope, also if an exception is thrown.
class EvaluationMode {
public:
    explicit EvaluationMode(ModelImpl& model) : m_model(model), m_training(model.is_training()) {
        model.eval();
    }
    ~EvaluationMode() { m_model.train(m_training); }
    EvaluationMode(const EvaluationMode&) = delete;
    EvaluationMode& operator=(const EvaluationMode&) = delete;

private:
    ModelImpl& m_model;
    bool m_training;
};

}  // namespace relascope::core
