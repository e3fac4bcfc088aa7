// SPDX-License-Identifier: GPL-3.0-or-later
// An ablation table as an answer: "rows" has a line for each part and way, and where they were
// measured "cumulative" and "pairs".
#pragma once

#include <string>
#include <vector>

#include "types/answer.h"
#include "types/edit_results.h"

namespace relascope::core {

/// The claims about the parts of a table (analysis/pairs/claims.h), as words.
struct ClaimedUses {
    std::vector<std::string> words;  ///< claim about each row, "needed"; may be empty
    double least = 0.0;              ///< the loss that matters; 0: not known
    std::string remark;              ///< why nothing is said; empty otherwise
};
/// The table as an answer.
Answer answerOf(const AblationTable& table, const ClaimedUses& uses);
/// The heading of a column of such words, with the loss that matters: "Use (2.3 points)".
std::string useHeading(const std::string& metric, double least);

/// Read an ablation table back. Throw Error for another answer.
AblationTable ablationTableOf(const Answer& answer);
std::vector<std::string> usesOf(const Answer& answer);

/// The edit of a row as JSON in one line, and back; empty: there is none.
std::string editText(const Edit& edit);
Edit editOfText(const std::string& text);
/// The names of operations in files, by the number of the operation.
const std::vector<std::string>& editOpNames();

}  // namespace relascope::core
