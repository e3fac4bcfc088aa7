// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/mapped_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "types/error.h"

namespace relascope::core {

MappedFile::MappedFile(const std::string& path)
    // Without O_NONBLOCK a named pipe would wait for a writer.
    : m_path(path), m_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (m_file < 0) throw FileError(path, "cannot be opened: " + std::string(std::strerror(errno)));
    map(Pages::ReadOnly);
}
MappedFile::MappedFile(int file, std::string name, Pages pages)
    : m_path(std::move(name)), m_file(file) {
    map(pages);
}

void MappedFile::map(Pages pages) {
    struct stat status {};
    const char* problem = nullptr;
    if (::fstat(m_file, &status) != 0 || !S_ISREG(status.st_mode)) problem = "is not a file";
    m_size = problem ? 0 : static_cast<std::uint64_t>(status.st_size);
    m_written = status.st_mtim;
    if (m_size > 0) {
        const bool writes = pages == Pages::Writable;
        void* bytes = ::mmap(nullptr, m_size, writes ? PROT_READ | PROT_WRITE : PROT_READ,
                             writes ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED, m_file, 0);
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

void MappedFile::requireUnchanged() const {
    at(0, m_size);
    struct stat now {};
    if (::fstat(m_file, &now) != 0 || static_cast<std::uint64_t>(now.st_size) != m_size ||
        now.st_mtim.tv_sec != m_written.tv_sec || now.st_mtim.tv_nsec != m_written.tv_nsec)
        throw FileError(m_path, "was changed while it was in use; open it again");
}

bool MappedFile::isLocal() const {
    struct statfs where {};
    if (::fstatfs(m_file, &where) != 0) return false;
    constexpr std::array<std::uint32_t, 8> kLocal = {
        EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,       BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
        F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, SQUASHFS_MAGIC,    0x2FC12FC1 /* ZFS */};
    return std::find(kLocal.begin(), kLocal.end(), static_cast<std::uint32_t>(where.f_type)) !=
           kLocal.end();
}

}  // namespace relascope::core
