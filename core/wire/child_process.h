// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that this one starts.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace relascope::wire {

/// A started process. It lives on without this object, which may be copied.
class ChildProcess {
public:
    /// Starts a program, by its path or found in PATH, in a session of its own (setsid), with
    /// default signals.
    /// `files`: pairs of a descriptor of this process and the descriptor it becomes in the child.
    /// Standard input, output and error are inherited unless given, other descriptors are not.
    /// `environment`: NAME=value, besides the environment of this process. Throws Error.
    ChildProcess(std::vector<std::string> words, const std::vector<std::pair<int, int>>& files,
                 std::vector<std::string> environment = {});

    int id() const;
    /// How it has ended, a status of waitpid(); nothing while it runs. Waits at most `wait`.
    std::optional<int> status(std::chrono::milliseconds wait = {}) const;

private:
    struct Shared;
    std::shared_ptr<Shared> m_shared;
};

/// The path of relascope-cli beside this program. Throws Error without one.
std::string commandProgram();

}  // namespace relascope::wire
