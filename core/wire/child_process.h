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

/// Lives on without this object, which may be copied.
class ChildProcess {
public:
    /// Starts a program, by its path or found in PATH, in a session of its own (setsid), with the
    /// signals that are usual.
    /// `files`: descriptors of this process, and those that the child has them as. Standard input,
    /// output and error are inherited where they are not among them, other descriptors are not.
    /// `environment`: NAME=value, beside what this process has. Throws Error.
    ChildProcess(std::vector<std::string> words, const std::vector<std::pair<int, int>>& files,
                 std::vector<std::string> environment = {});

    int id() const;
    /// How it has ended, as waitpid() says; nothing while it runs. Waits at most so long.
    std::optional<int> status(std::chrono::milliseconds wait = {}) const;

private:
    struct Shared;
    std::shared_ptr<Shared> m_shared;
};

/// relascope-cli beside this program. Throws Error without one.
std::string commandProgram();

}  // namespace relascope::wire
