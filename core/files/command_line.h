// SPDX-License-Identifier: GPL-3.0-or-later
// Commands as they are printed: in reports, answers, menus, messages and beside pictures. Names of
// attributes, classes, tokens and files come from others; whoever copies such a line into a shell
// runs the command that it shows, and nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "types/field.h"

namespace relascope::core {

/// A word for a shell (bash, zsh, ksh): bare if a shell leaves it as it is, else in single quotes.
/// One with characters that command a terminal is written as $'\033', so that neither printing nor
/// pasting carries them out.
std::string quotedWord(std::string_view word);
/// Words as a part of a line for a shell; the home folder at the start of a word is "~". No words
/// give no text.
std::string shellText(const std::vector<std::string>& words);
/// An option with its value, as addWords() gives it.
std::string optionText(const std::string& option, const std::string& value);
/// "relascope-cli", and shellText() of the words; empty without words.
std::string commandLine(const std::vector<std::string>& words);

/// Adds an option and its value: `--name VALUE`, or `--name=VALUE` if the value begins with "-"
/// and would be taken for another option.
void addWords(std::vector<std::string>& words, const std::string& option, const std::string& value);
/// Adds the value of a field, whose "_" are "-" in the option: a flag if it is true,
/// every text of a list by itself, numbers of a list in one word.
void addField(std::vector<std::string>& words, const std::string& field, const FieldValue& value);
/// The name of the file or folder at a path, also of ".", for captions.
std::string folderName(const std::string& path);
/// A path as a word that cannot be taken for an option.
std::string placeWord(const std::string& path);

}  // namespace relascope::core
