// SPDX-License-Identifier: GPL-3.0-or-later
// Locks between processes, which end with the process that holds them.
#pragma once

#include <string>
#include <utility>

namespace relascope::core {

/// Holds a file (flock), if no other process does, until it is destroyed. On a file system that has
/// no locks (some network file systems) what write() says of the process that holds it stands for
/// the lock: {"pid": N, "machine": HOST}, of a process of this machine that lives.
class FileLock {
public:
    FileLock() = default;
    /// Creates the file if it is missing. Throws FileError if it cannot be written, or neither
    /// locked nor said to be held.
    explicit FileLock(const std::string& path);
    FileLock(FileLock&& other) noexcept
        : m_file(std::exchange(other.m_file, -1)), m_problem(std::move(other.m_problem)) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(m_file, other.m_file);
        std::swap(m_problem, other.m_problem);
        return *this;
    }
    ~FileLock();

    bool held() const { return m_file >= 0; }
    /// Why the held file is not locked, as the system says it; empty: it is.
    const std::string& problem() const { return m_problem; }
    /// Replaces the text of the held file, from which others learn who holds it. False on failure.
    bool write(const std::string& text);
    int descriptor() const { return m_file; }
    /// Whether a process holds a file.
    static bool isHeld(const std::string& path);

private:
    int m_file = -1;
    std::string m_problem;
};

}  // namespace relascope::core
