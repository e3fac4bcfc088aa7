// SPDX-License-Identifier: GPL-3.0-or-later
// A session: `relascope-cli session`, a process that opens models for a window and lives as long as
// its connection. The window computes nothing itself.
//
// Each request names everything that it needs (wire/requests.h), so nothing has to be restored
// after a session has ended: the next request begins another. A session takes one request after
// another; changes to a request, and its cancellation, reach it while it works.
//
//   window                          session
//   {m: hello, protocol, version}   {m: hello, protocol, version}
//   {id, m, ...} and a blob         {id, progress} and {id, part} with a blob, any number,
//                                   then {id, ok} with a blob, or {id, error: {code, text, key}}
//   {cancel: id}, {change: id, ...}
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/child_process.h"
#include "wire/socket.h"

namespace relascope::wire {

inline constexpr int kSessionProtocol = 2;
/// The first frame of either side.
Json sessionHello();
/// The version in a hello. Throws FrameError for another message or protocol.
std::string versionOfHello(const Json& message);
/// Throws FrameError with a sentence for the user unless `message` is a hello of the same version;
/// `host`: the machine of the session.
void checkSessionHello(const Json& message, const std::string& host = {});
/// Whether a request is answered to every version, as the requests of mirrors
/// (wire/host_files.h).
bool isForEveryVersion(const std::string& what);

/// {code, text, key} of an exception; and back: throws it.
Json errorToJson(const std::exception& error);
[[noreturn]] void throwError(const Json& error);

/// A process, and the connection to it.
struct SessionProcess {
    Descriptor connection;
    std::optional<ChildProcess> process = {};  ///< none: played by a test
    Descriptor errors = {};  ///< for a process on another machine: a file with its output
};
/// Starts relascope-cli session. Throws Error.
SessionProcess startSession();

/// Starts sessions with another function while it exists, for all threads. For tests.
class FakeSessionsScope {
public:
    explicit FakeSessionsScope(std::function<SessionProcess()> start);
    ~FakeSessionsScope();
    FakeSessionsScope(const FakeSessionsScope&) = delete;
    FakeSessionsScope& operator=(const FakeSessionsScope&) = delete;
};

struct Host;  // wire/host.h

/// The side of the window. One thread at a time asks.
class Session {
public:
    /// Gets the fraction done, at least every 50 ms; returns false to cancel.
    using Progress = std::function<bool(double)>;
    /// Gets a part of the answer: its message, and the blob of its frame.
    using Partial = std::function<void(const Json& part, const Bytes& blob)>;

    explicit Session(std::function<SessionProcess()> start = startSession)
        : m_start(std::move(start)) {}
    /// A session on that host, whatever a request names, and without its launcher. `wanted` is
    /// asked while the connection is made.
    Session(const Host& host, std::function<bool()> wanted);

    /// Sends a request, and returns the answer of the session, `ok` and the blob; starts the
    /// process if there is none. A request that names a path in the mirror of a host (wire/host.h),
    /// or the host as "host", goes to a session there. A request that meets a session which ends
    /// because it was idle is sent again, once. Throws the exception of the session; Cancelled, at
    /// once, when `progress` returns false; Error if the process has ended, with the reason.
    Frame ask(const char* what, Json request, const Progress& progress = {},
              const Partial& part = {}, std::span<const std::uint8_t> blob = {});
    /// ask() with the answer as a value. Throws FrameError, which names the machine, if it is none.
    template <class T>
    T askFor(const char* what, Json request, const Progress& progress = {}) {
        const Json answer = ask(what, std::move(request), progress).message;
        return understood([&] { return answer.get<T>(); });
    }
    /// The result of `read` for the last answer; its exceptions become a FrameError that names the
    /// machine of the session.
    template <class Read>
    auto understood(Read&& read) const {
        try {
            return read();
        } catch (const std::exception& error) {
            const std::string from = m_machine.empty() ? "" : " of " + m_machine;
            throw FrameError("an answer" + from + " is not as agreed on: " + error.what());
        }
    }
    /// The host that the last request went to; empty: this machine.
    const std::string& machine() const { return m_machine; }
    /// Changes the request that is being answered; called by its `progress` and `part`.
    void change(Json changes);
    /// Whether there is a process on this machine, which may hold weights.
    bool isRunning() const { return m_peers.contains(std::string()); }
    /// Ends the processes, which frees the models that they hold.
    void end() { m_peers.clear(); }
    /// Takes answers of another version, too, for requests that are for every version.
    void takeEveryVersion() { m_everyVersion = true; }
    /// The version of the process on this machine; empty before its first answer.
    std::string version() const;

private:
    struct Peer {
        Connection connection;
        std::optional<ChildProcess> process;
        Descriptor errors;
        std::int64_t oomKills = 0;  ///< when the process was started
        bool greeted = false;
        bool answered = false;  ///< an earlier request
        std::string version = {};
    };
    std::optional<Frame> tryAsk(const std::string& host, std::uint64_t id, const Bytes& bytes,
                                const Progress& progress, const Partial& part);
    Peer& peerOn(const std::string& host, const Progress& progress);
    void greet(Peer& peer, const Json& hello, const std::string& host) const;
    std::string howItEnded(Peer& peer, const std::string& host) const;

    std::function<SessionProcess()> m_start;
    std::shared_ptr<const Host> m_only;   ///< where m_start starts processes; null: this machine
    std::map<std::string, Peer> m_peers;  ///< by host; an empty name for this machine
    Connection* m_asked = nullptr;        ///< connection of the request that is being answered
    std::uint64_t m_id = 0;               ///< number of the last request
    std::string m_machine;                ///< host of the last request; empty: this machine
    bool m_everyVersion = false;
};

}  // namespace relascope::wire
