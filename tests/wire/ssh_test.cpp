// SPDX-License-Identifier: GPL-3.0-or-later
// Other machines by ssh: an sshd of the test's own on this machine, with keys and a home of its
// own.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "files/atomic_file.h"
#include "options/presets.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "run/run_process.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/text_format.h"
#include "wire/child_process.h"
#include "wire/host_link.h"
#include "wire/run_door.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using wire::Host;
using wire::HostLink;
using State = HostLink::State;

int freePort() {
    const wire::Descriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw Error("no port is free");
    return ntohs(address.sin_port);
}

/// The processes of that name among the descendants of a process.
std::vector<pid_t> descendants(pid_t of, const std::string& name) {
    std::vector<pid_t> all = {of}, found;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const auto& entry : fs::directory_iterator("/proc")) {
            const auto id = std::atoi(entry.path().filename().c_str());
            if (id <= 0) continue;
            std::ifstream file(entry.path() / "stat");
            std::string line;
            std::getline(file, line);
            const auto open = line.find('('), close = line.rfind(')');
            if (close == std::string::npos) continue;
            int parent = 0;
            char state = 0;
            if (std::sscanf(line.c_str() + close + 1, " %c %d", &state, &parent) != 2) continue;
            if (parent != all[i]) continue;
            all.push_back(id);
            if (line.substr(open + 1, close - open - 1) == name) found.push_back(id);
        }
    return found;
}

class SshTest : public ::testing::Test {
protected:
    void SetUp() override {
        fs::create_directories(home / "far/bin");
        fs::create_directories(home / "far/runs");
        fs::create_directories(home / "run");
        fs::permissions(home / "run", fs::perms::owner_all);
        fs::create_symlink(RELASCOPE_BIN "/relascope-cli", home / "far/bin/relascope-cli");
        setenv("XDG_CACHE_HOME", (home / "cache").c_str(), 1);
        for (const char* name : {"key", "hostkey", "otherkey"})
            ASSERT_EQ(run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / name}), 0);
        if (::getuid() == 0) ::mkdir("/run/sshd", 0755);
        port = freePort();
        const auto far = home / "far";
        core::writeTextFile(
            home / "sshd_config",
            "Port " + std::to_string(port) + "\nListenAddress 127.0.0.1\nHostKey " +
                (home / "hostkey") + "\nAuthorizedKeysFile " + (home / "key.pub") +
                "\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
                "KbdInteractiveAuthentication no\nPermitRootLogin yes\nMaxStartups 100\n"
                "SetEnv HOME=" +
                far + " PATH=" + far +
                "/bin:/usr/local/bin:/usr/bin:/bin "
                "XDG_RUNTIME_DIR=" +
                (home / "run") + "\n");
        const auto name = ::getpwuid(::getuid())->pw_name;
        core::writeTextFile(home / "config", "Host gpu1 gpu2\n  HostName 127.0.0.1\n  Port " +
                                                 std::to_string(port) + "\n  User " + name +
                                                 "\n  IdentityFile " + (home / "key") +
                                                 "\n  UserKnownHostsFile " + (home / "known") +
                                                 "\n  IdentitiesOnly yes\n");
        know("hostkey");
        sshd.emplace(std::vector<std::string>{"/usr/sbin/sshd", "-D", "-E", home / "sshd.log", "-f",
                                              home / "sshd_config"},
                     std::vector<std::pair<int, int>>{});
        host = {"gpu1", "ssh -F " + (home / "config") + " gpu1", {}, false, home / "far/runs"};
        wire::setHosts({host});
        ASSERT_TRUE(until([&] {
            return run({"ssh", "-F", home / "config", "gpu1", "true"}) == 0;
        }));
    }
    void TearDown() override {
        wire::setHosts({});
        if (sshd) ::kill(sshd->id(), SIGTERM);
        unsetenv("XDG_CACHE_HOME");
    }
    static int run(const std::vector<std::string>& words) {
        const auto status = wire::ChildProcess(words, {}).status(std::chrono::seconds(30));
        return status.value_or(-1);
    }
    /// Makes a key the one that the host is known by.
    void know(const std::string& key) const {
        core::writeTextFile(home / "known", "[127.0.0.1]:" + std::to_string(port) + " " +
                                                core::readTextFile(home / (key + ".pub")));
    }
    static bool until(const std::function<bool()>& holds, int seconds = 40) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return true;
    }
    std::string problem() {
        wire::Session session;
        try {
            session.ask("host", {{"host", "gpu1"}});
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }

    testing_support::TemporaryFolder home{"ssh"};
    int port = 0;
    Host host;
    std::optional<wire::ChildProcess> sshd;
};

TEST_F(SshTest, KnowsTheHostByItsKey) {
    EXPECT_EQ(problem(), "");
    // What start-up files print comes before the first frame.
    core::writeTextFile(home / "far/.bashrc", "echo Welcome to gpu1; echo RSF\n");
    EXPECT_EQ(problem(), "");
    // A connection that is still closing would be shared, and no key asked for.
    ASSERT_TRUE(until([] { return descendants(::getpid(), "ssh").empty(); }));
    fs::remove(home / "known");
    host.reach = "ssh -o BatchMode=yes -F " + (home / "config") + " gpu1";
    wire::setHosts({host});
    EXPECT_EQ(problem(), "gpu1 cannot be reached: Host key verification failed.");
    know("otherkey");
    EXPECT_EQ(problem(), "gpu1 cannot be reached: Host key verification failed.");
    know("hostkey");
    fs::remove(home / "far/bin/relascope-cli");
    EXPECT_EQ(problem(), "Relascope is not installed on gpu1.");
}

TEST_F(SshTest, TenCutsCostNoPoint) {
    HostLink link(host, [] {});
    ASSERT_TRUE(until([&] { return link.status().state == State::Connected; }))
        << link.status().sentence;
    wire::StartRequest request;
    request.options = core::presetOptions("quick");
    for (const char* name : {"d_model", "dff"}) request.options.model.set(name, 16);
    request.options.data.train_size = 64;
    request.options.data.validation_size = request.options.data.test_size = 16;
    request.options.train.batch_size = 16;
    request.options.train.steps = 10'000'000;
    request.options.train.device = "cpu";
    request.folder = link.status().folder;
    auto started = wire::startRun(request, {});
    link.follow({started.path});
    started.door = {};
    const auto points = [&] {
        return core::isRunFolder(started.path) ? core::readMetrics(started.path).size() : 0;
    };
    ASSERT_TRUE(until([&] { return points() > 10; }));
    std::mt19937 random(1);
    for (int cut = 0; cut < 10; ++cut) {
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 700));
        for (const auto ssh : descendants(::getpid(), "ssh")) ::kill(ssh, SIGKILL);
        if (cut % 3 == 0) link.refresh();
    }
    const auto before = points();
    ASSERT_TRUE(until([&] { return points() > before; })) << "the training went on, and the mirror";
    // It is reached again through a new connection, and ended there.
    auto door = wire::farDoor(*wire::farPathOf(started.path), {});
    ASSERT_TRUE(door);
    wire::DoorClient client;
    client.send("cancel");
    EXPECT_EQ(client.run(std::move(door), {}, {}), wire::DoorClient::End::Ended);
    const std::string far = wire::farPathOf(started.path)->path;
    ASSERT_TRUE(until([&] { return !core::isTrained(started.path) && !core::isTrained(far); }));
    EXPECT_TRUE(until([&] {
        return core::readTextFile(started.path + "/metrics.jsonl") ==
               core::readTextFile(far + "/metrics.jsonl");
    }));
}

TEST_F(SshTest, AHostThatDoesNotAnswerDelaysNoOther) {
    Host second = host;
    second.name = "gpu2";
    second.reach = "ssh -o ServerAliveInterval=1 -F " + (home / "config") + " gpu2";
    wire::setHosts({host, second});
    HostLink one(host, [] {}), two(second, [] {});
    ASSERT_TRUE(until([&] {
        return one.status().state == State::Connected && two.status().state == State::Connected;
    }));
    // The side of the connection of the second one that is a process of sshd.
    std::vector<pid_t> stopped;
    const auto sessions = descendants(sshd->id(), "relascope-cli");
    for (const auto server : descendants(sshd->id(), "sshd"))
        if (descendants(server, "relascope-cli") == std::vector<pid_t>{sessions.back()})
            stopped.push_back(server);
    ASSERT_FALSE(stopped.empty());
    for (const auto process : stopped) ::kill(process, SIGSTOP);
    const auto lost = [&](const HostLink& link) { return link.status().state != State::Connected; };
    EXPECT_TRUE(until([&] { return lost(one) || lost(two); }, 25));
    const HostLink& other = lost(one) ? two : one;
    EXPECT_EQ(other.status().state, State::Connected);
    for (const auto process : stopped) ::kill(process, SIGCONT);
    EXPECT_TRUE(until([&] { return !lost(one) && !lost(two); })) << "it is connected to again";
}

}  // namespace
}  // namespace relascope
