// SPDX-License-Identifier: GPL-3.0-or-later
// Token ids in mapped files, read as one sequence however many files there are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace relascope::core {

/// A read-only mapping of a file.
class MappedFile {
public:
    /// Throws FileError.
    explicit MappedFile(const std::string& path);
    /// Takes ownership of an open file without a name.
    MappedFile(int file, std::string name);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    const std::string& path() const { return m_path; }
    std::uint64_t size() const { return m_size; }
    /// A view of the mapping. Throws FileError if the file has been truncated, as reading the
    /// mapping would then be a fault.
    const std::uint8_t* at(std::uint64_t offset, std::uint64_t bytes) const;
    /// Copies bytes without touching the mapping, for reading all of a large file.
    void read(std::uint64_t offset, std::span<std::uint8_t> out) const;

private:
    void map();

    std::string m_path;
    int m_file = -1;
    std::uint64_t m_size = 0;
    const std::uint8_t* m_bytes = nullptr;
};

/// Little-endian ids of `width` bytes (2 or 4) in a file.
struct TokenPart {
    std::shared_ptr<const MappedFile> file;
    std::uint64_t offset = 0;  ///< of the first, in bytes
    std::int64_t count = 0;
    int width = 2;
    bool foreign = false;  ///< a shard of another program; its ids may be out of range
};

/// The ids of all parts, one after another.
class TokenSequence {
public:
    explicit TokenSequence(std::vector<TokenPart> parts);

    std::int64_t size() const { return m_size; }
    const std::vector<TokenPart>& parts() const { return m_parts; }
    /// Writes ids begin .. begin + out.size(). Throws FileError.
    void read(std::int64_t begin, std::span<std::int64_t> out) const;

private:
    std::vector<TokenPart> m_parts;
    std::vector<std::int64_t> m_ends;  // behind each part
    std::int64_t m_size = 0;
};

/// A token shard (formats.md section 8): llm.c's .bin with a header, plain 16-bit .bin, or .npy of
/// 16 or 32 bits. Sizes are checked against the file. Throws FileError.
TokenPart openShard(const std::string& path);
TokenPart openShard(std::shared_ptr<const MappedFile> file);
/// Whether the header of the shard says that its ids are those of GPT-2.
bool isGpt2Shard(const TokenPart& shard);

}  // namespace relascope::core
