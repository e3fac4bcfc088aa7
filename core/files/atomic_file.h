// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are written completely or not at all, and free disk space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "types/error.h"

namespace relascope::core {

/// The disk is full. Nothing was replaced; the caller may wait and try again.
class DiskFull : public FileError {
public:
    using FileError::FileError;
};

/// Throws the exception for errno `error` while writing that file: DiskFull, or FileError with
/// `doing` ("cannot be written").
[[noreturn]] void throwWriteError(const std::string& path, const char* doing, int error);

/// Writes beside the target under a temporary name; commit() makes it durable (fsync), renames it
/// over the target and makes the rename durable. Without commit() the temporary file is removed.
class AtomicFile {
public:
    /// Opens the temporary file. Throws FileError when the folder cannot be written.
    explicit AtomicFile(const std::string& path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Appends bytes. Throws DiskFull or FileError.
    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    void commit();

private:
    std::string m_path, m_temporary;
    int m_file = -1;
};

/// The whole file as text; FileError when it is missing, unreadable or longer than `limit` bytes.
std::string readTextFile(const std::string& path, std::uint64_t limit = 64u << 20);
/// Writes text atomically.
void writeTextFile(const std::string& path, std::string_view text);
/// Makes a directory entry durable.
void syncDirectory(const std::string& directory);
/// Creates the directory and its parents; FileError with the reason when that fails.
void makeDirectories(const std::string& directory);
/// Free bytes for an unprivileged user on the file system of the directory.
std::uint64_t freeBytes(const std::string& directory);
/// Throws FileError unless a file can be created in the directory now.
void requireWritable(const std::string& directory);
/// CRC-32 (zlib's) of a file's content; for the manifest of a checkpoint.
std::uint32_t fileCrc32(const std::string& path);

}  // namespace relascope::core
