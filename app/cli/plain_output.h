// SPDX-License-Identifier: GPL-3.0-or-later
// Output of the commands. Names, tokens and sentences come from files of others and must not
// control the terminal: control characters are written as escapes (plainText()).
#pragma once

#include <string_view>

namespace relascope::cli {

/// std::cout and std::cerr write without control characters while it lives. They and C's stdout may
/// be used side by side.
class PlainOutput {
public:
    PlainOutput();
    ~PlainOutput();
    PlainOutput(const PlainOutput&) = delete;
    PlainOutput& operator=(const PlainOutput&) = delete;
};

/// Prints like printf(), through std::cout.
__attribute__((format(printf, 1, 2))) void print(const char* format, ...);

/// Writes the bytes of a computed text unchanged, or, on a terminal, as print() does. Throws
/// FileError when they cannot be written.
void writeText(std::string_view bytes);

}  // namespace relascope::cli
