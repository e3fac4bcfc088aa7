// SPDX-License-Identifier: GPL-3.0-or-later
// Locks, also on file systems that have none: this program's own flock() stands in for that of the
// C library.
#include "files/file_lock.h"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "files/atomic_file.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace {
std::atomic<int> flockError{0};
}  // namespace

extern "C" int flock(int file, int how) noexcept {
    if (const int error = flockError; error != 0) {
        errno = error;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_flock, file, how));
}

namespace relascope {
namespace {

using core::FileLock;
using testing_support::TemporaryFolder;

struct FlockFails {
    explicit FlockFails(int error) { flockError = error; }
    ~FlockFails() { flockError = 0; }
    FlockFails(const FlockFails&) = delete;
    FlockFails& operator=(const FlockFails&) = delete;
};

std::string lineOf(pid_t pid, const std::string& machine) {
    return "{\"pid\":" + std::to_string(pid) + ",\"machine\":\"" + machine + "\"}\n";
}

TEST(FileLocks, AreHeldOnce) {
    const TemporaryFolder folder("locks");
    core::makeDirectories(folder.path());
    const auto file = folder / "lock";
    EXPECT_FALSE(FileLock::isHeld(file));
    {
        const FileLock first(file);
        EXPECT_TRUE(first.held());
        EXPECT_EQ(first.problem(), "");
        EXPECT_TRUE(FileLock::isHeld(file));
        EXPECT_FALSE(FileLock(file).held());
    }
    EXPECT_FALSE(FileLock::isHeld(file));
}

TEST(FileLocks, OnlyOneAnswerSaysThatAnotherHoldsAFile) {
    const TemporaryFolder folder("locks");
    core::makeDirectories(folder.path());
    const auto file = folder / "lock";
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL, EIO}) {
        const FlockFails none(error);
        FileLock lock(file);
        EXPECT_TRUE(lock.held()) << error;
        EXPECT_EQ(lock.problem(), std::strerror(error));
        EXPECT_FALSE(FileLock::isHeld(file)) << "nobody is named";
        // What the holder says of itself stands for the lock.
        ASSERT_TRUE(lock.write(lineOf(::getpid(), host)));
        EXPECT_TRUE(FileLock::isHeld(file));
        EXPECT_FALSE(FileLock(file).held());
        FileLock moved = std::move(lock);
        EXPECT_TRUE(moved.held());
        EXPECT_NE(moved.problem(), "");
        moved = FileLock();
        EXPECT_FALSE(FileLock::isHeld(file)) << "it has gone";
        for (const auto& gone : {lineOf(::getpid(), "another-machine"), lineOf(2147483646, host),
                                 std::string("{\"pid\": \"x\"}"), std::string("[")}) {
            core::writeTextFile(file, gone);
            EXPECT_FALSE(FileLock::isHeld(file)) << gone;
            EXPECT_TRUE(FileLock(file).held()) << gone;
        }
    }
    const FlockFails held(EWOULDBLOCK);
    EXPECT_FALSE(FileLock(file).held());
    EXPECT_TRUE(FileLock::isHeld(file));
}

}  // namespace
}  // namespace relascope
