// SPDX-License-Identifier: GPL-3.0-or-later
// What the pages show, as views (types/view.h): a command that makes the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/controllers/analysis_controller.h"
#include "app/controllers/inspection.h"
#include "types/view.h"

namespace relascope::app {

class CheckpointController;
class Controllers;
class DuelProbes;
class TextGenerator;

/// The words of the enabled edits; nullopt where one cannot be said in words: values that are
/// lists, or an input that is patched in.
std::optional<std::vector<std::string>> editWords(const EditList& edits);

/// The options of a command for an input of the user; nullopt where there are none.
std::optional<std::vector<Option>> inputWords(const Inspection& session);
/// The same for what the Workbench shows: also an example of the data, or the pinned sentence.
std::optional<std::vector<Option>> shownInput(Controllers& c);

/// What the inspector of the Workbench or of the page Checkpoint shows, without its map. nullopt:
/// weights that are on no disk yet, or on another machine, or what cannot be said in words.
std::optional<View> describeRun(Controllers& c);
std::optional<View> describeCheckpoint(Controllers& c);

/// The evaluation of a checkpoint; nullopt for generated data, which are no file.
std::optional<View> describeEvaluation(const CheckpointController& c);
/// What a command says of the files of a checkpoint: `info` of its path, or `verify` of its folder.
/// nullopt for one on another machine.
std::optional<View> describeFiles(const std::string& command, const std::string& path);

/// What a side of the Duel shows of its input, without its map.
std::optional<View> describeSide(const DuelProbes& probes, std::size_t side);

/// The text that was generated last.
std::optional<View> describeText(const TextGenerator& generator);

/// An analysis that is asked, without its answer.
std::optional<View> describeAnalysis(const core::Analysis& analysis, const AnalysisRequest& request,
                                     const AnalysedSubject& subject);

}  // namespace relascope::app
