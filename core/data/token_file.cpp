// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/token_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "types/error.h"

namespace relascope::core {

MappedFile::MappedFile(const std::string& path)
    : m_path(path), m_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (m_file < 0) throw FileError(path, "cannot be opened: " + std::string(std::strerror(errno)));
    map();
}
MappedFile::MappedFile(int file, std::string name) : m_path(std::move(name)), m_file(file) {
    map();
}

void MappedFile::map() {
    struct stat status {};
    const char* problem = nullptr;
    if (::fstat(m_file, &status) != 0 || !S_ISREG(status.st_mode)) problem = "is not a file";
    m_size = problem ? 0 : static_cast<std::uint64_t>(status.st_size);
    if (m_size > 0) {
        void* bytes = ::mmap(nullptr, m_size, PROT_READ, MAP_SHARED, m_file, 0);
        if (bytes == MAP_FAILED)
            problem = "cannot be mapped into memory";
        else
            m_bytes = static_cast<const std::uint8_t*>(bytes);
    }
    if (!problem) return;
    ::close(m_file);
    throw FileError(m_path, problem);
}

MappedFile::~MappedFile() {
    if (m_bytes) ::munmap(const_cast<std::uint8_t*>(m_bytes), m_size);
    ::close(m_file);
}

const std::uint8_t* MappedFile::at(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > m_size || bytes > m_size - offset)
        throw FileError(m_path, "ends before byte " + std::to_string(offset + bytes));
    struct stat now {};
    if (::fstat(m_file, &now) != 0 || static_cast<std::uint64_t>(now.st_size) < m_size)
        throw FileError(m_path, "was truncated while it was in use; open it again");
    return m_bytes + offset;
}

void MappedFile::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
    for (std::size_t done = 0; done < out.size();) {
        const ssize_t got = ::pread(m_file, out.data() + done, out.size() - done,
                                    static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw FileError(m_path, "cannot be read: " + std::string(strerror(errno)));
        if (got == 0) throw FileError(m_path, "was truncated while it was read; try again");
        done += static_cast<std::size_t>(got);
    }
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
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t id = 0;
            std::memcpy(&id, ids + i * width, width);  // a header may leave them unaligned
            out[done + i] = id;
        }
        done += count;
    }
}

}  // namespace relascope::core
