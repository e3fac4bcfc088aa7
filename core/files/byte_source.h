// SPDX-License-Identifier: GPL-3.0-or-later
// The bytes of a file at any offset, so that every reader can be fed from a file or from memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "types/error.h"

namespace relascope::core {

/// Large reads go in pieces of this size, so that cancelling answers at once and progress moves.
constexpr std::size_t kReadPiece = 4u << 20;

class MappedFile;

class ByteSource {
public:
    virtual ~ByteSource() = default;
    const std::string& path() const { return m_path; }
    std::uint64_t size() const { return m_size; }
    /// Fills `out` from `offset`. Throws FileError when the range is not there, or when the file is
    /// no longer the one that was opened; Cancelled.
    void read(std::uint64_t offset, std::span<std::uint8_t> out, std::stop_token stop = {}) const;
    /// The bytes as writable memory; null where they have to be read: pages of a network or of
    /// another program's file system can fail in the middle. Throws FileError as read().
    virtual std::shared_ptr<const MappedFile> map() const { return nullptr; }

protected:
    explicit ByteSource(std::string path) : m_path(std::move(path)) {}
    virtual void readPiece(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;

    std::string m_path;
    std::uint64_t m_size = 0;
};

/// A regular file, read with pread: a file cut short, rewritten or replaced by another process
/// while it is open is a FileError, where a memory map would be a fault. Throws FileError.
std::shared_ptr<const ByteSource> openFileBytes(const std::string& path);

/// Bytes that outlive the source; `path` is for messages.
std::shared_ptr<const ByteSource> memoryBytes(std::span<const std::uint8_t> bytes,
                                              std::string path);

/// `bytes` (at most eight) as a little-endian number.
std::uint64_t littleEndian(const std::uint8_t* bytes, int count);

}  // namespace relascope::core
