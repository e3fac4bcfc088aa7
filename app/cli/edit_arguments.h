// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the commands that take edits: reads --edit, and finds the data that edits need.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/open_model.h"
#include "interventions/named_edits.h"

namespace relascope::cli {

inline const std::string kEditHelp =
    "a file of edits, words as \"layer 2 relation 3 zero\", or none; can be repeated";

/// Handles the edits that the opened weights were trained with: leaves them out if `arguments` say
/// "none", otherwise keeps them. Names them on stderr in both cases.
void resolveTrainingEdits(const std::vector<std::string>& arguments, const std::string& path,
                          core::OpenedModel& opened);
/// Names the edits of --edit on stderr.
void nameEdits(const std::string& path, const EditList& edits);
/// Warns of fitted relations of other weights, on stderr.
void nameRelations(const core::OpenedModel& opened, const EditList& edits);
/// Prints the means that these edits took in the last call, one per line, to stderr: "layer 1
/// sensory head 2 mean: mean of 1,024 examples of train, standard error 0.012".
void nameMeans(const core::OpenedModel& opened, const EditList& edits);
/// The means that these edits took in the last call, as [{"edit", "split", "examples", "over",
/// "standard_error"}]; null if there are none.
nlohmann::ordered_json meansJson(const core::OpenedModel& opened, const EditList& edits);
/// Adds "edits" (the words of each) and "means" to an object, if there are any.
void addEdits(nlohmann::ordered_json& object, const core::OpenedModel& opened,
              const EditList& edits);
/// Adds "head", with what the answers are of, where the model was given one.
void addHead(nlohmann::ordered_json& object, const core::OpenedModel& opened);
/// The caption of a result: "run, step 100, validation", followed by ", edited: ..." with edits.
std::string editedCaption(const std::string& path, const core::OpenedModel& opened,
                          const EditList& edits, const std::string& more);
/// The words of each enabled edit.
std::vector<std::string> wordsOfEach(const EditList& edits);

/// The effect of edits as JSON: {"metric": {"base", "edited", "change", "interval": [low, high]},
/// ...} and the changed answers. Training edits apply to the base and the edited pass.
std::string effectJson(const EditEffect& effect, const core::OpenedModel& opened,
                       const EditList& edits, const std::string& split);
/// The effect of edits as text for people.
std::string effectText(const EditEffect& effect, const EditList& edits, const std::string& split);

}  // namespace relascope::cli
