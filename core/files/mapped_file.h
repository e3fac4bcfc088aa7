// SPDX-License-Identifier: GPL-3.0-or-later
// The bytes of a file as memory.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>

namespace relascope::core {

/// A mapping of a file, whose pages are read when they are touched. A page that the file no longer
/// has is a fault (SIGBUS) and not an error: at() and requireUnchanged() are asked before.
class MappedFile {
public:
    enum class Pages {
        ReadOnly,
        Writable,  ///< a page that is written becomes a copy of this process
    };

    /// Maps the file at `path`. Throws FileError.
    explicit MappedFile(const std::string& path);
    /// Takes ownership of an open file; `name` is for messages.
    MappedFile(int file, std::string name, Pages pages = Pages::ReadOnly);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    const std::string& path() const { return m_path; }
    std::uint64_t size() const { return m_size; }
    /// A view of the mapping. Throws FileError if the file has been truncated.
    const std::uint8_t* at(std::uint64_t offset, std::uint64_t bytes) const;
    /// A view of writable pages.
    std::uint8_t* writable(std::uint64_t offset, std::uint64_t bytes) const {
        return const_cast<std::uint8_t*>(at(offset, bytes));
    }
    /// Copies bytes without touching the mapping, for reading all of a large file.
    void read(std::uint64_t offset, std::span<std::uint8_t> out) const;

    bool holds(const void* address) const {
        return address >= m_bytes && address < m_bytes + m_size;
    }
    /// Throws FileError if the file was truncated or written to since it was mapped.
    void requireUnchanged() const;
    /// Whether the pages come from this machine's own disks or memory. Pages of a network, or of
    /// another program, can fail in the middle.
    bool isLocal() const;

private:
    void map(Pages pages);

    std::string m_path;
    int m_file = -1;
    std::uint64_t m_size = 0;
    struct timespec m_written {};
    const std::uint8_t* m_bytes = nullptr;
};

}  // namespace relascope::core
