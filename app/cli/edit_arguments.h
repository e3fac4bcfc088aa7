// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands that take edits share: reading --edit, and finding the data that edits need.
#pragma once

#include <string>
#include <vector>

#include "train/open_model.h"

namespace relascope::cli {

/// The edits of all --edit arguments, in order: files of edits, "none", or words (edit_words.h).
/// `points` are those of the model for the input. Throws OptionError or FileError.
EditList editsOf(const std::vector<std::string>& arguments, const std::vector<PointInfo>& points);

/// Whether "none" is among them: then edits that a run trains with are left out, too.
bool leavesOutAll(const std::vector<std::string>& arguments);
/// Edits that the opened weights are trained with: leaves them out if `arguments` say "none", else
/// names them on stderr.
void settleTrainingEdits(const std::vector<std::string>& arguments, const std::string& path,
                         core::OpenedModel& opened);
/// The words of each enabled edit.
std::vector<std::string> wordsOfEach(const EditList& edits);

/// Where edits of a run or checkpoint find examples, texts and pictures. `opened` must outlive it.
core::EditData editData(const std::string& path, const core::OpenedModel& opened);

/// An input in words: "sample:N" (of `split`), "text:T", "tokens:1,2,3", "image:FILE",
/// "reference:N" or "random:SEED". Throws OptionError(option, ...).
ProbeSample inputFromWords(const std::string& words, const std::string& option,
                           const std::string& path, const core::OpenedModel& opened,
                           const std::string& split);

/// {"metric": {"base", "edited", "change", "interval": [low, high]}, ...} and the changed answers.
/// `training`: the edits that are in both.
std::string effectJson(const EditEffect& effect, const EditList& edits, const EditList& training,
                       const std::string& split, std::int64_t step);
/// The same for people.
std::string effectText(const EditEffect& effect, const EditList& edits, const std::string& split);

}  // namespace relascope::cli
