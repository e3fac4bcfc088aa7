// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/token_cache.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdint>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "files/atomic_file.h"
#include "files/byte_source.h"
#include "files/crc32.h"
#include "files/home_folder.h"
#include "files/memory.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

// An entry: the ids, the facts, and these 40 bytes at the end, which are the last to be written.
// magic, width, ids, bytes of facts, CRC-32 of everything before, CRC-32 of these.
constexpr char kMagic[9] = "RLSCTOK1";
constexpr std::size_t kEnd = 40;
constexpr std::size_t kTokenPiece = 1u << 20;

// The tokens cannot be stored in this place; the next one is tried.
struct Unwritable {};

std::string tokensPath(const std::string& key) {
    return programCacheFolder() + "/tokens/" + key + ".tokens";
}
std::string factPath(const std::string& key) {
    return programCacheFolder() + "/facts/" + key + ".json";
}

void append(std::string& text, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
}

std::string endMark(int width, std::uint64_t count, std::uint64_t facts, std::uint32_t crc) {
    std::string mark(kMagic, 8);
    append(mark, static_cast<std::uint64_t>(width), 4);
    append(mark, count, 8);
    append(mark, facts, 8);
    append(mark, crc, 4);
    append(mark, 0, 4);
    append(mark, crc32Of(0, mark.data(), mark.size()), 4);
    return mark;
}

std::optional<CachedTokens> openEntry(std::shared_ptr<const MappedFile> file,
                                      const std::function<void(double)>& tick) {
    if (file->size() < kEnd) return std::nullopt;
    const std::uint64_t end = file->size() - kEnd;
    std::array<std::uint8_t, kEnd> mark;
    file->read(end, mark);
    const auto width = littleEndian(&mark[8], 4), count = littleEndian(&mark[12], 8),
               facts = littleEndian(&mark[20], 8);
    const auto crc = static_cast<std::uint32_t>(littleEndian(&mark[28], 4));
    const std::string again = endMark(static_cast<int>(width), count, facts, crc);
    if (std::memcmp(mark.data(), again.data(), kEnd) != 0 || (width != 2 && width != 4) ||
        facts > end || (end - facts) % width != 0 || (end - facts) / width != count)
        return std::nullopt;
    std::vector<std::uint8_t> piece;
    std::uint32_t found = 0;
    for (std::uint64_t at = 0; at < end; at += piece.size()) {
        piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kTokenPiece, end - at)));
        file->read(at, piece);
        found = crc32Of(found, piece.data(), piece.size());
        if (tick) tick(static_cast<double>(at) / static_cast<double>(end));
    }
    if (found != crc) return std::nullopt;
    CachedTokens tokens;
    tokens.facts.resize(static_cast<std::size_t>(facts));
    file->read(end - facts,
               {reinterpret_cast<std::uint8_t*>(tokens.facts.data()), tokens.facts.size()});
    tokens.tokens = {std::move(file), 0, static_cast<std::int64_t>(count), static_cast<int>(width)};
    return tokens;
}

// Removes temporary files of killed processes.
void removeLeftovers(const std::string& folder) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        const auto mark = name.find(".tmp-");
        if (mark == std::string::npos) continue;
        const long pid = std::atol(name.c_str() + mark + 5);
        if (pid > 0 && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) {
            std::error_code ignored;
            fs::remove(at->path(), ignored);
        }
    }
}

// A file without a name: in $TMPDIR, or in memory.
int namelessFile(bool memory) {
    if (memory) return ::memfd_create("relascope-tokens", MFD_CLOEXEC);
    const std::string folder = environment("TMPDIR").empty() ? "/tmp" : environment("TMPDIR");
    return ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

CachedTokens makeNameless(bool memory, int width,
                          const std::function<std::string(TokenWriter&)>& fill) {
    const int file = namelessFile(memory);
    if (file < 0) throw Unwritable();
    try {
        // A file in memory takes at most half of the free memory, so that the machine stays usable.
        const std::uint64_t most = memory ? availableMemory() / 2 : UINT64_MAX;
        std::uint64_t written = 0;
        TokenWriter writer(width, [&](const void* data, std::size_t bytes) {
            written += bytes;
            if (written > most) throw Unwritable();
            const auto* at = static_cast<const char*>(data);
            while (bytes > 0) {
                const ssize_t done = ::write(file, at, bytes);
                if (done < 0 && errno == EINTR) continue;
                if (done <= 0) throw Unwritable();
                at += done, bytes -= static_cast<std::size_t>(done);
            }
        });
        writer.finish(fill(writer));
    } catch (...) {
        ::close(file);
        throw;
    }
    auto tokens = openEntry(std::make_shared<MappedFile>(file, "the tokens of the text"), {});
    if (!tokens) throw Unwritable();
    return std::move(*tokens);
}

CachedTokens makeEntry(const std::string& key, int width,
                       const std::function<std::string(TokenWriter&)>& fill) {
    const std::string path = tokensPath(key);
    // Distinguishes failures of the cache from failures of reading the text.
    const auto guarded = [](const auto& action) {
        try {
            action();
        } catch (const FileError&) {
            throw Unwritable();
        } catch (const fs::filesystem_error&) {
            throw Unwritable();
        }
    };
    if (programCacheFolder().empty()) throw Unwritable();
    std::optional<AtomicFile> file;
    guarded([&] {
        makeDirectories(programCacheFolder() + "/tokens");
        // The text is private to the user.
        fs::permissions(programCacheFolder(), fs::perms::owner_all);
        removeLeftovers(programCacheFolder() + "/tokens");
        file.emplace(path);
    });
    TokenWriter writer(width, [&](const void* data, std::size_t bytes) {
        guarded([&] { file->write(data, bytes); });
    });
    writer.finish(fill(writer));
    std::optional<CachedTokens> tokens;
    guarded([&] {
        file->commit();
        tokens = openEntry(std::make_shared<MappedFile>(path), {});
    });
    if (!tokens) throw Unwritable();
    return std::move(*tokens);
}

}  // namespace

std::optional<nlohmann::json> readCachedFact(const std::string& key) {
    if (programCacheFolder().empty()) return std::nullopt;
    try {
        auto fact = nlohmann::json::parse(readTextFile(factPath(key), 1u << 20), nullptr, false);
        if (fact.is_object()) return fact;
    } catch (const FileError&) {
    }
    return std::nullopt;
}

void writeCachedFact(const std::string& key, const nlohmann::json& fact) {
    if (programCacheFolder().empty()) return;
    try {
        makeDirectories(programCacheFolder() + "/facts");
        writeTextFile(factPath(key), fact.dump());
    } catch (const FileError&) {
    }
}

std::optional<CachedTokens> openCachedTokens(const std::string& key,
                                             const std::function<void(double)>& tick) {
    if (programCacheFolder().empty()) return std::nullopt;
    try {
        return openEntry(std::make_shared<MappedFile>(tokensPath(key)), tick);
    } catch (const FileError&) {
        return std::nullopt;
    }
}

TokenWriter::TokenWriter(int width, Output output) : m_width(width), m_output(std::move(output)) {
    m_held.reserve(kTokenPiece);
}

void TokenWriter::put(std::span<const std::int32_t> ids) {
    for (const auto id : ids) {
        for (int i = 0; i < m_width; ++i)
            m_held.push_back(static_cast<std::uint8_t>(static_cast<std::uint32_t>(id) >> (8 * i)));
        if (m_held.size() == kTokenPiece) flush();
    }
    m_count += ids.size();
}

void TokenWriter::flush() {
    write(m_held.data(), m_held.size());
    m_held.clear();
}

void TokenWriter::write(const void* data, std::size_t bytes) {
    if (bytes == 0) return;
    m_crc = crc32Of(m_crc, data, bytes);
    m_output(data, bytes);
}

void TokenWriter::finish(const std::string& facts) {
    flush();
    write(facts.data(), facts.size());
    const std::string mark = endMark(m_width, m_count, facts.size(), m_crc);
    m_output(mark.data(), mark.size());
}

CachedTokens makeCachedTokens(const std::string& key, int width,
                              const std::function<std::string(TokenWriter&)>& fill) {
    try {
        return makeEntry(key, width, fill);
    } catch (const Unwritable&) {
    }
    for (const bool memory : {false, true}) {
        try {
            return makeNameless(memory, width, fill);
        } catch (const Unwritable&) {
        }
    }
    throw Error(
        "not enough space for the tokens of the text in the cache, in $TMPDIR or in memory: free "
        "some space");
}

}  // namespace relascope::core
