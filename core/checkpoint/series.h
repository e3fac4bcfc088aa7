// SPDX-License-Identifier: GPL-3.0-or-later
// A training that another program did, as a run: its checkpoints, revisions of a model on the hub,
// are the kept steps (formats.md section 11). Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hub/hub_cache.h"
#include "types/error.h"

namespace relascope::core {

struct SeriesStep {
    std::int64_t step = 0;    ///< as the name counts: steps, words or tokens
    std::string name;         ///< "chck_10M", "step1000"
    std::string checkpoint;   ///< a path, or "hub:ORG/NAME@COMMIT"
    std::uint64_t bytes = 0;  ///< approximate size of its files; 0: unknown
};

/// Names that are steps of one training.
struct NamedSteps {
    /// What else all of them have: "stage1", "seed2"; nothing: empty, among several the word.
    std::string group;
    std::vector<std::pair<std::int64_t, std::string>> steps;  ///< ascending by number
    std::vector<std::string> leftOut;  ///< names whose number another name has before them
};
/// Names with a word that counts steps (step, iter, checkpoint, ckpt, chck, epoch, tokens) and a
/// number, which may have decimals and K, M, B or T: "step1000", "checkpoint-500", "chck_10M",
/// "stage1-step1000-tokens5B". Numbers of tokens beside a step go with it; any other part, as a
/// stage or a seed, makes a group of its own. Groups of two names or more, that with most steps
/// first.
std::vector<NamedSteps> groupsOfSteps(const std::vector<std::string>& names);
/// "stage1 (3 steps), stage2 (2 steps)".
std::string groupsText(const std::vector<NamedSteps>& groups);
/// The group that a revision "*" or "GROUP*" names; null: there is none.
const NamedSteps* groupNamed(const std::vector<NamedSteps>& groups, const HubModel& model);

/// "ORG/NAME, GROUP".
std::string seriesTitle(const HubModel& model);
/// The run of a series on this machine; made of the revisions that the cache of the hub knows if it
/// is not there. Makes no connection. Throws as hubPath(), makeSeries().
std::string openSeries(const HubModel& model);
/// Throws FileError for a series without points, which says what it lacks.
void requirePoints(const std::string& run);

/// Makes the run folder of a series, or brings one up to date: steps that are new are added, and
/// none is removed. `opened` is the checkpoint of one of them, on this machine, from which the
/// model and the tokenizer are taken. Throws FileError, OptionError for a model that is no language
/// model.
void makeSeries(const std::string& folder, const std::string& title,
                const std::vector<SeriesStep>& steps, const std::string& opened);
/// Whether a run is a series.
bool isSeries(const std::string& run);

// What weights/step-N.json holds: the checkpoint of a step that is elsewhere.

std::string seriesStepPath(const std::string& weightsFolder, std::int64_t step);
/// The step of such a file name; -1 for any other name.
std::int64_t seriesFileStep(const std::string& name);
/// Throws FileError with the field that is wrong.
SeriesStep readSeriesStep(const std::string& weightsFolder, std::int64_t step);
/// The folder or file of the checkpoint on this machine; empty if it is a model of the hub that is
/// not in its cache.
std::string placeOf(const SeriesStep& step);

}  // namespace relascope::core
