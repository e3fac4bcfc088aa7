// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "files/mapped_file.h"

namespace relascope::core {
namespace {

constexpr off_t kReadAhead = 4 * kReadPiece;
// A file larger than this is forgotten behind the reader: a model takes as much memory again as its
// file, and pages that the cache gives back at once serve it without waiting for new ones.
constexpr std::uint64_t kForgottenFrom = std::uint64_t{1} << 30;
constexpr std::uint64_t kForgottenPart = std::uint64_t{1} << 20;

class FileBytes : public ByteSource {
public:
    explicit FileBytes(const std::string& path) : ByteSource(path) {
        // Without O_NONBLOCK a named pipe would wait for a writer.
        m_file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (m_file < 0)
            throw FileError(path, "cannot be opened: " + std::string(std::strerror(errno)));
        if (::fstat(m_file, &m_opened) != 0 || !S_ISREG(m_opened.st_mode)) {
            ::close(m_file);
            throw FileError(path, "is not a file");
        }
        m_size = static_cast<std::uint64_t>(m_opened.st_size);
        ::posix_fadvise(m_file, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    ~FileBytes() override { ::close(m_file); }

    // Through the same descriptor, so that it is the file whose header was read.
    std::shared_ptr<const MappedFile> map() const override {
        const int file = ::fcntl(m_file, F_DUPFD_CLOEXEC, 0);
        if (file < 0)
            throw FileError(m_path, "cannot be opened: " + std::string(std::strerror(errno)));
        auto mapped = std::make_shared<MappedFile>(file, m_path, MappedFile::Pages::Writable);
        requireUnchanged();
        return mapped->isLocal() ? mapped : nullptr;
    }

protected:
    void readPiece(std::uint64_t offset, std::span<std::uint8_t> out) const override {
        // The disk works on what follows while this piece is copied and looked at.
        if (out.size() == kReadPiece)
            ::posix_fadvise(m_file, static_cast<off_t>(offset + out.size()), kReadAhead,
                            POSIX_FADV_WILLNEED);
        std::size_t done = 0;
        while (done < out.size()) {
            const ssize_t got = ::pread(m_file, out.data() + done, out.size() - done,
                                        static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0)
                throw FileError(m_path, "cannot be read: " + std::string(std::strerror(errno)));
            if (got == 0) throw FileError(m_path, "was truncated while it was read; try again");
            done += static_cast<std::size_t>(got);
        }
        if (m_size > kForgottenFrom && out.size() >= kForgottenPart) {
            const auto from = offset > 2 * kReadPiece ? offset - 2 * kReadPiece : 0;
            ::posix_fadvise(m_file, static_cast<off_t>(from),
                            static_cast<off_t>(offset + out.size() - from), POSIX_FADV_DONTNEED);
        }
        requireUnchanged();
    }

private:
    // Called after the bytes were copied, so that a change in the meantime is seen.
    void requireUnchanged() const {
        struct stat now {
        }, named{};
        if (::fstat(m_file, &now) != 0 || now.st_size != m_opened.st_size ||
            now.st_mtim.tv_sec != m_opened.st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != m_opened.st_mtim.tv_nsec)
            throw FileError(m_path, "was changed while it was read; try again");
        if (::stat(m_path.c_str(), &named) != 0 || named.st_ino != m_opened.st_ino ||
            named.st_dev != m_opened.st_dev)
            throw FileError(m_path, "was replaced or removed while it was read; try again");
    }

    int m_file = -1;
    struct stat m_opened {};
};

class MemoryBytes : public ByteSource {
public:
    MemoryBytes(std::span<const std::uint8_t> bytes, std::string path)
        : ByteSource(std::move(path)), m_bytes(bytes) {
        m_size = bytes.size();
    }

protected:
    void readPiece(std::uint64_t offset, std::span<std::uint8_t> out) const override {
        std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    }

private:
    std::span<const std::uint8_t> m_bytes;
};

}  // namespace

void ByteSource::read(std::uint64_t offset, std::span<std::uint8_t> out,
                      std::stop_token stop) const {
    if (offset > m_size || out.size() > m_size - offset)
        throw FileError(m_path, "ends before byte " + std::to_string(offset + out.size()));
    for (std::size_t done = 0; done < out.size();) {
        if (stop.stop_requested()) throw Cancelled();
        const std::size_t count = std::min(kReadPiece, out.size() - done);
        readPiece(offset + done, out.subspan(done, count));
        done += count;
    }
}

std::shared_ptr<const ByteSource> openFileBytes(const std::string& path) {
    return std::make_shared<FileBytes>(path);
}

std::shared_ptr<const ByteSource> memoryBytes(std::span<const std::uint8_t> bytes,
                                              std::string path) {
    return std::make_shared<MemoryBytes>(bytes, std::move(path));
}

std::uint64_t littleEndian(const std::uint8_t* bytes, int count) {
    std::uint64_t value = 0;
    for (int i = count - 1; i >= 0; --i) value = value << 8 | bytes[i];
    return value;
}

}  // namespace relascope::core
