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

#include "model/served/served_link.h"
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
    const Lock lock(m_state->mutex);
    const auto found = m_state->peers.find({});
    return found == m_state->peers.end() ? std::string() : found->second->version;
}

bool Session::isRunning() const {
    const Lock lock(m_state->mutex);
    return m_state->peers.contains(std::string());
}

void Session::end() {
    std::map<std::string, PeerPtr> ended;  // their processes are waited for outside of the lock
    const Lock lock(m_state->mutex);
    ended.swap(m_state->peers);
}

std::string Session::machine() const {
    const Lock lock(m_state->mutex);
    const auto found = m_state->asking.find(std::this_thread::get_id());
    return found == m_state->asking.end() ? std::string() : found->second.machine;
}

void Session::forget(const std::string& host, const Peer& peer) {
    const auto found = m_state->peers.find(host);
    if (found != m_state->peers.end() && found->second.get() == &peer) m_state->peers.erase(found);
}

namespace {

/// Unlocks while it lives: callbacks may change the request.
struct Unlocked {
    explicit Unlocked(std::unique_lock<std::mutex>& of) : lock(of) { lock.unlock(); }
    ~Unlocked() { lock.lock(); }
    std::unique_lock<std::mutex>& lock;
};

}  // namespace

Session::PeerPtr Session::peerOn(Lock& lock, const std::string& host, const Progress& progress) {
    // Remains of earlier answers are dropped. A session without requests may have ended by itself.
    if (const auto found = m_state->peers.find(host); found != m_state->peers.end()) {
        const auto peer = found->second;
        const auto drop = [&](const Frame& frame) {
            if (!peer->greeted) greet(*peer, frame.message, host);
        };
        const bool asked = !peer->mail.empty() || peer->read;
        if (asked ? !peer->gone && !peer->broken : peer->connection.read(drop)) return peer;
        m_state->peers.erase(host);
    }
    const auto kills = core::thisProcess().oomKills;
    SessionProcess started;
    if (host.empty()) {
        started = m_start();
    } else {
        const auto known = findHost(host);
        if (!known) throw Error(host + " is not among the machines any more.");
        started = startFar(*known, {"session"},
                           known->launchesViews ? known->launch : std::string(), [&] {
                               const Unlocked callback(lock);
                               return !progress || progress(0.0);
                           });
        // Another thread may have started one meanwhile.
        if (const auto found = m_state->peers.find(host); found != m_state->peers.end())
            return found->second;
    }
    const auto peer =
        std::make_shared<Peer>(Peer{Connection(std::move(started.connection)),
                                    std::move(started.process), std::move(started.errors), kills});
    m_state->peers[host] = peer;
    peer->connection.send(frameBytes(sessionHello()));
    return peer;
}

std::string Session::howItEnded(Peer& peer, const std::string& host) const {
    if (peer.ending.empty()) peer.ending = findEnding(peer, host);
    return peer.ending;
}

std::string Session::findEnding(Peer& peer, const std::string& host) const {
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
    const Lock lock(m_state->mutex);
    const auto& asking = m_state->asking[std::this_thread::get_id()];
    if (!asking.peer) return;
    changes["change"] = asking.id;
    asking.peer->connection.send(frameBytes(changes));
    asking.peer->connection.write();
}

Frame Session::ask(const char* what, Json request, const Progress& progress, const Partial& part,
                   std::span<const std::uint8_t> blob) {
    std::string host = takeFarPaths(request);
    if (const auto named = request.find("host"); named != request.end()) {
        if (host.empty()) host = named->get<std::string>();
        request.erase(named);
    }
    std::uint64_t id = 0;
    {
        const Lock lock(m_state->mutex);
        id = ++m_state->id;
        m_state->asking[std::this_thread::get_id()] = {nullptr, id, m_only ? m_only->name : host};
    }
    request["m"] = what;
    request["id"] = id;
    const Bytes bytes = frameBytes(request, blob);
    std::optional<Frame> answer;
    while (!answer) answer = tryAsk(host, id, bytes, progress, part);
    if (answer->message.contains("error")) throwError(answer->message["error"]);
    return {valueOf<Json>(answer->message, "ok"), std::move(answer->blob)};
}

void Session::readFrames(Lock& lock, Peer& peer, const std::string& host) const {
    peer.read = true;
    pollfd waiting{peer.connection.get(),
                   static_cast<short>(POLLIN | (peer.connection.isSending() ? POLLOUT : 0)), 0};
    lock.unlock();
    const bool failed = ::poll(&waiting, 1, 50) < 0 && errno != EINTR;
    lock.lock();
    peer.read = false;
    const auto take = [&](Frame frame) {
        if (!peer.greeted) return greet(peer, frame.message, host);
        const Json& m = frame.message;
        const auto found = peer.mail.find(valueOf<std::uint64_t>(m, "id"));
        if (found == peer.mail.end()) return;
        auto& mail = *found->second;
        mail.heard = true;
        if (m.contains("progress"))
            mail.fraction = valueOf<double>(m, "progress");
        else if (m.contains("waits"))
            mail.waits = valueOf<std::string>(m, "waits");
        else if (m.contains("part"))
            mail.parts.emplace_back(m["part"], std::move(frame.blob));
        else
            mail.answer = std::move(frame);
    };
    try {
        const bool sent = peer.connection.write();
        // Frames that were sent before the session ended are still read.
        peer.gone = !peer.connection.read(take) || !sent || failed;
    } catch (const std::exception&) {
        peer.broken = std::current_exception();
    }
    m_state->changed.notify_all();
}

/// None where the session had ended by itself before it heard of the request. A fresh one has not,
/// so that nothing is asked a third time.
std::optional<Frame> Session::tryAsk(const std::string& host, std::uint64_t id, const Bytes& bytes,
                                     const Progress& progress, const Partial& part) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kInterval(50);
    auto& state = *m_state;
    Lock lock(state.mutex);
    const auto peer = peerOn(lock, host, progress);
    auto& connection = peer->connection;
    const bool answeredBefore = peer->answered;
    Mail mail;
    peer->mail[id] = &mail;
    auto& asking = state.asking[std::this_thread::get_id()];
    asking.peer = peer;
    struct Leave {
        Peer& peer;
        Asking& asking;
        State& state;
        std::uint64_t id;
        ~Leave() {
            peer.mail.erase(id);
            asking.peer.reset();
            state.changed.notify_all();  // another thread reads the frames from here on
        }
    };
    const Leave leave{*peer, asking, state, id};
    connection.send(bytes);
    connection.write();  // another thread may be waiting for frames
    auto reported = Clock::now() - kInterval;
    const auto wait = core::servedWait();
    std::string said;
    for (;;) try {
            while (!mail.parts.empty()) {
                const auto [json, blob] = std::move(mail.parts.front());
                mail.parts.pop_front();
                const Unlocked callback(lock);
                if (part) part(json, blob);
            }
            if (mail.answer) break;
            if (peer->broken) std::rethrow_exception(peer->broken);
            if (peer->gone) {
                const auto status = peer->process ? peer->process->status(std::chrono::seconds(1))
                                                  : std::optional(0);
                if (!answeredBefore || mail.heard || status != 0)
                    throw Error(howItEnded(*peer, host));
                forget(host, *peer);
                return std::nullopt;
            }
            // A session may send as fast as this process reads.
            if (Clock::now() - reported >= kInterval) {
                reported = Clock::now();
                const double fraction = mail.fraction;
                const std::string waits = mail.waits;
                bool wanted = true;
                {
                    const Unlocked callback(lock);
                    said = waits;
                    wanted = (!wait || wait(waits)) && (!progress || progress(fraction));
                }
                if (!wanted) {
                    connection.send(frameBytes({{"cancel", id}}));
                    connection.write();
                    throw Cancelled();
                }
                continue;
            }
            if (peer->read)
                state.changed.wait_for(lock, kInterval);
            else
                readFrames(lock, *peer, host);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error&) {
            forget(host, *peer);  // it is gone, or its further frames cannot be understood
            throw;
        }
    peer->answered = true;
    if (wait && !said.empty()) {  // the answer came with the end of the waiting
        const Unlocked callback(lock);
        wait({});
    }
    return std::move(mail.answer);
}

}  // namespace relascope::wire
