// SPDX-License-Identifier: GPL-3.0-or-later
// A command that answers with tables about a model, from what its folder says, without its weights:
// described and answered in one file of this folder, from which help, completion, Python, agents
// and views get it. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "types/question.h"

namespace relascope::core {

struct TableCommand {
    Analysis described;  ///< its name, title, summary, options and forms
    /// Answers for the model of a question. Throws FileError, OptionError.
    Answer (*answer)(const Question& asked);
};

/// An object of it, at namespace scope, adds a command.
class AddTableCommand {
public:
    AddTableCommand(std::string name, std::string title, std::string summary,
                    Answer (*answer)(const Question&), std::vector<AnalysisField> fields = {});
};

/// All of them, by name.
const std::vector<TableCommand>& tableCommands();
/// The one of that name; null for another command.
const TableCommand* findTableCommand(const std::string& name);
/// What describes the answers of a command: the analysis that it is, or the tables. Null for
/// others.
const Analysis* describedAnswer(const std::string& command);

}  // namespace relascope::core
