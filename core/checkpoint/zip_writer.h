// SPDX-License-Identifier: GPL-3.0-or-later
// ZIP archives as PyTorch writes them: uncompressed entries with data at multiples of 64.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "files/atomic_file.h"

namespace relascope::core {

/// Writes everything or nothing (temporary file, fsync, rename); ZIP64 where sizes require it.
/// Entries are streamed: the size is given first, the CRC follows the data. Throws FileError,
/// DiskFull.
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
