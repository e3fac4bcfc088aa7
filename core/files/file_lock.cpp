// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/file_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "types/error.h"

namespace relascope::core {
namespace {

enum class Taken { Yes, ByOther, NoLocks };

/// Only EWOULDBLOCK says that another process holds a file: ENOLCK, ENOSYS, EOPNOTSUPP and others
/// say that the file system cannot tell.
Taken take(int file) {
    while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return Taken::ByOther;
        if (errno != EINTR) return Taken::NoLocks;
    }
    return Taken::Yes;
}

/// Whether the text of a file names a process of this machine that lives.
bool namesLivingProcess(int file) {
    std::array<char, 4096> text{};
    const auto size = ::pread(file, text.data(), text.size(), 0);
    if (size <= 0) return false;
    const auto json = nlohmann::json::parse(text.data(), text.data() + size, nullptr, false);
    const auto pid = json.is_object() ? json.find("pid") : json.end();
    if (!json.is_object() || pid == json.end() || !pid->is_number_integer()) return false;
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    if (const auto machine = json.find("machine");
        machine != json.end() && machine->is_string() &&
        machine->get<std::string>() != std::string(host.data()))
        return false;
    const auto number = static_cast<pid_t>(pid->get<std::int64_t>());
    return number > 0 && (::kill(number, 0) == 0 || errno == EPERM);
}

}  // namespace

FileLock::FileLock(const std::string& path)
    : m_file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (m_file < 0)
        throw FileError(path, std::string("cannot be written: ") + std::strerror(errno));
    // isHeld() of another process holds it for a moment.
    for (int tries = 5;;) {
        const auto taken = take(m_file);
        if (taken == Taken::Yes) return;
        if (taken == Taken::NoLocks) m_problem = std::strerror(errno);
        if (taken == Taken::NoLocks && !namesLivingProcess(m_file)) return;
        if (--tries == 0) {
            ::close(std::exchange(m_file, -1));
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

FileLock::~FileLock() {
    if (!held()) return;
    // Without a lock the text alone says that the file is held.
    if (!m_problem.empty()) [[maybe_unused]]
        const int ignored = ::ftruncate(m_file, 0);
    ::close(m_file);
}

bool FileLock::write(const std::string& text) {
    return ::ftruncate(m_file, 0) == 0 &&
           ::pwrite(m_file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

bool FileLock::isHeld(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    const auto taken = take(file);
    const bool held =
        taken == Taken::ByOther || (taken == Taken::NoLocks && namesLivingProcess(file));
    ::close(file);
    return held;
}

}  // namespace relascope::core
