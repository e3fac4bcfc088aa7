// SPDX-License-Identifier: GPL-3.0-or-later
// The names of the published archives of the Relational Games.
#pragma once

#include <string>
#include <vector>

namespace relascope::datasets {

inline const std::vector<std::string>& gameFamilies() {
    static const std::vector<std::string> names = {"pentos", "hexos", "stripes"};
    return names;
}

/// "1task_between_hexos.npz": for two tasks the name in the file name differs.
inline std::string gameFile(const std::string& task, const std::string& family) {
    const std::string printed = task == "between"         ? "1task_between"
                                : task == "match_pattern" ? "1task_match_patt"
                                                          : task;
    return printed + "_" + family + ".npz";
}

}  // namespace relascope::datasets
