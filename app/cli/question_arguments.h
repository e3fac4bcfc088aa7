// SPDX-License-Identifier: GPL-3.0-or-later
// Questions (types/question.h) on the command line: their options, help and errors are made from
// the table of their fields (question/question_fields.h), and so is the way back from words.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "types/field.h"
#include "types/question.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace relascope::cli {

/// "--use-examples" of the field "use_examples".
std::string optionName(const std::string& field);

/// Declares options that are set in the question.
void declareFields(CLI::App& command, const std::vector<FieldSpec>& specs, Question& asked);

/// Throws OptionError for a text that is no step: a number from 0, "last" or "best".
void requireStep(const std::string& option, const std::string& text);
/// An option for a step.
CLI::Option* stepOption(CLI::App& command, const char* name, std::string& step, const char* help);

/// A word of such an option: its number, or -1 and the name.
struct StepWord {
    std::int64_t number = -1;
    std::string name;
};
StepWord stepOf(const std::string& word);

/// Declares what a command takes that is a question but its file: its models and its options. What
/// is given goes to `asked`, whose subjects become as many as the command may have, and to
/// `fetches` whether --fetch was.
void declareQuestion(CLI::App& command, const std::string& name, Question& asked,
                     const std::shared_ptr<bool>& fetches);
/// The question that words ask, which wordsOf() gives back. Throws
/// OptionError.
Question questionOf(const std::vector<std::string>& words);

}  // namespace relascope::cli
