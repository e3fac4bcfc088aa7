// SPDX-License-Identifier: GPL-3.0-or-later
// Processes of this machine, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace relascope::testing_support {

struct ProcessState {
    char state = 'Z';  ///< 'Z': the process has ended, or does not exist
    pid_t parent = 0;
};

inline ProcessState stateOfProcess(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ProcessState found;
    const auto end = text.rfind(')');  // end of the name, which may contain any characters
    if (end == std::string::npos) return found;
    std::istringstream rest(text.substr(end + 2));
    rest >> found.state >> found.parent;
    return found;
}

inline bool lives(pid_t process) {
    return stateOfProcess(process).state != 'Z';
}

/// Processes that `parent` has started and that have not ended.
inline std::vector<pid_t> childrenOf(pid_t parent) {
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto state = stateOfProcess(std::stoi(name));
        if (state.parent == parent && state.state != 'Z') found.push_back(std::stoi(name));
    }
    return found;
}

/// Processes that `parent` has started, that have not ended, and that have `word` as an argument.
inline std::vector<pid_t> childrenOf(pid_t parent, const std::string& word) {
    auto found = childrenOf(parent);
    std::erase_if(found, [&](pid_t child) {
        std::ifstream file("/proc/" + std::to_string(child) + "/cmdline");
        for (std::string each; std::getline(file, each, '\0');)
            if (each == word) return false;
        return true;
    });
    return found;
}

}  // namespace relascope::testing_support
