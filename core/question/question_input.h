// SPDX-License-Identifier: GPL-3.0-or-later
// The input that a question names: by options of its own, or as one word of --clean or --corrupt.
// Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "types/question.h"

namespace relascope::core {

/// Whether the options choose an input that is no example of the data.
bool hasOwnInput(const Question& asked);
/// The options that choose the input, or of a pair its input A, without those of the command.
Question inputOf(const Question& asked);
/// An input as one word: "sample:3", "tokens:1,2", "text:T"; empty for one that has none, as pairs
/// of sequences.
std::string inputWord(const Question& input);
/// The option that such a word, the value of `option`, is. Throws OptionError(option, ...).
Option inputOfWord(const std::string& option, const std::string& word);

}  // namespace relascope::core
