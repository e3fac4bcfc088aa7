// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/session.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

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
    /// The next request; null at the end of the input, or after `idle` without one.
    std::shared_ptr<Waiting> next(std::chrono::seconds idle) {
        std::unique_lock lock(m_mutex);
        m_current.reset();
        m_changed.notify_all();
        m_changed.wait_for(lock, idle, [this] { return m_ended || !m_waiting.empty(); });
        if (m_ended || m_waiting.empty()) return nullptr;
        m_current = m_waiting.front();
        m_waiting.pop_front();
        return m_current;
    }
    /// Whether the other side has another version, in which requests may mean something else.
    bool isOfOtherVersion() const { return m_otherVersion; }
    void setRequest(Waiting& waiting, std::shared_ptr<Request> request) {
        std::lock_guard lock(m_mutex);
        waiting.request = std::move(request);
    }

private:
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
            if (m_current && m_current->id == id) change(*m_current);
            for (const auto& waiting : m_waiting)
                if (waiting->id == id) change(*waiting);
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
            waiting->message = std::move(message);
            waiting->blob = std::move(frame.blob);
            m_waiting.push_back(std::move(waiting));
            m_changed.notify_all();
        }
    }
    // Ends the process, even if the thread that answers does not end within kToEnd.
    void end() {
        std::unique_lock lock(m_mutex);
        m_ended = true;
        if (m_current) m_current->stop.request_stop();
        m_changed.notify_all();
        m_changed.wait_for(lock, kToEnd, [this] { return !m_current; });
        ::_exit(0);
    }

    int m_in;
    std::atomic<bool> m_otherVersion = false;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<std::shared_ptr<Waiting>> m_waiting;
    std::shared_ptr<Waiting> m_current;
    bool m_ended = false;
};

}  // namespace

bool Request::progress(double fraction) {
    const auto now = std::chrono::steady_clock::now();
    if (now - m_reported >= kReportInterval) {
        m_reported = now;
        m_send({{"progress", fraction}}, {});
    }
    return !m_stop.stop_requested();
}

void Request::part(Json part, const Bytes& blob) {
    m_send({{"part", std::move(part)}}, blob);
}

int serve(int in, int out, const Handler& handler, std::chrono::seconds idle) {
    bool open = writeAll(out, wire::frameBytes(wire::sessionHello()));
    const auto inbox = std::make_shared<Inbox>(in);
    inbox->start();
    while (open) {
        const auto waiting = inbox->next(idle);
        if (!waiting) return 0;
        const auto send = [&](Json message, const Bytes& blob) {
            message["id"] = waiting->id;
            open = open && writeAll(out, wire::frameBytes(message, blob));
        };
        try {
            if (waiting->stop.stop_requested()) throw Cancelled();
            if (inbox->isOfOtherVersion() &&
                !wire::isForEveryVersion(wire::valueOf<std::string>(waiting->message, "m")))
                throw Error("this is Relascope " + std::string(core::builtin::version()) +
                            "; the window has another version");
            const auto request = std::make_shared<Request>(
                waiting->message, waiting->stop.get_token(), send, std::move(waiting->blob));
            if (request->message().contains("follow"))
                request->follows = wire::valueOf<bool>(request->message(), "follow");
            inbox->setRequest(*waiting, request);
            const Frame frame = handler(*request);
            send({{"ok", frame.message}}, frame.blob);
        } catch (const std::exception& error) {
            send({{"error", wire::errorToJson(error)}}, {});
        }
    }
    return 0;
}

}  // namespace relascope::serve
