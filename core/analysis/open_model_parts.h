// SPDX-License-Identifier: GPL-3.0-or-later
// What an OpenedModel consists of. Private to core/train/open_model*.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/open_model.h"
#include "interventions/edit_probes.h"
#include "interventions/edit_session.h"
#include "model/model.h"

namespace relascope::core {

struct OpenedModel::Parts {
    ModelPtr model;
    ModelOptions options;
    RunOptions run;
    bool isRun = false;
    std::int64_t step = 0;
    std::string warning;
    std::string device;
    std::string reference;  // io.safetensors, "" without one
    TokenizerPtr tokenizer;
    EditList training, edits;
    EditData editData;
    TakenMeans means;
    std::unique_ptr<EditProbes> probes;

    /// The edits that the weights are trained with; null without any.
    std::unique_ptr<EditSession> makeTrainingEditSession() {
        if (training.edits.empty()) return nullptr;
        return std::make_unique<EditSession>(*model, options, training, editData, EditUse::Train);
    }
    /// The edits in force, not prepared for an input yet; null without any.
    std::unique_ptr<EditSession> makeEditSession() {
        if (!edits.anyEnabled()) return nullptr;
        return std::make_unique<EditSession>(*model, options, edits, editData);
    }
};

inline Hooks* hooksOf(const std::unique_ptr<EditSession>& session) {
    return session ? &session->editor() : nullptr;
}

inline ModelInput onDevice(ModelInput input, const std::string& device) {
    input.x = input.x.to(torch::Device(device));
    if (input.target.defined()) input.target = input.target.to(torch::Device(device));
    return input;
}

}  // namespace relascope::core
