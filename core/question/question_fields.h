// SPDX-License-Identifier: GPL-3.0-or-later
// What questions take: the options of their commands, without those that say where or how to
// compute. Their words, JSON, help and checks are made from these tables.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "types/field.h"
#include "types/question.h"

namespace relascope::core {

struct Analysis;

inline constexpr const char* kInspectView = "inspect";
inline constexpr const char* kStudyView = "study";
inline constexpr const char* kCurvesView = "curves";
inline constexpr std::size_t kMostCurves = 64;  ///< runs of a view of curves
/// Whether a view is of weights, not of what a study or a training has measured.
inline bool isOfWeights(const std::string& command) {
    return command != kStudyView && command != kCurvesView;
}

/// The analysis that a command is, also by a former name; null for another one.
const Analysis* analysisOfCommand(const std::string& command);
/// How the models of a question are named.
struct AskedModels {
    bool two = false;        ///< a second one may be named
    std::string checkpoint;  ///< the option for the weights of a run: "checkpoint", "step" or none
    bool changed = true;     ///< takes edits
    bool placed = true;      ///< takes a device
};
/// Throws OptionError("command", ...) for a command that is no question.
AskedModels modelsAsked(const std::string& command);
/// The options that choose an input of a model.
std::vector<FieldSpec> inputFields();
/// --pairs, and --fields that names its fields.
std::vector<FieldSpec> minimalPairFields();
/// The options of a command. Throws OptionError("command", ...) for one that no view has.
std::vector<FieldSpec> questionFields(const std::string& command);
/// The commands that are questions: inspect, the analyses, and those whose answers are no views.
std::vector<std::string> questionCommands();
bool isQuestion(const std::string& command);
/// One sentence about such a command, and its options.
std::string summaryOf(const std::string& command);
std::vector<FieldSpec> commandFields(const std::string& command);
/// The one of that name. Throws OptionError("options", ...).
const FieldSpec& fieldNamed(const std::vector<FieldSpec>& options, const std::string& name);

/// Throws OptionError ("--data", ...) for options that exclude, or need, one another.
void checkTogether(const Question& question);

/// Why the window cannot open a view: the option that its pages do not measure with, and its value.
/// Empty: it can. Commands draw all views.
std::string unreadByWindow(const Question& view);

}  // namespace relascope::core
