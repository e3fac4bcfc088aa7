// SPDX-License-Identifier: GPL-3.0-or-later
// Locks between processes, which end with the process that holds them.
#pragma once

#include <string>
#include <utility>

namespace relascope::core {

/// Holds a file (flock), if no other process does, until it is destroyed.
class FileLock {
public:
    FileLock() = default;
    /// Creates the file if it is missing. Throws FileError if it cannot be written.
    explicit FileLock(const std::string& path);
    FileLock(FileLock&& other) noexcept : m_file(std::exchange(other.m_file, -1)) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(m_file, other.m_file);
        return *this;
    }
    ~FileLock();

    bool held() const { return m_file >= 0; }
    /// Replaces the text of the held file, from which others learn who holds it. False on failure.
    bool write(const std::string& text);
    int descriptor() const { return m_file; }
    /// Whether a process holds a file.
    static bool isHeld(const std::string& path);

private:
    int m_file = -1;
};

}  // namespace relascope::core
