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
    EditList training;
    TakenMeans means;  // of the last call with edits
    std::unique_ptr<EditProbes> probes;

    /// Texts are read by the model's own tokenizer unless `data` says how.
    EditData completed(EditData data) const;
    /// The edits that the weights are trained with; null without any.
    std::unique_ptr<EditSession> makeTrainingEditSession(const EditData& data = {}) {
        if (training.edits.empty()) return nullptr;
        return std::make_unique<EditSession>(*model, options, training, completed(data),
                                             EditUse::Train);
    }
    /// Edits that are not prepared for an input yet; null without any.
    std::unique_ptr<EditSession> makeEditSession(const Interventions& interventions) {
        means.clear();
        if (!interventions.edits.anyEnabled()) return nullptr;
        return std::make_unique<EditSession>(*model, options, interventions.edits,
                                             completed(interventions.data));
    }
};

inline Hooks* hooksOf(const std::unique_ptr<EditSession>& session) {
    return session ? &session->editor() : nullptr;
}

}  // namespace relascope::core
