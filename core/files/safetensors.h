// SPDX-License-Identifier: GPL-3.0-or-later
// safetensors, read and written by our own bounds-checked code (formats.md section 1; the format is
// huggingface/safetensors, `safetensors/src/tensor.rs`). No torch here, so that fuzzing is quick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/atomic_file.h"
#include "files/byte_source.h"

namespace relascope::core {

/// The faults of a file, under the names that the format's own reader uses.
enum class SafetensorsFault {
    HeaderTooSmall,
    HeaderTooLarge,
    InvalidHeaderLength,
    InvalidHeader,
    InvalidHeaderDeserialization,
    DuplicateKey,
    UnknownDtype,
    InvalidOffset,
    ValidationOverflow,
    MisalignedSlice,
    TensorInvalidInfo,
    MetadataIncompleteBuffer,
    TooManyTensors,
    Unreadable
};

class SafetensorsError : public FileError {
public:
    SafetensorsError(SafetensorsFault fault, const std::string& path, const std::string& reason)
        : FileError(path, reason), m_fault(fault) {}
    SafetensorsFault fault() const { return m_fault; }

private:
    SafetensorsFault m_fault;
};

/// Width of a dtype in bits ("F32" -> 32), or 0 for a name the format does not know.
int dtypeBits(std::string_view dtype);

/// One entry of the header. Offsets are relative to the data that follows the header, half-open.
struct TensorEntry {
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t bytes() const { return end - begin; }
};

struct SafetensorsHeader {
    std::vector<TensorEntry> tensors;  ///< by offset
    std::map<std::string, std::string> metadata;
    std::uint64_t dataStart = 0;  ///< byte of the file at which offset 0 lies
};

/// Checks the 8 length bytes and the header that follow in `prefix` against the file's size.
/// `prefix` must hold at least min(fileSize, 8 + N) bytes. Throws SafetensorsError; `path` is for
/// the message only.
SafetensorsHeader parseSafetensorsHeader(std::span<const std::uint8_t> prefix,
                                         std::uint64_t fileSize, const std::string& path);

/// An open file: the header is read and checked at once, tensors on demand with pread, so that a
/// file cut short behind our back is an error and never a fault.
class SafetensorsFile {
public:
    /// Opens a file. Throws SafetensorsError (or FileError when the file cannot be opened).
    explicit SafetensorsFile(const std::string& path);
    explicit SafetensorsFile(std::shared_ptr<const ByteSource> bytes);

    const std::string& path() const { return m_bytes->path(); }
    const ByteSource& bytes() const { return *m_bytes; }
    std::uint64_t size() const { return m_bytes->size(); }
    const SafetensorsHeader& header() const { return m_header; }
    /// The entry of that name, or nullptr.
    const TensorEntry* find(std::string_view name) const;
    /// Copies an entry's bytes; `out` is exactly entry.bytes() long. Throws FileError.
    void read(const TensorEntry& entry, std::span<std::uint8_t> out) const;
    /// Copies a part of an entry, from its byte `at`. Throws FileError, Cancelled.
    void readPart(const TensorEntry& entry, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop = {}) const;

private:
    std::shared_ptr<const ByteSource> m_bytes;
    SafetensorsHeader m_header;
};

/// Writes a file of any size as it comes, whole or not at all (temporary file, fsync, rename).
/// Order and padding as the format's own writer: larger alignment first, then name; the header
/// padded to a multiple of 8.
class SafetensorsWriter {
public:
    /// Writes the header. Only name, dtype, shape and bytes() of each entry count. Throws
    /// FileError.
    SafetensorsWriter(const std::string& path, std::vector<TensorEntry> tensors,
                      const std::map<std::string, std::string>& metadata = {});
    /// The entries, in the order in which write() must get their bytes.
    const std::vector<TensorEntry>& tensors() const { return m_tensors; }
    void write(std::span<const std::uint8_t> bytes);
    void commit();

private:
    AtomicFile m_file;
    std::string m_path;
    std::vector<TensorEntry> m_tensors;
    std::uint64_t m_written = 0;
};

/// A tensor to be written: little-endian, row-major bytes that outlive the call.
struct TensorToWrite {
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::span<const std::uint8_t> data;
};

/// SafetensorsWriter for tensors that are at hand.
void writeSafetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                      const std::map<std::string, std::string>& metadata = {});
/// Appends the bytes of a safetensors file to `out`.
void appendSafetensors(std::vector<std::uint8_t>& out, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace relascope::core
