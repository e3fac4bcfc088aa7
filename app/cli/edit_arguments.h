// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands that take edits share: reading --edit, and finding the data that edits need.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/open_model.h"
#include "interventions/named_edits.h"

namespace relascope::cli {

inline const std::string kEditHelp =
    "a file of edits, words as \"layer 2 relation 3 zero\", or none; can be repeated";

/// Edits that the opened weights are trained with: leaves them out if `arguments` say "none", else
/// names them on stderr.
void resolveTrainingEdits(const std::vector<std::string>& arguments, const std::string& path,
                          core::OpenedModel& opened);
/// The edits of --edit, which it names on stderr, and where they find values. `sample` is an input
/// of the model, which must stay where it is. Throws OptionError or FileError.
core::Interventions interventionsOf(const std::vector<std::string>& arguments,
                                    const std::string& path, core::OpenedModel& opened,
                                    const ProbeSample& sample,
                                    core::EditUse use = core::EditUse::Inspect);
/// The means that these edits took in the last call: "layer 1 sensory head 2 mean: mean of 1,024
/// examples of train, standard error 0.012" on stderr, a line each.
void nameMeans(const core::OpenedModel& opened, const EditList& edits);
/// The same as [{"edit", "split", "examples", "over", "standard_error"}], null without any.
nlohmann::ordered_json meansJson(const core::OpenedModel& opened, const EditList& edits);
/// Adds "edits", the words of each, and "means" to an object, where there are any.
void addEdits(nlohmann::ordered_json& object, const core::OpenedModel& opened,
              const EditList& edits);
/// "run, step 100, validation", and ", edited: ..." with edits.
std::string editedCaption(const std::string& path, const core::OpenedModel& opened,
                          const EditList& edits, const std::string& more);
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
/// Training edits apply to the base and the edited pass.
std::string effectJson(const EditEffect& effect, const core::OpenedModel& opened,
                       const EditList& edits, const std::string& split);
/// The same for people.
std::string effectText(const EditEffect& effect, const EditList& edits, const std::string& split);

}  // namespace relascope::cli
