// SPDX-License-Identifier: GPL-3.0-or-later
// The model of the window Measure, apart from that of the inspector.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "app/controllers/measured_subject.h"
#include "train/ablation_options.h"
#include "train/open_model.h"

namespace relascope::app {

/// Used by the jobs of one queue only, so that one job at a time uses the model.
class MeasuredWeights {
public:
    /// The weights of the subject, which are read when the last ones were others. `progress` gets
    /// the fraction read. Throws FileError, Cancelled.
    core::OpenedModel& of(const MeasuredSubject& subject, std::stop_token stop,
                          const core::ProgressCallback& progress);
    void drop() {
        m_ablation.clear();
        m_model.reset();
    }
    /// Where an ablation of these weights that was cancelled continues.
    core::AblationProgress& ablation() { return m_ablation; }

private:
    core::AblationProgress m_ablation;
    std::unique_ptr<core::OpenedModel> m_model;
    std::string m_path, m_which, m_device;
};

/// Throws Error without data, or without that split.
core::DatasetPtr splitOf(const MeasuredSubject& subject, const std::string& name);
/// Where edits find values: as the inspector does, and in the splits of the subject.
core::EditData editDataOf(const MeasuredSubject& subject);

/// The enabled edits of the subject alone.
EditList enabledEdits(const EditList& edits);
/// `action` with these in force in the model.
template <class Action>
auto withEdits(core::OpenedModel& model, const MeasuredSubject& subject, Action&& action) {
    struct None {  // of no other user of the model
        core::OpenedModel& model;
        ~None() { model.setEdits({}, {}); }
    } const none{model};
    model.setEdits(enabledEdits(subject.edits), editDataOf(subject));
    return action();
}

/// `action` with errors of options as sentences without the name of an option.
template <class Action>
auto withoutOptionNames(Action&& action) {
    try {
        return action();
    } catch (const OptionError& error) {
        std::string sentence = error.message();
        if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z')
            sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
        throw Error(sentence);
    }
}

}  // namespace relascope::app
