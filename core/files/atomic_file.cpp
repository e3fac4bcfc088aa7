// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "files/crc32.h"

namespace relascope::core {
namespace {

std::string parentOf(const std::string& path) {
    const auto parent = std::filesystem::path(path).parent_path();
    return parent.empty() ? "." : parent.string();
}

}  // namespace

void throwWriteError(const std::string& path, const char* doing, int error) {
    const std::string reason = std::string(doing) + ": " + std::strerror(error);
    if (error == ENOSPC || error == EDQUOT) throw DiskFull(path, reason + "; free some disk space");
    throw FileError(path, reason);
}

AtomicFile::AtomicFile(const std::string& path) : m_path(path) {
    static std::atomic<unsigned> counter{0};
    m_temporary = path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    m_file = ::open(m_temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (m_file < 0) throwWriteError(m_path, "cannot be written", errno);
}

AtomicFile::~AtomicFile() {
    if (m_file >= 0) ::close(m_file);
    if (!m_temporary.empty()) ::unlink(m_temporary.c_str());
}

void AtomicFile::write(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t done = ::write(m_file, at, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throwWriteError(m_path, "cannot be written", errno);
        at += done;
        bytes -= static_cast<std::size_t>(done);
    }
}

void AtomicFile::commit() {
    if (::fsync(m_file) != 0) throwWriteError(m_path, "cannot be flushed to disk", errno);
    const int file = m_file;
    m_file = -1;
    if (::close(file) != 0) throwWriteError(m_path, "cannot be closed", errno);
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0)
        throwWriteError(m_path, "cannot be replaced", errno);
    m_temporary.clear();
    syncDirectory(parentOf(m_path));
}

std::string readTextFile(const std::string& path, std::uint64_t limit) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw FileError(path, std::string("cannot be opened: ") + std::strerror(errno));
    struct stat status {};
    std::string text;
    std::string problem;
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        problem = "is not a file";
    else if (static_cast<std::uint64_t>(status.st_size) > limit)
        problem = "is larger than allowed for such a file";
    if (problem.empty()) {
        text.resize(static_cast<std::size_t>(status.st_size));
        std::size_t done = 0;
        while (done < text.size()) {
            const ssize_t got = ::read(file, text.data() + done, text.size() - done);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) problem = std::string("cannot be read: ") + std::strerror(errno);
            if (got <= 0) break;
            done += static_cast<std::size_t>(got);
        }
        text.resize(done);
    }
    ::close(file);
    if (!problem.empty()) throw FileError(path, problem);
    return text;
}

void writeTextFile(const std::string& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

void syncDirectory(const std::string& directory) {
    const int handle = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return;  // a directory that cannot be opened cannot be synchronised
    ::fsync(handle);
    ::close(handle);
}

void makeDirectories(const std::string& directory) {
    std::error_code error, ignored;
    std::filesystem::create_directories(directory, error);
    if (error == std::errc::no_space_on_device)
        throw DiskFull(directory,
                       "cannot be created: " + error.message() + "; free some disk space");
    if (error || !std::filesystem::is_directory(directory, ignored))
        throw FileError(directory,
                        "cannot be created as a folder: " +
                            (error ? error.message() : std::string("a file of that name exists")));
}

std::uint64_t freeBytes(const std::string& directory) {
    std::error_code error;
    const auto space = std::filesystem::space(directory, error);
    return error ? 0 : space.available;
}

void requireWritable(const std::string& directory) {
    makeDirectories(directory);
    AtomicFile probe(directory + "/.write-test");
    probe.write("relascope");
}

std::uint32_t fileCrc32(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw FileError(path, std::string("cannot be opened: ") + std::strerror(errno));
    std::vector<unsigned char> buffer(1 << 20);
    std::uint32_t crc = 0;
    for (ssize_t got; (got = ::read(file, buffer.data(), buffer.size())) != 0;) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const int error = errno;
            ::close(file);
            throw FileError(path, std::string("cannot be read: ") + std::strerror(error));
        }
        crc = crc32Of(crc, buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(file);
    return crc;
}

}  // namespace relascope::core
