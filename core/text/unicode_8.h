// SPDX-License-Identifier: GPL-3.0-or-later
// Categories of characters in Unicode 8, which HuggingFace's `tokenizers` counts by: characters
// that came later are in none of them (UnicodeData.txt of version 8.0).
#pragma once

#include <string>

namespace relascope::core {

/// A sign of ASCII, or a character of the categories Pc, Pd, Ps, Pe, Pi, Pf and Po.
bool isPunctuation8(char32_t c);
/// The category Mn.
bool isNonspacingMark8(char32_t c);
/// The category Cf.
bool isFormat8(char32_t c);
/// isPunctuation8() as a class of PCRE2, with its brackets.
const std::string& punctuation8Class();

}  // namespace relascope::core
