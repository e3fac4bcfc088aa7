// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a report, each written within the signal handler; private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace relascope::crash {

// Output within a signal handler: system calls and a buffer of its own, no memory, no locks.

/// Writes to a file descriptor. After an error (a full disk) it writes nothing more.
class SafeWriter {
public:
    /// `home` is replaced by ~ where path() writes it; may be empty.
    SafeWriter(int file, std::string_view home) : m_file(file), m_home(home) {}
    ~SafeWriter() { flush(); }
    SafeWriter(const SafeWriter&) = delete;
    SafeWriter& operator=(const SafeWriter&) = delete;

    SafeWriter& text(std::string_view text);
    SafeWriter& path(std::string_view path);
    SafeWriter& number(std::uint64_t value, int digits = 1);
    SafeWriter& hex(std::uint64_t value);  ///< "0x7f"
    void flush();

private:
    int m_file;
    std::string_view m_home;
    char m_buffer[1024];
    std::size_t m_used = 0;
    bool m_failed = false;
};

/// The first line of every report.
constexpr std::string_view kTitle = "Relascope crash report, version 1";

/// Loads what the first look at a stack would load, which takes memory. Before any crash.
void prepareStack();
/// The functions of the calling thread from the place of the crash on (`context` of the signal),
/// and the files that they are in, with their build ids.
void writeStack(SafeWriter& out, const void* context);
/// The lines kept by note().
void writeNotes(SafeWriter& out);
/// Writes before, the name (without folders) of the file that is mapped at an address, and after;
/// nothing if there is none.
void writeFileAt(SafeWriter& out, std::uintptr_t address, std::string_view before,
                 std::string_view after);
/// Deletes the oldest reports in a folder (an open descriptor) until fewer than `most` are left.
void removeOldReports(int folder, int most);

}  // namespace relascope::crash
