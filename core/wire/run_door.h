// SPDX-License-Identifier: GPL-3.0-or-later
// The door of a run: a Unix socket through which windows see how far a training is, and steer it.
// The socket is named in RUN/.lock (run/run_process.h). Points, notes and captures are read from
// the folder of the run and never sent.
//
// A client sends {m: ...} and the door answers or reports:
//
//   hello {protocol, version}                      hello {protocol, version, pid, path}
//   pause, resume, step, stop, cancel, begin       (what they change is reported as state)
//   change {key, text}, edits {list}               (reported as notes of the run)
//   probe {request, sample, edits, points}         answer {request, ...}, maps in the blob
//                                                  waiting {text}, preparing {fraction}, state
//                                                  {info}, progress
//                                                  {...} failed {text}, ended
//
// The run never waits for a client: only the newest state, the newest progress and one answer are
// sent.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "train/control.h"
#include "types/train_event.h"
#include "wire/socket.h"

namespace relascope::wire {

/// Connections that a door takes; a further one is closed.
inline constexpr std::size_t kMostConnections = 16;

/// The side of the training. Its functions may be called from any thread.
class RunDoor {
public:
    /// Opens the door: requests go to `control` and, to end at once, to `stop`; both outlive it.
    /// Throws FileError if there is no place for a socket.
    RunDoor(core::Control& control, std::stop_source& stop);
    /// Tells everybody that the job has ended, and waits a second at most until they have heard it.
    ~RunDoor();

    std::string socket() const;
    /// The run that is prepared or trained from here on.
    void begin(const std::string& run);
    /// Reports that the run waits for its turn: "cuda:0: between-dat-s0 trains there".
    void waiting(const std::string& held);
    void preparing(double fraction);
    /// Reports an event of the training; events that are written into the run's folder are left
    /// out.
    void take(TrainEvent event);
    void failed(const std::string& sentence);
    /// Lets the job end when its first connection ends: for pictures and tests.
    void endWithFirst() { m_endsWithFirst = true; }

private:
    struct Client;
    void serve();
    void answer(Client& client, const Frame& frame);
    void serveRequest(Client& client, const Json& message);
    void fill(Client& client);
    void post(const std::function<void(Client&)>& change);
    void listenAgain();

    core::Control& m_control;
    std::stop_source& m_stop;
    Descriptor m_listening;
    WakeUp m_wake;
    std::atomic<bool> m_endsWithFirst = false, m_ending = false;

    mutable std::mutex m_mutex;  ///< guards the members below
    std::string m_path;
    std::string m_run;
    std::string m_waiting;
    std::optional<RunInfo> m_info;  ///< for clients that come later
    std::optional<Progress> m_progress;
    std::vector<std::unique_ptr<Client>> m_clients;
    std::uint64_t m_asker = 0, m_number = 0;
    struct Asked {
        std::uint64_t asker, request;
    };
    std::map<std::uint64_t, Asked> m_asked;  ///< probes on their way, by their number

    std::jthread m_thread;  // last: joined before the rest goes
};

/// The side of a window.
class DoorClient {
public:
    /// Functions for the messages of the door, called on the thread of run(). Messages without a
    /// function are ignored.
    struct Listener {
        std::function<void(const std::string& run)> hello = [](const std::string&) {};
        std::function<void(const std::string& held)> waiting = [](const std::string&) {};
        std::function<void(double fraction)> preparing = [](double) {};
        std::function<void(RunInfo info)> state = [](const RunInfo&) {};
        std::function<void(Progress progress)> progress = [](const Progress&) {};
        std::function<void(ProbeAnswer answer)> answer = [](const ProbeAnswer&) {};
        std::function<void(const std::string& sentence)> failed = [](const std::string&) {};
    };
    enum class End {
        Ended,  ///< the job has ended, and said so
        Lost,   ///< the process of the run is gone
        Left    ///< `stop` was triggered
    };

    /// Listens until the door is closed or `stop` is triggered. Throws FrameError for messages that
    /// it does not understand, and for a door of another protocol.
    End run(Descriptor door, const Listener& listener, std::stop_token stop);

    // May be called from any thread; requests before run() are sent when it begins.
    void send(const char* message) { send(Json{{"m", message}}); }
    void change(const std::string& key, const std::string& text);
    void setEdits(const EditList& edits);
    void probe(std::uint64_t request, const ProbeSample& sample, const EditList& edits,
               bool points);

private:
    void send(const Json& message);

    WakeUp m_wake;
    std::mutex m_mutex;
    std::vector<Bytes> m_requests;
};

}  // namespace relascope::wire
