// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "types/error.h"

namespace relascope::core {

FileLock::FileLock(const std::string& path)
    : m_file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (m_file < 0)
        throw FileError(path, std::string("cannot be written: ") + std::strerror(errno));
    if (::flock(m_file, LOCK_EX | LOCK_NB) != 0) ::close(std::exchange(m_file, -1));
}

FileLock::~FileLock() {
    if (held()) ::close(m_file);
}

bool FileLock::isHeld(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    const bool held = ::flock(file, LOCK_EX | LOCK_NB) != 0;
    ::close(file);
    return held;
}

}  // namespace relascope::core
