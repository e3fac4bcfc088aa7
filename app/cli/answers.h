// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands lens and attribute have in common: a model with an input, the names of answers,
// and how text, tables and JSON show them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/open_model.h"
#include "analysis/results.h"
#include "app/cli/commands.h"
#include "app/cli/sample_input.h"
#include "types/along.h"
#include "types/edit_results.h"
#include "types/error.h"
#include "types/lens.h"
#include "types/relation_map.h"

namespace relascope::core {
class OpenedModel;
}  // namespace relascope::core

namespace relascope::cli {

struct AnsweredInput {
    core::OpenedModel model;
    SampleInput input;
    /// The id of an answer by its name. Throws OptionError(`option`, ...).
    std::int64_t id(const std::string& word, const char* option) const {
        return model.answerId(word, option, input.sample, input.classNames);
    }
};
/// Declares the options that lens and attribute have in common.
void answerOptions(CLI::App& command, LensArguments& arguments);
AnsweredInput openAnswered(const LensArguments& arguments);

/// Options of the core by their names on the command line.
template <class Action>
auto withOptionNames(Action&& action) {
    try {
        return action();
    } catch (const OptionError& error) {
        for (const char* name : {"position", "logit", "minus", "answer", "top", "length"})
            if (error.field() == name) throw OptionError("--" + error.field(), error.message());
        throw;
    }
}

/// Characters of a text, cut or filled to `width`.
std::string cellText(const std::string& text, std::size_t width, bool right = false);
/// A number as `format` of printf says.
std::string numberText(const char* format, double value);
/// A bar of `width` characters for a share of 1; none for shares below 0 and for NaN.
std::string barText(char mark, double share, int width);
/// Between quotation marks, so that the spaces of tokens are seen.
std::string quoted(const std::string& name);

nlohmann::ordered_json answerJson(const LensAnswer& answer);
/// Prints one object; names of classes and files may be any bytes.
void printJson(const nlohmann::ordered_json& object);
/// Names the means that edits took, and draws the result to --out or writes it there as CSV, where
/// it is given; `origin` is that of the input.
void writeResult(const core::AnalysisResult& result, const LensArguments& arguments,
                 const Call& call, const core::OpenedModel& model, const EditList& edits,
                 const std::string& origin);

}  // namespace relascope::cli
