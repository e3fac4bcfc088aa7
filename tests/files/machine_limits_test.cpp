// SPDX-License-Identifier: GPL-3.0-or-later
// The limits of control groups, read from files as Linux has them in containers and jobs.
#include "files/machine_limits.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "files/atomic_file.h"
#include "files/memory.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace core;
using testing_support::TemporaryFolder;

constexpr std::uint64_t kMiB = 1u << 20;

/// A root with /proc/self of a process and the files of its groups.
class FakeRoot {
public:
    FakeRoot() : m_folder("groups") {}
    void write(const std::string& path, const std::string& text) {
        const auto file = m_folder.path() + path;
        makeDirectories(std::filesystem::path(file).parent_path().string());
        writeTextFile(file, text);
    }
    MachineLimits limits() const { return machineLimits(m_folder.path()); }
    std::string path() const { return m_folder.path(); }

private:
    TemporaryFolder m_folder;
};

void mountUnified(FakeRoot& root, const std::string& group, const std::string& inside = "/") {
    root.write("/proc/self/cgroup", "0::" + group + "\n");
    root.write("/proc/self/mountinfo",
               "22 21 0:20 / /proc rw,nosuid - proc proc rw\n"
               "30 23 0:26 " +
                   inside + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
}

TEST(MachineLimits, OfVersionTwoAreThoseOfAllLevels) {
    FakeRoot root;
    mountUnified(root, "/user.slice/job");
    const std::string top = "/sys/fs/cgroup/user.slice", job = top + "/job";
    root.write(job + "/cpu.max", "50000 100000\n");
    root.write(job + "/memory.max", "max\n");
    root.write(job + "/memory.current", std::to_string(100 * kMiB));
    root.write(top + "/cpu.max", "max 100000\n");
    root.write(top + "/memory.max", std::to_string(400 * kMiB));
    root.write(top + "/memory.current", std::to_string(300 * kMiB));
    root.write(top + "/memory.stat",
               "anon 12\ninactive_file " + std::to_string(200 * kMiB) + "\nfile 5\n");
    root.write(job + "/memory.events", "low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\n");
    const auto limits = root.limits();
    EXPECT_EQ(limits.cores, 0.5);
    EXPECT_EQ(limits.memory, 400 * kMiB) << "of the group around it";
    EXPECT_EQ(limits.memoryLeft, 300 * kMiB) << "pages of files are given up";
    EXPECT_EQ(groupOomKills(root.path()), 1);
}

TEST(MachineLimits, OfAContainerAreAtTheRootOfItsMount) {
    // With a name space of its own, and without one: then the path is that of the host.
    for (const auto& [group, inside] :
         {std::pair("/", "/"), std::pair("/docker/abc", "/docker/abc"),
          std::pair("/../../other", "/"), std::pair("/host/only", "/")}) {
        FakeRoot root;
        mountUnified(root, group, inside);
        root.write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
        root.write("/sys/fs/cgroup/memory.max", std::to_string(64 * kMiB) + "\n");
        root.write("/sys/fs/cgroup/memory.current", std::to_string(80 * kMiB) + "\n");
        EXPECT_EQ(root.limits().cores, 1.5) << group;
        EXPECT_EQ(root.limits().memory, 64 * kMiB) << group;
        EXPECT_EQ(root.limits().memoryLeft, 0u) << group;
    }
}

TEST(MachineLimits, OfVersionOneHaveAHierarchyForEachController) {
    FakeRoot root;
    root.write("/proc/self/cgroup",
               "12:memory:/lxc/box\n4:cpu,cpuacct:/lxc/box\n1:name=systemd:/lxc/box\n");
    root.write("/proc/self/mountinfo",
               "31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
               "32 30 0:28 / /sys/fs/cgroup/with\\040blank rw - cgroup cgroup rw,memory\n");
    const std::string cpu = "/sys/fs/cgroup/cpu,cpuacct", memory = "/sys/fs/cgroup/with blank";
    root.write(cpu + "/lxc/box/cpu.cfs_quota_us", "-1\n");
    root.write(cpu + "/lxc/box/cpu.cfs_period_us", "100000\n");
    root.write(cpu + "/lxc/cpu.cfs_quota_us", "250000\n");
    root.write(cpu + "/lxc/cpu.cfs_period_us", "100000\n");
    root.write(memory + "/lxc/box/memory.limit_in_bytes", std::to_string(1024 * kMiB));
    root.write(memory + "/lxc/box/memory.usage_in_bytes", std::to_string(1000 * kMiB));
    root.write(memory + "/lxc/box/memory.stat",
               "cache 1\ntotal_inactive_file " + std::to_string(10 * kMiB) + "\n");
    root.write(memory + "/memory.limit_in_bytes", "9223372036854771712\n");
    root.write(memory + "/lxc/box/memory.oom_control",
               "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
    EXPECT_EQ(root.limits().cores, 2.5);
    EXPECT_EQ(root.limits().memory, 1024 * kMiB);
    EXPECT_EQ(root.limits().memoryLeft, 34 * kMiB);
    EXPECT_EQ(groupOomKills(root.path()), 4);
}

TEST(MachineLimits, AreNoneWhereNothingIsSaid) {
    FakeRoot root;
    EXPECT_FALSE(root.limits().cores);
    EXPECT_FALSE(root.limits().memory);
    mountUnified(root, "/");
    root.write("/sys/fs/cgroup/cpu.max", "max 100000\n");
    root.write("/sys/fs/cgroup/memory.max", "what\n");
    EXPECT_FALSE(root.limits().cores);
    EXPECT_FALSE(root.limits().memory);
    EXPECT_FALSE(root.limits().memoryLeft);
    EXPECT_EQ(groupOomKills(root.path()), 0);
    // Of the machine that tests run on.
    EXPECT_GE(usableCores(), 1);
    EXPECT_GT(totalMemory(), 0u);
    EXPECT_LE(availableMemory(), totalMemory());
}

}  // namespace
}  // namespace relascope
