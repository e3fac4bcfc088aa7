// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <utility>

#include "options/builtin_resources.h"
#include "run/run_process.h"
#include "wire/host.h"
#include "wire/types.h"

namespace relascope::wire {

Json sessionHello() {
    return {{"m", "hello"}, {"protocol", kSessionProtocol}, {"version", core::builtin::version()}};
}

std::string versionOfHello(const Json& message) {
    if (valueOf<std::string>(message, "m") != "hello")
        throw FrameError("a session begins with another message than hello");
    const auto version = valueOf<std::string>(message, "version");
    if (const int protocol = valueOf<int>(message, "protocol"); protocol != kSessionProtocol)
        throw FrameError("Relascope " + version + " has another protocol, " +
                         std::to_string(protocol) + ", than this one");
    return version;
}

void checkSessionHello(const Json& message, const std::string& host) {
    const auto version = versionOfHello(message);
    const std::string mine = core::builtin::version();
    if (version == mine) return;
    if (!host.empty())
        throw FrameError(host + " has Relascope " + version + ", this is " + mine +
                         ": install this version there, beside the other");
    throw FrameError("Relascope was updated to " + version +
                     "; restart the window, trainings continue");
}

bool isForEveryVersion(const std::string& what) {
    return what == "host" || what == "list" || what == "studies" || what == "read";
}

Json errorToJson(const std::exception& error) {
    const std::string text = userMessage(error);
    if (dynamic_cast<const Cancelled*>(&error)) return {{"code", "cancelled"}, {"text", text}};
    if (const auto* option = dynamic_cast<const OptionError*>(&error))
        return {{"code", "option"}, {"text", option->message()}, {"key", option->field()}};
    if (const auto* file = dynamic_cast<const FileError*>(&error))
        return {{"code", "file"}, {"text", text}, {"key", file->path()}};
    return {{"code", "error"}, {"text", text}};
}

void throwError(const Json& error) {
    const auto code = valueOf<std::string>(error, "code");
    const auto text = valueOf<std::string>(error, "text");
    if (code == "cancelled") throw Cancelled();
    if (code == "option") throw OptionError(valueOf<std::string>(error, "key"), text);
    if (code == "file") {
        const auto path = valueOf<std::string>(error, "key");
        const std::string before = path + ": ";
        throw FileError(path, text.starts_with(before) ? text.substr(before.size()) : text);
    }
    throw Error(text);
}

namespace {
std::mutex fakeMutex;
std::function<SessionProcess()> fakeStart;
}  // namespace

FakeSessionsScope::FakeSessionsScope(std::function<SessionProcess()> start) {
    std::lock_guard lock(fakeMutex);
    fakeStart = std::move(start);
}
FakeSessionsScope::~FakeSessionsScope() {
    std::lock_guard lock(fakeMutex);
    fakeStart = nullptr;
}

SessionProcess startSession() {
    {
        std::lock_guard lock(fakeMutex);
        if (fakeStart) return fakeStart();
    }
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error(std::string("no connection to a session can be made: ") + std::strerror(errno));
    Descriptor mine(ends[0]);
    const Descriptor theirs(ends[1]);
    ::fcntl(mine.get(), F_SETFL, ::fcntl(mine.get(), F_GETFL) | O_NONBLOCK);
    ChildProcess process({commandProgram(), "session"}, {{theirs.get(), 0}, {theirs.get(), 1}});
    return {std::move(mine), std::move(process)};
}

Session::Session(const Host& host, std::function<bool()> wanted)
    : m_start(
          [host, wanted = std::move(wanted)] { return startFar(host, {"session"}, {}, wanted); }),
      m_only(std::make_shared<const Host>(host)) {}

void Session::greet(Peer& peer, const Json& hello, const std::string& host) const {
    peer.greeted = true;
    peer.version = versionOfHello(hello);
    if (!m_everyVersion) checkSessionHello(hello, m_only ? m_only->name : host);
}

std::string Session::version() const {
    const auto found = m_peers.find({});
    return found == m_peers.end() ? std::string() : found->second.version;
}

Session::Peer& Session::peerOn(const std::string& host, const Progress& progress) {
    // Remains of earlier answers are dropped. A session without requests may have ended by itself.
    if (const auto found = m_peers.find(host); found != m_peers.end()) {
        auto& peer = found->second;
        const auto drop = [&](const Frame& frame) {
            if (!peer.greeted) greet(peer, frame.message, host);
        };
        if (peer.connection.read(drop)) return peer;
        m_peers.erase(found);
    }
    const auto kills = core::thisProcess().oomKills;
    SessionProcess started;
    if (host.empty()) {
        started = m_start();
    } else {
        const auto known = findHost(host);
        if (!known) throw Error(host + " is not among the machines any more.");
        started =
            startFar(*known, {"session"}, known->launchesViews ? known->launch : std::string(),
                     [&] { return !progress || progress(0.0); });
    }
    auto& peer =
        m_peers
            .emplace(host, Peer{Connection(std::move(started.connection)),
                                std::move(started.process), std::move(started.errors), kills})
            .first->second;
    peer.connection.send(frameBytes(sessionHello()));
    return peer;
}

std::string Session::howItEnded(Peer& peer, const std::string& host) const {
    if (m_only)
        return whyUnreachable(*m_only, {Descriptor(), peer.process, std::move(peer.errors)});
    if (!host.empty())
        return whyUnreachable(findHost(host).value_or(Host{host, {}, {}, false, {}}),
                              {Descriptor(), peer.process, std::move(peer.errors)});
    const auto status = peer.process ? peer.process->status(std::chrono::seconds(1)) : std::nullopt;
    if (status && WIFEXITED(*status) && WEXITSTATUS(*status) != 0)
        return "No model can be opened: relascope-cli session ended with exit status " +
               std::to_string(WEXITSTATUS(*status)) + "; the installation may be damaged";
    constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    if (status && WIFSIGNALED(*status) && std::ranges::count(crashes, WTERMSIG(*status)))
        return std::string("The model is not open any more: the program crashed (SIG") +
               ::sigabbrev_np(WTERMSIG(*status)) + "); try again";
    auto process = core::thisProcess();
    process.pid = peer.process ? peer.process->id() : 0;
    process.oomKills = peer.oomKills;
    return "The model is not open any more: " + core::howItEnded(process, 0) + "; try again";
}

void Session::change(Json changes) {
    changes["change"] = m_id;
    if (m_asked) m_asked->send(frameBytes(changes));
}

Frame Session::ask(const char* what, Json request, const Progress& progress, const Partial& part,
                   std::span<const std::uint8_t> blob) {
    std::string host = takeFarPaths(request);
    if (const auto named = request.find("host"); named != request.end()) {
        if (host.empty()) host = named->get<std::string>();
        request.erase(named);
    }
    const auto id = ++m_id;
    m_machine = m_only ? m_only->name : host;
    request["m"] = what;
    request["id"] = id;
    const Bytes bytes = frameBytes(request, blob);
    std::optional<Frame> answer;
    try {
        while (!answer) answer = tryAsk(host, id, bytes, progress, part);
        m_asked = nullptr;
    } catch (const Cancelled&) {
        m_asked = nullptr;
        throw;
    } catch (const Error&) {
        m_asked = nullptr;
        m_peers.erase(host);  // it is gone, or its further frames cannot be understood
        throw;
    }
    if (answer->message.contains("error")) throwError(answer->message["error"]);
    return {valueOf<Json>(answer->message, "ok"), std::move(answer->blob)};
}

/// None where the session had ended by itself before it heard of the request. A fresh one has not,
/// so that nothing is asked a third time.
std::optional<Frame> Session::tryAsk(const std::string& host, std::uint64_t id, const Bytes& bytes,
                                     const Progress& progress, const Partial& part) {
    auto& peer = peerOn(host, progress);
    auto& connection = peer.connection;
    std::optional<Frame> answer;
    double fraction = 0.0;
    bool heard = false;
    const auto report = [&] {
        if (!progress || progress(fraction)) return;
        connection.send(frameBytes({{"cancel", id}}));
        connection.write();
        throw Cancelled();
    };
    using Clock = std::chrono::steady_clock;
    auto reported = Clock::now();
    const auto take = [&](Frame frame) {
        if (!peer.greeted) return greet(peer, frame.message, host);
        const Json& m = frame.message;
        if (valueOf<std::uint64_t>(m, "id") != id) return;
        heard = true;
        if (m.contains("progress"))
            fraction = valueOf<double>(m, "progress");
        else if (m.contains("part"))
            part ? part(m["part"], frame.blob) : void();
        else
            answer = std::move(frame);
        // A session may send as fast as this process reads.
        if (answer || Clock::now() - reported < std::chrono::milliseconds(50)) return;
        reported = Clock::now();
        report();
    };
    m_asked = &connection;
    connection.send(bytes);
    while (!answer) {
        report();
        reported = Clock::now();
        pollfd waiting{connection.get(),
                       static_cast<short>(POLLIN | (connection.isSending() ? POLLOUT : 0)), 0};
        const bool failed = ::poll(&waiting, 1, 50) < 0 && errno != EINTR,
                   sent = connection.write();
        // Frames that were sent before the session ended are still read.
        const bool gone = !connection.read(take) || !sent || failed;
        if (!gone || answer) continue;
        const auto status =
            peer.process ? peer.process->status(std::chrono::seconds(1)) : std::optional(0);
        if (!peer.answered || heard || status != 0) throw Error(howItEnded(peer, host));
        m_asked = nullptr;
        m_peers.erase(host);
        return std::nullopt;
    }
    peer.answered = true;
    return answer;
}

}  // namespace relascope::wire
