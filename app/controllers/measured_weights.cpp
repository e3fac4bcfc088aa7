// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/measured_weights.h"

#include <filesystem>
#include <utility>

#include "app/controllers/opened_weights.h"
#include "app/controllers/runtime.h"

namespace relascope::app {

core::OpenedModel& MeasuredWeights::of(const MeasuredSubject& subject, std::stop_token stop,
                                       const core::ProgressCallback& progress) {
    awaitRuntime();
    if (m_model && m_path == subject.path && m_which == subject.which && m_device == subject.device)
        return *m_model;
    drop();  // two models may not fit into the memory
    auto fresh = std::make_unique<core::OpenedModel>(subject.path, subject.which, subject.device,
                                                     std::move(stop), progress);
    // The tokenizer of a run is in the run folder, not next to the weights.
    if (!fresh->isRun() && fresh->options().input() == InputKind::Tokens) {
        const std::string run = runOfWeights(subject.path), own = run + "/tokenizer.json";
        if (!run.empty() && std::filesystem::exists(own)) fresh->setTokenizer(own);
    }
    m_model = std::move(fresh);
    m_path = subject.path, m_which = subject.which, m_device = subject.device;
    return *m_model;
}

core::DatasetPtr splitOf(const MeasuredSubject& subject, const std::string& name) {
    if (!subject.splits)
        throw Error("There are no data to measure on: open a run, whose data are known.");
    const auto data = subject.splits->find(name);
    if (!data) throw Error("There is no split '" + name + "' in these data.");
    return data;
}

EditList enabledEdits(const EditList& edits) {
    EditList enabled = edits;
    enabled.name.clear(), enabled.model.clear();
    std::erase_if(enabled.edits, [](const Edit& edit) { return !edit.enabled; });
    return enabled;
}

core::EditData editDataOf(const MeasuredSubject& subject) {
    auto data = subject.editData;
    if (!data.split && subject.splits)
        data.split = [splits = subject.splits](const std::string& name) {
            return splits->find(name);
        };
    return data;
}

}  // namespace relascope::app
