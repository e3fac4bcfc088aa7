// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/failing_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <mutex>

namespace relascope::testing_support {
namespace {

std::atomic<bool> armed{false};
std::atomic<std::uint64_t> space{0};  // 0: as it is
std::mutex mutex;
FailingCalls current;
int counted = 0;

// The errno that a call on this path fails with, or 0.
int failure(const std::string& path, bool opens) {
    const std::lock_guard lock(mutex);
    if (!armed || !path.starts_with(current.below) || !path.ends_with(current.ending) ||
        (current.opens && !opens))
        return 0;
    const int number = ++counted;
    return number >= current.first && number - current.first < current.count ? current.error : 0;
}

// Sets errno if the call is to fail.
bool fails(const char* path, bool opens = false) {
    if (!armed || !path) return false;
    const int error = failure(path, opens);
    if (error) errno = error;
    return error != 0;
}

bool isFull() {
    const std::lock_guard lock(mutex);
    return current.error == ENOSPC;
}

bool fails(int file) {
    if (!armed) return false;
    char path[PATH_MAX];
    const auto link = "/proc/self/fd/" + std::to_string(file);
    const auto size = ::readlink(link.c_str(), path, sizeof path);
    if (size <= 0) return false;
    const int error = failure(std::string(path, static_cast<std::size_t>(size)), false);
    if (error) errno = error;
    return error != 0;
}

}  // namespace

FailureScope::FailureScope(const FailingCalls& calls) {
    const std::lock_guard lock(mutex);
    current = calls;
    testing_support::counted = 0;
    armed = true;
}
FailureScope::~FailureScope() {
    armed = false;
}
int FailureScope::counted() const {
    const std::lock_guard lock(mutex);
    return testing_support::counted;
}

LittleSpace::LittleSpace(std::uint64_t bytes) {
    space = bytes;
}
LittleSpace::~LittleSpace() {
    space = 0;
}

}  // namespace relascope::testing_support

using relascope::testing_support::fails;
using relascope::testing_support::isFull;

extern "C" {

int open(const char* path, int flags, ...) {
    std::va_list more;
    va_start(more, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, unsigned) : 0;
    va_end(more);
    // Reading works on a full disk.
    const bool reads = (flags & O_ACCMODE) == O_RDONLY;
    if (!(reads && isFull()) && fails(path, true)) return -1;
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t write(int file, const void* data, size_t bytes) {
    if (fails(file)) return -1;
    return ::syscall(SYS_write, file, data, bytes);
}

int fsync(int file) {
    return fails(file) ? -1 : static_cast<int>(::syscall(SYS_fsync, file));
}

int ftruncate(int file, off_t bytes) noexcept {
    return fails(file) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, file, bytes));
}

int rename(const char* from, const char* to) noexcept {
    if (fails(to)) return -1;
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat2(int fromFolder, const char* from, int toFolder, const char* to,
              unsigned flags) noexcept {
    if (fails(to)) return -1;
    return static_cast<int>(::syscall(SYS_renameat2, fromFolder, from, toFolder, to, flags));
}

int mkdir(const char* path, mode_t mode) noexcept {
    if (fails(path)) return -1;
    return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int statvfs(const char* path, struct statvfs* figures) noexcept {
    using Function = int (*)(const char*, struct statvfs*);
    static const auto own = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "statvfs"));
    const int result = own(path, figures);
    if (const auto bytes = relascope::testing_support::space.load(); result == 0 && bytes > 0)
        figures->f_bavail = bytes / figures->f_frsize;
    return result;
}

}  // extern "C"
