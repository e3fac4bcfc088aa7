// SPDX-License-Identifier: GPL-3.0-or-later
// What a shell makes of a printed command.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "types/text_format.h"

namespace relascope::testing_support {

/// The words that relascope-cli would get of a line.
inline std::vector<std::string> shellWords(const std::string& line) {
    const auto command = "relascope-cli() { printf '%s\\0' \"$@\"; }; " + line;
    std::string all;
    FILE* shell = ::popen(("bash -c " + shellWord(command)).c_str(), "r");
    for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) all += static_cast<char>(c);
    ::pclose(shell);
    std::vector<std::string> words;
    for (std::size_t at = 0; at < all.size();) {
        const auto end = all.find('\0', at);
        words.push_back(all.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

/// Names that run something, or change the line they stand in, where they are not quoted.
inline const std::vector<std::string>& hostileNames() {
    static const std::vector<std::string> names = {"x'$(touch pwned)'",
                                                   "`touch pwned`",
                                                   "$(touch pwned)",
                                                   "; touch pwned #",
                                                   "a\nb",
                                                   "\x03touch pwned\n",
                                                   "\x1b[201~\ntouch pwned\n",
                                                   "--out=pwned",
                                                   "-rf",
                                                   "!!",
                                                   "*",
                                                   "~root",
                                                   "#x",
                                                   " a  b ",
                                                   "\\",
                                                   "\"",
                                                   "K\xc3\xa4se",
                                                   "\xe2\x80\xae"
                                                   "desrever",
                                                   "\xff",
                                                   "{a,b}",
                                                   "a|b&c",
                                                   "--seconds",
                                                   " --examples 5 "};
    return names;
}

}  // namespace relascope::testing_support
