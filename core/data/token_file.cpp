// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cstring>

#include "data/token_file.h"
#include "files/byte_source.h"
#include "files/foreign_file.h"
#include "files/npy.h"
#include "types/error.h"
#include "types/lower_case.h"

namespace relascope::core {

std::int64_t tokenAt(const std::uint8_t* at, const TokenPart& part) {
    std::uint64_t id = 0;
    // A header may leave them unaligned.
    std::memcpy(&id, at, static_cast<std::size_t>(part.width));
    const int unused = 64 - 8 * part.width;
    return part.isSigned ? static_cast<std::int64_t>(id << unused) >> unused
                         : static_cast<std::int64_t>(id);
}

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
        for (std::size_t i = 0; i < count; ++i) out[done + i] = tokenAt(ids + i * width, p);
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

std::string startOf(const MappedFile& file) {
    std::vector<std::uint8_t> bytes(
        static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 512)));
    file.read(0, bytes);
    return {bytes.begin(), bytes.end()};
}

// Pages, pointers and other files under the name of an array.
void refuseAnswers(const MappedFile& file) {
    const auto start = startOf(file);
    if (start.starts_with("\x93NUMPY")) return;
    if (start.starts_with("PK\x03\x04"))
        throw FileError(file.path(),
                        "is an archive of arrays (.npz); np.save(path, archive['ids']) writes one");
    for (const auto& what : {foreignContent(start), textInPlaceOf("array", start)})
        if (!what.empty()) throw FileError(file.path(), what);
}

// Refuses texts, archives and other files under the name of a shard.
void refuseOthers(const MappedFile& file) {
    const auto start = startOf(file);
    if (start.starts_with("\x93NUMPY"))
        throw FileError(file.path(), "is an array of NumPy; name it .npy");
    if (start.starts_with("PK\x03\x04"))
        throw FileError(file.path(), "is an archive or a model of PyTorch, not a token shard");
    if (const auto what = foreignContent(start); !what.empty()) throw FileError(file.path(), what);
    // Half of the bytes of ids may be anything, but all bytes of a text are printable.
    constexpr std::size_t kLeast = 64;
    if (start.size() >= kLeast && std::all_of(start.begin(), start.end(), [](unsigned char c) {
            return (c >= 32 && c < 127) || c == '\n' || c == '\r' || c == '\t';
        }))
        throw FileError(file.path(), "is text, not token ids; name it .txt");
}

// The width of raw numbers is not known: ids of 32 or 64 bits, read as 16 bits, are nearly 0 in
// every second place, or in three of four.
void refuseWideIds(const MappedFile& file) {
    constexpr std::size_t kLeast = 32, kLooked = 1u << 16;  // numbers of 16 bits
    constexpr std::uint64_t kUpper = 8;  // the upper half of an id below 524288 is less
    std::vector<std::uint8_t> bytes(
        2 * static_cast<std::size_t>(std::min<std::uint64_t>(file.size() / 2, kLooked)) / 8 * 8);
    if (bytes.size() / 2 < kLeast) return;
    file.read(0, bytes);
    std::array<std::uint64_t, 4> largest{};
    std::array<std::size_t, 4> zeros{};
    for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
        // Big-endian ids have the upper half first, and its upper byte first.
        const auto number = std::min(littleEndian(&bytes[2 * i], 2),
                                     std::uint64_t{bytes[2 * i]} << 8 | bytes[2 * i + 1]);
        largest[i % 4] = std::max(largest[i % 4], number);
        zeros[i % 4] += number == 0;
    }
    const auto isUpper = [&](std::size_t place) {
        return largest[place] < kUpper && zeros[place] * 16 > bytes.size() / 2;
    };
    int upper = 0;
    for (std::size_t place = 0; place < 4; ++place) upper += isUpper(place);
    const bool alternate = isUpper(0) == isUpper(2) && isUpper(1) == isUpper(3);
    const int bits = upper == 3 && file.size() % 8 == 0                ? 64
                     : upper == 2 && alternate && file.size() % 4 == 0 ? 32
                                                                       : 0;
    if (bits == 0) return;
    throw FileError(file.path(),
                    std::string("holds ids of ") + std::to_string(bits) + " bits, not of 16: " +
                        (bits == 32 ? "every second of its 16-bit numbers is"
                                    : "three of every four of its 16-bit numbers are") +
                        " next to 0; save them as .npy (numpy.save) or as 16-bit "
                        "numbers, or write llm.c's header before 32-bit ones");
}

void fillBin(TokenPart& part) {
    const MappedFile& file = *part.file;
    const std::uint32_t magic = file.size() >= 4 ? headerField(file, 0) : 0;
    if (magic == kEvaluation)
        throw FileError(file.path(),
                        "is an evaluation file of llm.c (magic 20240522), which contains "
                        "questions; give its training shards");
    if (magic != kGpt2 && magic != kLlama3) {
        refuseOthers(file);
        if (file.size() % 2 != 0)
            throw FileError(file.path(), "has " + std::to_string(file.size()) +
                                             " bytes, which is not a multiple of 16-bit tokens; it "
                                             "is truncated or not a token shard");
        refuseWideIds(file);
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
    refuseAnswers(file);
    if (file.size() < 12) throw FileError(file.path(), "is truncated within its npy header");
    std::vector<std::uint8_t> start(12);
    file.read(0, start);
    const std::size_t length = npyHeaderLength(start, file.path());
    if (length > file.size()) throw FileError(file.path(), "is truncated within its npy header");
    start.resize(length);
    file.read(0, start);
    const NpyHeader header = parseNpyHeader(start, file.path());
    const bool known = !header.bigEndian && (header.kind == 'u' || header.kind == 'i');
    if (!known || header.shape.size() != 1)
        throw FileError(file.path(),
                        "contains no tokens: one row of whole little-endian numbers is needed; "
                        "save ids.reshape(-1).astype('<u4')");
    if (header.dataBytes() != file.size() - length)
        throw FileError(file.path(), "has " + std::to_string(file.size() - length) +
                                         " bytes of data, but its header declares " +
                                         std::to_string(header.dataBytes()) +
                                         "; download it again");
    part.offset = length;
    part.width = header.itemBytes;
    part.isSigned = header.kind == 'i';
    part.count = header.shape[0];
}

}  // namespace

TokenPart openShard(std::shared_ptr<const MappedFile> file) {
    TokenPart part;
    part.file = std::move(file);
    part.foreign = true;
    const std::string& path = part.file->path();
    lowerCase(path).ends_with(".npy") ? fillNpy(part) : fillBin(part);
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
