// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "types/error.h"

namespace relascope::core {

FileLock::FileLock(const std::string& path)
    : m_file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (m_file < 0)
        throw FileError(path, std::string("cannot be written: ") + std::strerror(errno));
    // isHeld() of another process holds it for a moment.
    for (int tries = 5; ::flock(m_file, LOCK_EX | LOCK_NB) != 0;) {
        if (--tries == 0) {
            ::close(std::exchange(m_file, -1));
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

FileLock::~FileLock() {
    if (held()) ::close(m_file);
}

bool FileLock::write(const std::string& text) {
    return ::ftruncate(m_file, 0) == 0 &&
           ::pwrite(m_file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

bool FileLock::isHeld(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    const bool held = ::flock(file, LOCK_EX | LOCK_NB) != 0;
    ::close(file);
    return held;
}

}  // namespace relascope::core
