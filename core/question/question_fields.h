// SPDX-License-Identifier: GPL-3.0-or-later
// What questions take: the options of their commands, without those that say where or how to
// compute. Their words, JSON, help and checks are made from these tables.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "types/field.h"
#include "types/question.h"

namespace relascope::core {

inline constexpr const char* kInspectView = "inspect";
inline constexpr const char* kStudyView = "study";
inline constexpr const char* kCurvesView = "curves";
inline constexpr const char* kDataView = "data";
inline constexpr std::size_t kMostCurves = 64;  ///< runs of a view of curves
/// Whether a view is of weights, not of data or of what a study or a training has measured.
inline bool isOfWeights(const std::string& command) {
    return command != kStudyView && command != kCurvesView && command != kDataView;
}

/// The analysis that a command is, also by a former name; null for another one.
const Analysis* analysisOfCommand(const std::string& command);
/// What a question is of: the weights of a model, which may be one of the hub and be fetched; runs,
/// also series of the hub; or files and names as they are.
enum class AskedOf { Weights, Runs, Files };
/// How the models of a question, or what else it is of, are named.
struct AskedModels {
    std::size_t most = 1;         ///< most models; above two a command line may list any number
    std::string checkpoint = {};  ///< the option for the weights of a run: "checkpoint", "step"
    bool changed = true;          ///< takes edits
    bool placed = true;           ///< takes a device
    AskedOf of = AskedOf::Weights;
    std::string name = "path";  ///< name of the word or list, also in JSON
    std::string help = "run or checkpoint folder";
};
/// The option for Model::head: of the inspector --head is one of attention.
inline const char* headOption(const std::string& command) {
    return command == kInspectView ? "readout" : "head";
}
inline constexpr const char* kHeadHelp =
    "of a model of images without classes: what its features say, by means (of the classes of the "
    "pictures), ridge, ridge:L, ridge:best, texts (the names of the classes), a file of texts, a "
    "line each, or a .safetensors of a head or of features of texts; none: features";
inline constexpr const char* kImageSizeHelp =
    "of a public model of images: width x height of its images in pixels, 448 or 448x336, a "
    "multiple of the patch";
/// Throws OptionError("command", ...) for a command that is no question.
AskedModels modelsAsked(const std::string& command);
/// The options that choose an input of a model.
std::vector<FieldSpec> inputFields();
/// --pairs, and --fields that names its fields.
std::vector<FieldSpec> minimalPairFields();
/// The commands that are questions.
std::vector<std::string> questionCommands();
bool isQuestion(const std::string& command);
/// One sentence about such a command.
std::string summaryOf(const std::string& command);
/// The options of a command. Throws OptionError("command", ...) for one that is no question.
std::vector<FieldSpec> questionFields(const std::string& command);
/// Whether its answer is a picture of a model, a study, curves or data, which a view file may keep.
bool isView(const std::string& command);
/// Throws OptionError("command", ...) for a command that is no view.
void checkIsView(const std::string& command);
/// The option of that name. Throws OptionError("options", ...).
const FieldSpec& fieldNamed(const std::vector<FieldSpec>& options, const std::string& name);

/// The values that a question gives the fields of an analysis.
OptionValues valuesOf(const Analysis& analysis, const Question& asked);
/// Throws OptionError ("--data", ...) for options that exclude, or need, one another.
void checkTogether(const Question& question);

/// Why the window cannot open a view: the option that its pages do not measure with, and its value.
/// Empty: it can. Commands draw all views.
std::string unreadByWindow(const Question& view);

}  // namespace relascope::core
