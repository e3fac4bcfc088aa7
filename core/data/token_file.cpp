// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstring>

#include "data/token_file.h"
#include "files/byte_source.h"
#include "files/npy.h"
#include "types/error.h"

namespace relascope::core {

TokenSequence::TokenSequence(std::vector<TokenPart> parts) : m_parts(std::move(parts)) {
    for (const auto& part : m_parts) m_ends.push_back(m_size += part.count);
}

void TokenSequence::read(std::int64_t begin, std::span<std::int64_t> out) const {
    auto part = static_cast<std::size_t>(std::upper_bound(m_ends.begin(), m_ends.end(), begin) -
                                         m_ends.begin());
    for (std::size_t done = 0; done < out.size(); ++part) {
        const TokenPart& p = m_parts.at(part);
        const std::int64_t first =
            begin + static_cast<std::int64_t>(done) - (m_ends[part] - p.count);
        const auto count =
            std::min<std::size_t>(out.size() - done, static_cast<std::size_t>(p.count - first));
        if (count == 0) continue;
        const auto width = static_cast<std::uint64_t>(p.width);
        const std::uint8_t* ids =
            p.file->at(p.offset + static_cast<std::uint64_t>(first) * width, count * width);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t id = 0;
            std::memcpy(&id, ids + i * width, width);  // a header may leave them unaligned
            out[done + i] = id;
        }
        done += count;
    }
}

namespace {

// Token shards of other programs: llm.c (karpathy/llm.c, dev/data/data_common.py), nanoGPT and
// FineWeb.

constexpr std::uint64_t kHeader = 256 * 4;
constexpr std::uint32_t kGpt2 = 20240520, kLlama3 = 20240801, kEvaluation = 20240522;

std::uint32_t headerField(const MappedFile& file, std::uint64_t number) {
    std::uint8_t bytes[4];
    file.read(number * 4, bytes);
    return static_cast<std::uint32_t>(littleEndian(bytes, 4));
}

void fillBin(TokenPart& part) {
    const MappedFile& file = *part.file;
    const std::uint32_t magic = file.size() >= 4 ? headerField(file, 0) : 0;
    if (magic == kEvaluation)
        throw FileError(file.path(),
                        "is an evaluation file of llm.c (magic 20240522), which contains "
                        "questions; give its training shards");
    if (magic != kGpt2 && magic != kLlama3) {
        if (file.size() % 2 != 0)
            throw FileError(file.path(), "has " + std::to_string(file.size()) +
                                             " bytes, which is not a multiple of 16-bit tokens; it "
                                             "is truncated or not a token shard");
        part.count = static_cast<std::int64_t>(file.size() / 2);
        return;
    }
    if (file.size() < kHeader)
        throw FileError(file.path(), "is truncated within its header of 1024 bytes");
    const std::uint32_t version = headerField(file, 1), wanted = magic == kGpt2 ? 1 : 7;
    if (version != wanted)
        throw FileError(file.path(), "has version " + std::to_string(version) +
                                         " at byte 4; shards with magic " + std::to_string(magic) +
                                         " are version " + std::to_string(wanted));
    part.width = magic == kGpt2 ? 2 : 4;
    part.offset = kHeader;
    const std::uint64_t count = headerField(file, 2);
    const std::uint64_t needs = kHeader + count * static_cast<std::uint64_t>(part.width);
    if (needs != file.size())
        throw FileError(file.path(), "has " + std::to_string(file.size()) + " bytes, but its " +
                                         std::to_string(count) + " tokens (byte 8) need " +
                                         std::to_string(needs) + "; download it again");
    part.count = static_cast<std::int64_t>(count);
}

void fillNpy(TokenPart& part) {
    const MappedFile& file = *part.file;
    if (file.size() < 12) throw FileError(file.path(), "is truncated within its npy header");
    std::vector<std::uint8_t> start(12);
    file.read(0, start);
    const std::size_t length = npyHeaderLength(start, file.path());
    if (length > file.size()) throw FileError(file.path(), "is truncated within its npy header");
    start.resize(length);
    file.read(0, start);
    const NpyHeader header = parseNpyHeader(start, file.path());
    const bool known = !header.bigEndian && ((header.kind == 'u' && header.itemBytes == 2) ||
                                             (header.kind == 'u' && header.itemBytes == 4) ||
                                             (header.kind == 'i' && header.itemBytes == 4));
    if (!known || header.shape.size() != 1)
        throw FileError(file.path(),
                        "contains no tokens: one row of little-endian uint16 or uint32 is needed; "
                        "save it with NumPy in this form");
    if (header.dataBytes() != file.size() - length)
        throw FileError(file.path(), "has " + std::to_string(file.size() - length) +
                                         " bytes of data, but its header declares " +
                                         std::to_string(header.dataBytes()) +
                                         "; download it again");
    part.offset = length;
    part.width = header.itemBytes;
    part.count = header.shape[0];
}

}  // namespace

TokenPart openShard(std::shared_ptr<const MappedFile> file) {
    TokenPart part;
    part.file = std::move(file);
    part.foreign = true;
    const std::string& path = part.file->path();
    path.ends_with(".npy") ? fillNpy(part) : fillBin(part);
    if (part.count == 0) throw FileError(path, "contains no tokens");
    return part;
}

TokenPart openShard(const std::string& path) {
    return openShard(std::make_shared<MappedFile>(path));
}

bool isGpt2Shard(const TokenPart& shard) {
    return shard.offset == kHeader && shard.width == 2 && headerField(*shard.file, 0) == kGpt2;
}

}  // namespace relascope::core
