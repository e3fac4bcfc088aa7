// SPDX-License-Identifier: GPL-3.0-or-later
// ZIP archives as PyTorch writes them: stored entries whose bytes begin at multiples of 64.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "files/atomic_file.h"

namespace relascope::core {

/// Whole or not at all (temporary file, fsync, rename); ZIP64 where sizes need it. Entries are
/// streamed: the size is told first, the CRC follows the bytes. Throws FileError, DiskFull.
class ZipWriter {
public:
    explicit ZipWriter(const std::string& path) : m_file(path), m_path(path) {}

    void begin(const std::string& name, std::uint64_t size);
    void write(std::span<const std::uint8_t> bytes);
    void end();
    /// begin, write and end.
    void add(const std::string& name, std::string_view bytes);
    void commit();

private:
    struct Entry {
        std::string name;
        std::uint64_t offset = 0, size = 0;
        std::uint32_t crc = 0;
    };
    void put(const std::string& bytes);

    AtomicFile m_file;
    std::string m_path;
    std::uint64_t m_offset = 0, m_left = 0;
    std::vector<Entry> m_entries;
};

}  // namespace relascope::core
