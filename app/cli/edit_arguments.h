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

/// Where edits of a run or checkpoint find examples, texts and pictures. `opened` must outlive it.
core::EditData editData(const std::string& path, const core::OpenedModel& opened);

/// An input in words: "sample:N" (of `split`), "text:T", "tokens:1,2,3", "image:FILE",
/// "reference:N" or "random:SEED". Throws OptionError(option, ...).
ProbeSample inputFromWords(const std::string& words, const std::string& option,
                           const std::string& path, const core::OpenedModel& opened,
                           const std::string& split);

/// {"metric": {"base", "edited", "change", "interval": [low, high]}, ...} and the changed answers.
std::string effectJson(const EditEffect& effect, const EditList& edits, const std::string& split,
                       std::int64_t step);
/// The same for people.
std::string effectText(const EditEffect& effect, const EditList& edits, const std::string& split);

}  // namespace relascope::cli
