// SPDX-License-Identifier: GPL-3.0-or-later
// An ablation table as an answer: "rows" has a line for each part and way, and where they were
// measured "cumulative" and "pairs".
#pragma once

#include <string>
#include <vector>

#include "types/answer.h"
#include "types/edit_results.h"

namespace relascope::core {

/// The table as an answer. `uses`: for each row a word for whether the model needs the part; or
/// empty.
Answer answerOf(const AblationTable& table, const std::vector<std::string>& uses);

/// Read an ablation table back. Throw Error for another answer.
AblationTable ablationTableOf(const Answer& answer);
std::vector<std::string> usesOf(const Answer& answer);

/// The edit of a row as JSON in one line, and back; empty: there is none.
std::string editText(const Edit& edit);
Edit editOfText(const std::string& text);
/// The names of operations in files, by the number of the operation.
const std::vector<std::string>& editOpNames();

}  // namespace relascope::core
