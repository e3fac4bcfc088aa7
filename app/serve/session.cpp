// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/session.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "options/builtin_resources.h"
#include "wire/session.h"
#include "wire/types.h"

namespace relascope::serve {
namespace {

using wire::Bytes;
using wire::Frame;
using wire::Json;

constexpr std::chrono::milliseconds kReportInterval(40);
/// Time to finish the current request after the other side has gone, such as writing a file.
constexpr std::chrono::seconds kToEnd(5);

bool writeAll(int out, const Bytes& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const auto written = ::write(out, bytes.data() + at, bytes.size() - at);
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) at += static_cast<std::size_t>(written);
    }
    return true;
}

constexpr std::size_t kLanes = 3;

/// Which lanes compute: a later one waits for earlier ones.
class Turns {
public:
    void take(std::size_t lane) {
        std::unique_lock lock(m_mutex);
        ++m_computing[lane];
        wait(lock, lane);
    }
    void leave(std::size_t lane) {
        std::lock_guard lock(m_mutex);
        --m_computing[lane];
        m_changed.notify_all();
    }
    void giveWay(std::size_t lane) {
        std::unique_lock lock(m_mutex);
        wait(lock, lane);
    }

private:
    void wait(std::unique_lock<std::mutex>& lock, std::size_t lane) {
        const auto earlier = m_computing.begin() + static_cast<std::ptrdiff_t>(lane);
        m_changed.wait(lock, [&] {
            return std::all_of(m_computing.begin(), earlier, [](int one) { return one == 0; });
        });
    }
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::array<int, kLanes> m_computing{};
};

/// Frames that several lanes write.
class Outbox {
public:
    explicit Outbox(int out) : m_out(out) {}
    /// False: nobody reads them.
    bool write(const Json& message, const Bytes& blob = {}) {
        const auto bytes = wire::frameBytes(message, blob);
        std::lock_guard lock(m_mutex);
        m_open = m_open && writeAll(m_out, bytes);
        return m_open;
    }

private:
    std::mutex m_mutex;
    int m_out;
    bool m_open = true;
};

// Receives requests, and messages that cancel or change requests.
class Inbox : public std::enable_shared_from_this<Inbox> {
public:
    explicit Inbox(int in) : m_in(in) {}
    void start() {
        // Detached, as the thread may wait for input when the program ends.
        std::thread([self = shared_from_this()] { self->read(); }).detach();
    }

    struct Waiting {
        std::uint64_t id = 0;
        Json message;
        Bytes blob;
        std::stop_source stop;
        std::shared_ptr<Request> request;  ///< set when answering begins
    };
    using WaitingPtr = std::shared_ptr<Waiting>;
    /// The next request of a lane; null at the end of the input, or when there has been none in any
    /// lane for `idle`.
    WaitingPtr next(std::size_t number, std::chrono::seconds idle) {
        std::unique_lock lock(m_mutex);
        auto& lane = m_lanes[number];
        lane.current.reset();
        m_changed.notify_all();
        const auto comes = [&] { return m_ended || !lane.waiting.empty(); };
        const auto rests = [](const Lane& one) { return !one.current && one.waiting.empty(); };
        while (!m_changed.wait_for(lock, idle, comes))
            if (std::all_of(m_lanes.begin(), m_lanes.end(), rests)) m_ended = true;
        if (m_ended) m_changed.notify_all();
        if (m_ended || lane.waiting.empty()) return nullptr;
        lane.current = lane.waiting.front();
        lane.waiting.pop_front();
        return lane.current;
    }
    /// No more requests are answered: nobody reads the answers.
    void close() {
        std::lock_guard lock(m_mutex);
        stopAll();
    }
    /// Whether the other side has another version, in which requests may mean something else.
    bool isOfOtherVersion() const { return m_otherVersion; }
    void setRequest(Waiting& waiting, std::shared_ptr<Request> request) {
        std::lock_guard lock(m_mutex);
        waiting.request = std::move(request);
    }

private:
    struct Lane {
        std::deque<WaitingPtr> waiting;
        WaitingPtr current;
    };

    void read() {
        wire::FrameReader reader;
        std::array<std::uint8_t, 1 << 16> bytes;
        bool greeted = false;
        try {
            for (;;) {
                const auto got = ::read(m_in, bytes.data(), bytes.size());
                if (got < 0 && errno == EINTR) continue;
                if (got <= 0) break;
                reader.append(std::span(bytes).first(static_cast<std::size_t>(got)));
                while (auto frame = reader.next())
                    if (!std::exchange(greeted, true))
                        m_otherVersion =
                            wire::versionOfHello(frame->message) != core::builtin::version();
                    else
                        take(std::move(*frame));
            }
        } catch (const std::exception&) {
            // The other side violates the protocol, which is handled as the end of its input.
        }
        end();
    }
    void take(Frame frame) {
        Json& message = frame.message;
        std::lock_guard lock(m_mutex);
        const auto all = [&](std::uint64_t id, const auto& change) {
            for (const auto& lane : m_lanes) {
                if (lane.current && lane.current->id == id) change(*lane.current);
                for (const auto& waiting : lane.waiting)
                    if (waiting->id == id) change(*waiting);
            }
        };
        if (message.contains("cancel")) {
            all(wire::valueOf<std::uint64_t>(message, "cancel"),
                [](Waiting& waiting) { waiting.stop.request_stop(); });
        } else if (message.contains("change")) {
            all(wire::valueOf<std::uint64_t>(message, "change"), [&](Waiting& waiting) {
                const bool follow = wire::valueOf<bool>(message, "follow");
                waiting.message["follow"] = follow;
                if (waiting.request) waiting.request->follows = follow;
            });
        } else {
            auto waiting = std::make_shared<Waiting>();
            waiting->id = wire::valueOf<std::uint64_t>(message, "id");
            const auto lane =
                message.contains("lane") ? wire::valueOf<std::uint64_t>(message, "lane") : 0;
            waiting->message = std::move(message);
            waiting->blob = std::move(frame.blob);
            m_lanes.at(lane).waiting.push_back(std::move(waiting));
            m_changed.notify_all();
        }
    }
    void stopAll() {
        m_ended = true;
        for (const auto& lane : m_lanes)
            if (lane.current) lane.current->stop.request_stop();
        m_changed.notify_all();
    }
    // Ends the process, even if the threads that answer do not end within kToEnd.
    void end() {
        std::unique_lock lock(m_mutex);
        stopAll();
        m_changed.wait_for(lock, kToEnd, [this] {
            return std::none_of(m_lanes.begin(), m_lanes.end(),
                                [](const Lane& lane) { return lane.current != nullptr; });
        });
        ::_exit(0);
    }

    int m_in;
    std::atomic<bool> m_otherVersion = false;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::array<Lane, kLanes> m_lanes;
    bool m_ended = false;
};

/// Answers the requests of a lane, each in its turn.
class LaneWorker {
public:
    LaneWorker(Inbox& inbox, Turns& turns, Outbox& out, std::size_t lane)
        : m_inbox(inbox), m_turns(turns), m_out(out), m_lane(lane) {}

    void run(const std::function<Handler()>& makeHandler, std::chrono::seconds idle) {
        Handler handler;
        while (const auto waiting = m_inbox.next(m_lane, idle)) {
            m_turns.take(m_lane);
            if (!handler) handler = makeHandler();
            const bool heard = answer(*waiting, handler);
            m_turns.leave(m_lane);
            if (!heard) return m_inbox.close();
        }
    }

private:
    /// Whether the answer could be written.
    bool answer(Inbox::Waiting& waiting, const Handler& handler) {
        bool open = true;
        const auto send = [&](Json message, const Bytes& blob) {
            message["id"] = waiting.id;
            open = m_out.write(message, blob);
        };
        try {
            if (waiting.stop.stop_requested()) throw Cancelled();
            if (m_inbox.isOfOtherVersion() &&
                !wire::isForEveryVersion(wire::valueOf<std::string>(waiting.message, "m")))
                throw Error("this is Relascope " + std::string(core::builtin::version()) +
                            "; the window has another version");
            const auto request = std::make_shared<Request>(
                waiting.message, waiting.stop.get_token(), send, std::move(waiting.blob),
                [this] { m_turns.giveWay(m_lane); });
            if (request->message().contains("follow"))
                request->follows = wire::valueOf<bool>(request->message(), "follow");
            m_inbox.setRequest(waiting, request);
            const Frame frame = handler(*request);
            send({{"ok", frame.message}}, frame.blob);
        } catch (const std::exception& error) {
            send({{"error", wire::errorToJson(error)}}, {});
        }
        return open;
    }

    Inbox& m_inbox;
    Turns& m_turns;
    Outbox& m_out;
    std::size_t m_lane;
};

}  // namespace

bool Request::progress(double fraction) {
    const auto now = std::chrono::steady_clock::now();
    if (now - m_reported >= kReportInterval) {
        m_reported = now;
        m_send({{"progress", fraction}}, {});
    }
    if (m_giveWay) m_giveWay();
    return !m_stop.stop_requested();
}

void Request::waits(const std::string& text) {
    if (text == m_waits) return;
    m_waits = text;
    m_send({{"waits", text}}, {});
}

void Request::part(Json part, const Bytes& blob) {
    m_send({{"part", std::move(part)}}, blob);
}

int serve(int in, int out, const std::function<Handler()>& makeHandler, std::chrono::seconds idle) {
    Outbox outbox(out);
    if (!outbox.write(wire::sessionHello())) return 0;
    const auto inbox = std::make_shared<Inbox>(in);
    inbox->start();
    Turns turns;
    std::vector<std::jthread> later;
    for (std::size_t lane = 1; lane < kLanes; ++lane)
        later.emplace_back([&inbox, &turns, &makeHandler, &outbox, lane, idle] {
            LaneWorker(*inbox, turns, outbox, lane).run(makeHandler, idle);
        });
    LaneWorker(*inbox, turns, outbox, 0).run(makeHandler, idle);
    return 0;
}

}  // namespace relascope::serve
