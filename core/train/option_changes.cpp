// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/option_changes.h"
#include "options/field_text.h"

namespace relascope::core {
namespace {

// The live options that a checkpoint keeps with its position.
void takeFromOptions(TrainState& state, const TrainOptions& options) {
    state.baseRate = options.learning_rate;
    state.evaluateEvery = options.evaluate_every;
    state.captureEvery = options.capture_every;
}

void noteEdit(TrainJob& job, const Field<RunOptions>& field, const FieldValue& before) {
    job.note(Note::Level::Edit, field.spec.label + " " + fieldValueText(before) + " → " +
                                    fieldValueText(field.get(job.options)));
}

}  // namespace

void changeOption(TrainJob& job, const std::string& key, const FieldValue& value) {
    try {
        const auto& field = RunOptions::field(key);
        if (!field.spec.live) throw OptionError(key, "cannot be changed during training");
        checkFieldValue(key, field.spec, value);
        const FieldValue before = field.get(job.options);
        if (before == value) return;
        if (!job.broadcastBool(hasKeptCheckpoint(job.folder.path(), job.state.step))) {
            job.checkpoint();
            job.keepThisCheckpoint(job.options);
        }
        field.set(job.options, value);
        takeFromOptions(job.state, job.options.train);
        job.folder.setOptions(job.options);
        job.folder.info().options = optionTexts(job.options);
        job.retryUntilDiskHasRoom([&] { job.folder.saveInfo(); });
        noteEdit(job, field, before);
    } catch (const OptionError& error) {
        job.note(Note::Level::Warning, error.what());
    }
}

void takeLiveOptions(TrainJob& job) {
    RunOptions before = job.options;
    before.train.learning_rate = job.state.baseRate;
    before.train.evaluate_every = job.state.evaluateEvery;
    before.train.capture_every = job.state.captureEvery;
    takeFromOptions(job.state, job.options.train);
    // A checkpoint that is kept already has the mark of its edit.
    if (before == job.options || hasKeptCheckpoint(job.folder.path(), job.state.step)) return;
    job.keepThisCheckpoint(before);
    for (const auto& field : RunOptions::fieldTable())
        if (const auto was = field.get(before); was != field.get(job.options))
            noteEdit(job, field, was);
}

}  // namespace relascope::core
