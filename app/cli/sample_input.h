// SPDX-License-Identifier: GPL-3.0-or-later
// The input that a command shows a model: an example of its data, a file, a text, or numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/relation_map.h"

namespace CLI {
class App;
}

namespace relascope::core {
class OpenedModel;
}  // namespace relascope::core

namespace relascope::cli {

struct SampleArguments {
    std::string image, text, tokenizer, split = "validation";
    std::int64_t sample = -1, reference = 0, random = -1;
    std::vector<std::int64_t> tokens, target;
};

/// Whether the input is no example of the data.
bool hasOwnInput(const SampleArguments& arguments);

/// Declares the options that choose an input of a model.
void sampleOptions(CLI::App& command, SampleArguments& arguments);

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
SampleInput readSample(core::OpenedModel& model, const std::string& path,
                       const SampleArguments& arguments);
/// The classes of a run's data; empty for a checkpoint, and where the data cannot be opened.
std::vector<std::string> classNamesOf(const core::OpenedModel& model, const std::string& path);

}  // namespace relascope::cli
