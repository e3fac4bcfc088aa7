// SPDX-License-Identifier: GPL-3.0-or-later
// Token ids in mapped files, read as one sequence however many files there are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "files/mapped_file.h"

namespace relascope::core {

/// Little-endian ids of `width` bytes (1, 2, 4 or 8) in a file.
struct TokenPart {
    std::shared_ptr<const MappedFile> file;
    std::uint64_t offset = 0;  ///< offset of the first id, in bytes
    std::int64_t count = 0;
    int width = 2;
    bool isSigned = false;
    bool foreign = false;  ///< a shard of another program; its ids may be out of range
};

/// The id at an address within the part; negative if a foreign shard has a negative one there.
std::int64_t tokenAt(const std::uint8_t* at, const TokenPart& part);

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
/// any integer type. Sizes are checked against the file, and raw ids of 32 or 64 bits are
/// recognised. Throws FileError.
TokenPart openShard(const std::string& path);
TokenPart openShard(std::shared_ptr<const MappedFile> file);
/// Whether the header of the shard says that its ids are GPT-2's.
bool isGpt2Shard(const TokenPart& shard);

}  // namespace relascope::core
