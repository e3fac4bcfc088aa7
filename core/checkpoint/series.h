// SPDX-License-Identifier: GPL-3.0-or-later
// A training that another program did, as a run: its checkpoints, revisions of a model on the hub,
// are the kept steps (formats.md section 11). Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "types/error.h"

namespace relascope::core {

struct SeriesStep {
    std::int64_t step = 0;    ///< as the name counts: steps, words or tokens
    std::string name;         ///< "chck_10M", "step1000"
    std::string checkpoint;   ///< a path, or "hub:ORG/NAME@COMMIT"
    std::uint64_t bytes = 0;  ///< of its files, about; 0: unknown
};

/// The names that are steps of one training, with their numbers, ascending by number: a word, a
/// number and perhaps K, M or B, as "step1000", "checkpoint-500" and "chck_10M". Of several words
/// the one with most names; none if it has fewer than two. Of equal numbers the first name counts.
std::vector<std::pair<std::int64_t, std::string>> stepsAmong(const std::vector<std::string>& names);

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
