// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/training_edits.h"

#include <algorithm>

#include "interventions/check_edits.h"
#include "interventions/edit_json.h"
#include "interventions/edit_words.h"
#include "interventions/edited_run.h"
#include "probe/probe.h"
#include "train/train_job.h"

namespace relascope::core {
namespace {

// The axes along which inputs of different lengths, and answers that grow, differ.
bool grows(const std::string& axis) {
    return axis == "position" || axis == "i" || axis == "j";
}

bool countsFromTheEnd(const AxisSelection& selection) {
    return std::any_of(selection.places.begin(), selection.places.end(),
                       [](auto place) { return place < 0; }) ||
           selection.low.value_or(0) < 0 || selection.high.value_or(0) < 0;
}

// Samples and answers that are decoded token by token must have the places of training.
void requireFixedPlaces(const Edit& edit, const std::string& where) {
    const std::string why =
        "counts from the end, which moves while a run generates its samples and answers; count "
        "from the start";
    for (const auto& [axis, selection] : edit.selection)
        if (grows(axis) && countsFromTheEnd(selection)) throw OptionError(where + "." + axis, why);
    if (edit.op == EditOp::Swap && grows(edit.axis) && std::min(edit.first, edit.second) < 0)
        throw OptionError(where + ".pair", why);
}

void requireOthers(const Edit& edit, const std::string& where, InputKind input,
                   std::int64_t batchSize) {
    if (edit.op != EditOp::Resample) return;
    if (input == InputKind::Pairs)
        throw OptionError(
            where + ".op",
            "resample is not for training on sequences: answers that are decoded "
            "token by token have no others to take values from; use mean with values");
    if (edit.shift % batchSize == 0)
        throw OptionError(where + ".shift",
                          std::to_string(edit.shift) + " gives every example of a batch of " +
                              std::to_string(batchSize) + " itself; choose another shift");
}

}  // namespace

EditList checkedTrainingEdits(EditList list, const std::vector<PointInfo>& points,
                              const ModelOptions& options, std::int64_t batchSize) {
    std::erase_if(list.edits, [](const Edit& edit) { return !edit.enabled; });
    checkEdits(list, points, EditUse::Train);
    const auto input = options.input();
    for (std::size_t i = 0; i < list.edits.size(); ++i) {
        const auto where = "edits[" + std::to_string(i) + "]";
        if (input == InputKind::Tokens || input == InputKind::Pairs)
            requireFixedPlaces(list.edits[i], where);
        requireOthers(list.edits[i], where, input, batchSize);
    }
    list.inputs.clear();  // inputs of disabled edits
    if (list.edits.empty()) return {};
    return editsFromJson(editsToJson(list), "the edits of training");
}

std::vector<PointInfo> trainingPoints(TrainJob& job) {
    return pointsOf(*job.model,
                    inputOf(job.data.train->sample(0), job.options.model).to(job.device));
}

std::unique_ptr<ActiveEdits> trainingSession(TrainJob& job, const EditList& list) {
    if (list.edits.empty()) return nullptr;
    return std::make_unique<ActiveEdits>(*job.model, job.options.model, list,
                                         editDataOf(job.data, job.options.model), EditUse::Train);
}

void useTrainingEdits(TrainJob& job, const EditList& list) {
    job.edits = trainingSession(job, list);
    job.state.edits = list;
    job.folder.info().edits = list;
}

void recordTrainingEdits(TrainJob& job) {
    // The checkpoint has the new edits, so that a run that is killed now resumes with them.
    job.checkpoint();
    job.keepThisCheckpoint(job.options);
    const auto& list = job.state.edits;
    Note note{Note::Level::Edit, job.state.step,
              list.edits.empty() ? std::string("no edits in training from here on")
                                 : "edits in training from here on: " + wordsOf(list),
              std::make_shared<const EditList>(list)};
    job.note(std::move(note));
    job.retryUntilDiskHasRoom([&] { job.folder.flush(); });
}

bool takeTrainingEdits(TrainJob& job, EditList list) {
    try {
        list = checkedTrainingEdits(std::move(list), trainingPoints(job), job.options.model,
                                    job.options.train.batch_size);
    } catch (const Error& error) {
        job.note(Note::Level::Warning,
                 std::string("edits not applied to training: ") + error.what());
        return false;
    }
    if (list == job.state.edits) return false;
    useTrainingEdits(job, list);
    recordTrainingEdits(job);
    return true;
}

}  // namespace relascope::core
