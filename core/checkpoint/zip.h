// SPDX-License-Identifier: GPL-3.0-or-later
// The directory of a ZIP archive with uncompressed entries (formats.md section 2), so that an entry
// is a range of the file. Does not include torch, so that it can be fuzzed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/atomic_file.h"
#include "files/byte_source.h"

namespace relascope::core {

struct ZipEntry {
    std::string name;
    std::uint64_t offset = 0;  ///< place of the entry's bytes in the file
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
};

/// The kind of archive that has such an entry, as the end of a sentence: one of NumPy, a
/// TorchScript program; empty for an entry of a checkpoint.
std::string otherArchive(const std::string& entry);

/// Reads and checks the central directory, ZIP64 included. Throws FileError for anything that the
/// archives of PyTorch do not have: deflated or encrypted entries, a name twice, names that are
/// absolute or lead outside, entries beyond the file or over one another.
class ZipDirectory {
public:
    explicit ZipDirectory(std::shared_ptr<const ByteSource> bytes);

    const std::string& path() const { return m_bytes->path(); }
    /// The entries, in the order of the file.
    const std::vector<ZipEntry>& entries() const { return m_entries; }
    /// The entry of that name, or nullptr.
    const ZipEntry* find(std::string_view name) const;
    /// All bytes of an entry, with a check of its CRC. Throws FileError if it is longer than
    /// `limit`.
    std::vector<std::uint8_t> read(const ZipEntry& entry, std::uint64_t limit) const;
    void readPart(const ZipEntry& entry, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop = {}) const;

private:
    struct Found;
    Found findDirectory() const;
    void readDirectory(const Found& found);
    void locate(ZipEntry& entry, std::uint64_t directory) const;
    [[noreturn]] void fail(const std::string& reason) const;

    std::shared_ptr<const ByteSource> m_bytes;
    std::vector<ZipEntry> m_entries;
    std::vector<std::uint32_t> m_byName;
};

// ZIP archives as PyTorch writes them: uncompressed entries with data at multiples of 64.

/// Writes everything or nothing (temporary file, fsync, rename); ZIP64 where sizes require it.
/// Entries are streamed: the size is given first, the CRC follows the data. Throws FileError,
/// DiskFull.
class ZipWriter {
public:
    explicit ZipWriter(const std::string& path) : m_file(path), m_path(path) {}

    void begin(const std::string& name, std::uint64_t size);
    void write(std::span<const std::uint8_t> bytes);
    void end();
    /// Adds a complete entry: begin, write and end.
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
