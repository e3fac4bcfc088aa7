// SPDX-License-Identifier: GPL-3.0-or-later
// A session: `relascope-cli session`, a process that opens models for a window and lives as long as
// its connection. The window computes nothing itself.
//
// Each request names everything that it needs (wire/requests.h), so nothing has to be restored
// after a session has ended: the next request begins another. A session takes the requests of a
// lane one after another, and those of an earlier lane between the steps of a later one; changes to
// a request, and its cancellation, reach it while it works.
//
//   window                          session
//   {m: hello, protocol, version}   {m: hello, protocol, version}
//   {id, m, lane, ...} and a blob   {id, progress} and {id, part} with a blob, any number,
//                                   then {id, ok} with a blob, or {id, error: {code, text, key}}
//   {cancel: id}, {change: id, ...}
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "wire/child_process.h"
#include "wire/socket.h"

namespace relascope::wire {

inline constexpr int kSessionProtocol = 2;
/// What waits for what in a session: what is looked at now comes before quick questions about it,
/// and these before measurements of minutes, which then continue.
enum class Lane { Look, Quick, Long };
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

/// The side of the window. Several threads may ask at once, each one request at a time.
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

    /// Sends a request, and returns the answer of the session, `ok` and the blob; servedWait() of
    /// this thread gets what the session waits for meanwhile. Starts the
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
            const auto at = machine();
            const std::string from = at.empty() ? "" : " of " + at;
            throw FrameError("an answer" + from + " is not as agreed on: " + error.what());
        }
    }
    /// The host that the last request of this thread went to; empty: this machine.
    std::string machine() const;
    /// Changes the request that is being answered; called by its `progress` and `part`.
    void change(Json changes);
    /// Whether there is a process on this machine, which may hold weights.
    bool isRunning() const;
    /// Ends the processes, which frees the models that they hold.
    void end();
    /// Takes answers of another version, too, for requests that are for every version.
    void takeEveryVersion() { m_everyVersion = true; }
    /// The version of the process on this machine; empty before its first answer.
    std::string version() const;

private:
    /// What has come for a request and was not taken yet.
    struct Mail {
        double fraction = 0.0;
        std::string waits;  ///< what the session waits for
        std::deque<std::pair<Json, Bytes>> parts;
        std::optional<Frame> answer;
        bool heard = false;  ///< the session has begun
    };
    struct Peer {
        Connection connection;
        std::optional<ChildProcess> process;
        Descriptor errors;
        std::int64_t oomKills = 0;  ///< when the process was started
        bool greeted = false;
        bool answered = false;  ///< an earlier request
        std::string version = {};
        std::map<std::uint64_t, Mail*> mail = {};  ///< mail of the requests that are being answered
        bool read = false;                         ///< one of their threads waits for frames
        bool gone = false;
        std::exception_ptr broken = {};  ///< why its frames cannot be understood
        std::string ending = {};         ///< howItEnded(), once it is known
    };
    using PeerPtr = std::shared_ptr<Peer>;
    /// What a thread asks, or has asked last.
    struct Asking {
        PeerPtr peer;  ///< null: nothing now
        std::uint64_t id = 0;
        std::string machine;  ///< host; empty: this machine
    };
    struct State {
        std::mutex mutex;  ///< guards all below, and what the peers hold
        std::condition_variable changed;
        std::map<std::string, PeerPtr> peers;  ///< by host; an empty name for this machine
        std::map<std::thread::id, Asking> asking;
        std::uint64_t id = 0;  ///< number of the last request
    };
    using Lock = std::unique_lock<std::mutex>;

    std::optional<Frame> tryAsk(const std::string& host, std::uint64_t id, const Bytes& bytes,
                                const Progress& progress, const Partial& part);
    PeerPtr peerOn(Lock& lock, const std::string& host, const Progress& progress);
    void greet(Peer& peer, const Json& hello, const std::string& host) const;
    /// Waits for frames of the peer, for a moment, and sorts them.
    void readFrames(Lock& lock, Peer& peer, const std::string& host) const;
    void forget(const std::string& host, const Peer& peer);
    std::string howItEnded(Peer& peer, const std::string& host) const;
    std::string findEnding(Peer& peer, const std::string& host) const;

    std::function<SessionProcess()> m_start;
    std::shared_ptr<const Host> m_only;  ///< where m_start starts processes; null: this machine
    std::unique_ptr<State> m_state = std::make_unique<State>();
    bool m_everyVersion = false;
};

}  // namespace relascope::wire
