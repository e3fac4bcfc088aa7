// SPDX-License-Identifier: GPL-3.0-or-later
// What an open model holds: for the sources of OpenedModel alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/head_refit.h"
#include "analysis/open_model.h"
#include "interventions/active_edits.h"
#include "interventions/edit_probes.h"
#include "model/architecture.h"
#include "model/model.h"
#include "model/public/public_image_model.h"
#include "readout/feature_heads.h"

namespace relascope::core {

/// Tells a file from another one under its name.
struct FileMark {
    std::uint64_t inode = 0;
    std::int64_t size = 0, time = 0;  // ns
    bool operator==(const FileMark&) const = default;
};

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
    std::vector<std::int64_t> fileEnds;   // by generation_config.json
    std::vector<std::int64_t> ends;       // tokens that end a text
    std::vector<std::string> classNames;  // from the checkpoint's configuration
    EditList training;
    TakenMeans means;  // taken by the last call with edits
    std::unique_ptr<EditProbes> probes;
    HeadFacts head;
    std::string headKey;
    /// Makes the head for a model: fits it where it is fitted.
    std::function<ImageHead(ModelImpl&, const std::stop_token&, const ProgressCallback&)> headOf;
    HeadRefit::Fit refit;  ///< null: the head was not fitted on pictures that are at hand
    std::shared_ptr<const FeatureHead> fittedHead;  ///< for a file; null: none
    std::string path, checkpoint;                   // as they were asked for
    std::int64_t newest = -1;                       // step of a checkpoint of the run, then
    std::map<std::string, FileMark> files;  // the files of the weights, as they were when opened
    std::optional<std::uint32_t> checksum;
    std::function<bool()> served;  ///< whether the weights that are served are those opened; null

    /// The names of classes: of a head its own, else those given, else the checkpoint's own.
    const std::vector<std::string>& named(const std::vector<std::string>& given) const {
        if (head.kind != HeadChoice::Kind::None) return head.classes;
        return given.empty() ? classNames : given;
    }
    /// Whether a text is typed as the ids of its tokens.
    bool typesIds() const {
        return options.info().opened && !tokenizer && options.input() == InputKind::Tokens;
    }
    void takeEnds(const std::string& folder);
    /// A model that another program serves, at "served:NAME"; of a kept step where `checkpoint` is
    /// one.
    void openServed(const std::string& path, const std::string& checkpoint);
    /// The examples of a served model that stand for stored inputs; null: there are none.
    const DatasetPtr& servedExamples();
    DatasetPtr examples;  ///< these, once they were asked for
    /// Texts are read by the model's own tokenizer unless `data` says how.
    EditData completed(EditData data) const;
    /// The edits that the weights are trained with; null without any.
    std::unique_ptr<ActiveEdits> makeTrainingEdits(const EditData& data = {}) {
        if (training.edits.empty()) return nullptr;
        return std::make_unique<ActiveEdits>(*model, options, training, completed(data),
                                             EditUse::Train);
    }
    /// Edits that are not prepared for an input yet; null without any.
    std::unique_ptr<ActiveEdits> makeActiveEdits(const Interventions& interventions) {
        means.clear();
        if (!interventions.edits.anyEnabled()) return nullptr;
        return std::make_unique<ActiveEdits>(*model, options, interventions.edits,
                                             completed(interventions.data));
    }
};

/// The hooks of a session; null without one.
inline Hooks* hooksOf(const std::unique_ptr<ActiveEdits>& session) {
    return session ? &session->editor() : nullptr;
}

}  // namespace relascope::core
