// SPDX-License-Identifier: GPL-3.0-or-later
// What a question is about: the inputs, data and models that its options name, opened.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "types/question.h"
#include "types/relation_map.h"

namespace relascope::cli {

/// Whether the input is no example of the data.
bool hasOwnInput(const Question& asked);

struct SampleInput {
    ProbeSample sample;
    std::vector<std::string> classNames;  ///< only for examples of the data
};
/// Reads an image file as an input of the model. Throws OptionError(`option`, ...) if the model
/// does not read images, FileError if the file cannot be read.
ProbeSample readPicture(const std::string& file, const core::OpenedModel& model,
                        const std::string& option);
/// Reads the input that the options choose; `path` is that of the model. Throws OptionError naming
/// the option, or FileError.
SampleInput readSample(core::OpenedModel& model, const std::string& path, const Question& asked);
/// The classes of a run's data; empty for a checkpoint, and where the data cannot be opened.
std::vector<std::string> classNamesOf(const core::OpenedModel& model, const std::string& path);

/// What an analysis is asked of, and its names in captions.
struct AskedSubject {
    core::AnalysisSubject subject;
    ProbeSample points;  ///< an input of the model, for the edits
    std::string caption, sample;
    std::int64_t example = -1;  ///< `points` is that example of the split; -1: it is another input
};
/// Opens the inputs and data of a question to the model. Says on stderr what was left out of files.
/// Throws OptionError that names the option, FileError, Cancelled.
AskedSubject subjectOf(const core::Analysis& analysis, const Question& asked,
                       const core::OptionValues& values, core::OpenedModel& model,
                       const std::stop_token& stop);
/// The second of two models, with its edits.
std::shared_ptr<const core::AnalysisSubject> otherSubject(const Question& asked,
                                                          const AskedSubject& first,
                                                          const std::stop_token& stop);

}  // namespace relascope::cli
