// SPDX-License-Identifier: GPL-3.0-or-later
// The command line is copied to a machine where it is not installed: a made-up tree, into another
// home of this machine. And what ssh is given where it may have to ask.
#include "wire/host_install.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "files/atomic_file.h"
#include "options/builtin_resources.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/text_format.h"
#include "wire/child_process.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using wire::Host;

class HostInstallTest : public ::testing::Test {
protected:
    void SetUp() override {
        program("[ \"$*\" = '--version --json' ] && echo '{}'");
        for (const char* folder : {"here/lib/relascope", "here/share/relascope/data", "far"})
            fs::create_directories(home / folder);
        core::writeTextFile(home / "here/lib/relascope/libone.so", "one");
        core::writeTextFile(home / "here/share/relascope/data/a.txt", "a");
        core::writeTextFile(home / "here/secret.txt", "not copied");
        host.name = "gpu1";
        reach("");
    }
    void program(const std::string& does) const {
        fs::create_directories(home / "here/bin");
        core::writeTextFile(home / "here/bin/relascope-cli", "#!/bin/sh\n" + does + "\n");
        fs::permissions(home / "here/bin/relascope-cli", fs::perms::owner_all);
    }
    void reach(const std::string& first) {
        host.reach = "env HOME=" + (home / "far") + " PATH=/usr/bin:/bin sh -c " +
                     shellWord(first + "exec \"$@\"") + " reach";
    }
    std::string problem(const std::function<bool(double)>& progress = {}) const {
        try {
            wire::installTree(host, home / "here", progress);
        } catch (const Cancelled&) {
            return "cancelled";
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }
    std::string there(const std::string& name) const {
        return home /
               ("far/.local/share/relascope/" + std::string(core::builtin::version()) + name);
    }

    testing_support::TemporaryFolder home{"host-install"};
    Host host;
};

TEST_F(HostInstallTest, TheTreeIsCopiedAndRuns) {
    std::vector<double> fractions;
    // What was left of another attempt goes.
    fs::create_directories(there(".part/bin"));
    core::writeTextFile(there(".part/bin/old"), "");
    EXPECT_EQ(problem([&](double fraction) {
                  fractions.push_back(fraction);
                  return true;
              }),
              "");
    EXPECT_EQ(core::readTextFile(there("/lib/relascope/libone.so")), "one");
    EXPECT_EQ(core::readTextFile(there("/share/relascope/data/a.txt")), "a");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(there("/bin/relascope-cli"))));
    EXPECT_FALSE(fs::exists(there("/secret.txt")));
    EXPECT_FALSE(fs::exists(there("/bin/old")));
    EXPECT_FALSE(fs::exists(there(".part")));
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_EQ(fractions.back(), 1.0);
    // Again, over the one that is there.
    core::writeTextFile(home / "here/lib/relascope/libone.so", "two");
    EXPECT_EQ(problem(), "");
    EXPECT_EQ(core::readTextFile(there("/lib/relascope/libone.so")), "two");
}

TEST_F(HostInstallTest, ACancelledCopyLeavesOnlyItsPart) {
    std::string noise(30 << 20, '\0');
    std::mt19937 random(1);
    for (auto& byte : noise) byte = static_cast<char>(random());
    core::writeTextFile(home / "here/lib/relascope/large.so", noise);
    double last = 0.0;
    EXPECT_EQ(problem([&](double fraction) {
                  last = fraction;
                  return fraction < 0.3 || !fs::exists(there(".part"));
              }),
              "cancelled");
    EXPECT_LT(last, 1.0);
    EXPECT_TRUE(fs::exists(there(".part")));
    EXPECT_FALSE(fs::exists(there("")));
}

TEST_F(HostInstallTest, SaysWhatFailedThere) {
    const std::string before = "Relascope cannot be installed on gpu1: ";
    program("echo \"libc.so.6: version 'GLIBC_2.36' not found\" >&2; exit 1");
    EXPECT_EQ(problem(), before + "libc.so.6: version 'GLIBC_2.36' not found");
    EXPECT_TRUE(fs::exists(there(".part")));
    EXPECT_FALSE(fs::exists(there("")));
    reach("echo no route >&2; exit 255; ");
    EXPECT_EQ(problem(), before + "no route");
    // A connection that is cut between two files brings a valid archive that is not whole.
    program("true");
    fs::remove_all(there(".part"));
    reach("cat > /dev/null; exec 0< " + shellWord(home / "cut.tar.gz") + "; ");
    ASSERT_EQ(
        std::system(
            ("cd " + shellWord(home / "here") + " && tar -cz -f ../cut.tar.gz bin lib").c_str()),
        0);
    EXPECT_EQ(problem(), before + "the copy is not whole");
    EXPECT_FALSE(fs::exists(there("")));
}

TEST_F(HostInstallTest, ABuildFolderIsNotCopied) {
    try {
        wire::installThere(host, {});
        FAIL() << "a build folder was copied";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("runs from a build folder"), std::string::npos)
            << error.what();
    }
}

TEST(HostLibraries, ThoseOfTheCLibraryStay) {
    EXPECT_EQ(wire::librariesToCopy("\tlinux-vdso.so.1 (0x00007ffd)\n"
                                    "\tlibzip.so.4 => /usr/lib/libzip.so.4 (0x00007f01)\n"
                                    "\tlibstdc++.so.6 => /usr/lib/libstdc++.so.6 (0x00007f02)\n"
                                    "\tlibmagic.so.1 => /usr/lib/libmagic.so.1 (0x00007f02)\n"
                                    "\tlibm.so.6 => /usr/lib/libm.so.6 (0x00007f03)\n"
                                    "\tlibc.so.6 => /usr/lib/libc.so.6 (0x00007f04)\n"
                                    "\tlibgcc_s.so.1 => /usr/lib/libgcc_s.so.1 (0x00007f04)\n"
                                    "\tlibtorch_cpu.so => /bin/libtorch_cpu.so (0x00007f05)\n"
                                    "\tlibgone.so => not found\n"
                                    "\t/lib64/ld-linux-x86-64.so.2 (0x00007f06)\n",
                                    "/bin"),
              (std::vector<std::string>{"/usr/lib/libzip.so.4", "/usr/lib/libstdc++.so.6",
                                        "/usr/lib/libmagic.so.1", "/usr/lib/libgcc_s.so.1"}));
    EXPECT_TRUE(wire::librariesToCopy("\tnot a dynamic executable\n", "/bin").empty());
}

TEST(HostQuestions, SshAsksThroughTheWindowOrNotAtAll) {
    const auto has = [](const std::vector<std::string>& words, const std::string& word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    const char* display = std::getenv("DISPLAY");
    const std::string before = display ? display : "";
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    Host ssh{"gpu1", "ssh -p 22 gpu1", {}, false, {}},
        other{"box", "docker exec -i box", {}, false, {}};
    const auto words = wire::reachCommand(ssh, {"sh", "-c", "echo 'a b'"});
    EXPECT_TRUE(has(words, "BatchMode=yes"));
    EXPECT_EQ(words.back(), "'echo '\\''a b'\\'''");
    EXPECT_TRUE(wire::reachEnvironment(ssh).empty());
    EXPECT_EQ(wire::reachCommand(other, {"sh", "-c", "echo 'a b'"}),
              (std::vector<std::string>{"docker", "exec", "-i", "box", "sh", "-c", "echo 'a b'"}));
    setenv("DISPLAY", ":7", 1);
    const bool asks = fs::exists(RELASCOPE_BIN "/relascope");
    EXPECT_EQ(has(wire::reachCommand(ssh, {"true"}), "BatchMode=yes"), !asks);
    EXPECT_EQ(has(wire::reachEnvironment(ssh), "RELASCOPE_ASKPASS=1"), asks);
    EXPECT_EQ(has(wire::reachEnvironment(ssh), "SSH_ASKPASS_REQUIRE=force"), asks);
    EXPECT_TRUE(wire::reachEnvironment(other).empty());
    before.empty() ? unsetenv("DISPLAY") : setenv("DISPLAY", before.c_str(), 1);
}

TEST(ChildEnvironment, IsAddedToThatOfTheParent) {
    const testing_support::TemporaryFolder folder("child-environment");
    fs::create_directories(folder.path());
    setenv("RELASCOPE_ONE", "old", 1);
    setenv("RELASCOPE_ONE_MORE", "kept", 1);
    const wire::Descriptor out(
        ::open((folder / "out").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    const wire::ChildProcess child(
        {"sh", "-c", "echo \"$RELASCOPE_ONE $RELASCOPE_ONE_MORE $RELASCOPE_TWO\""},
        {{out.get(), 1}}, {"RELASCOPE_ONE=new", "RELASCOPE_TWO=2"});
    EXPECT_TRUE(child.status(std::chrono::seconds(10)));
    EXPECT_EQ(wire::lastLineOf(out), "new kept 2");
    unsetenv("RELASCOPE_ONE");
    unsetenv("RELASCOPE_ONE_MORE");
}

}  // namespace
}  // namespace relascope
