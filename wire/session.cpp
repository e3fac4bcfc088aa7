// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "options/builtin_resources.h"
#include "run/run_process.h"
#include "wire/types.h"

namespace relascope::wire {

Json sessionHello() {
    return {{"m", "hello"}, {"protocol", kSessionProtocol}, {"version", core::builtin::version()}};
}

void checkSessionHello(const Json& message) {
    if (valueOf<std::string>(message, "m") != "hello")
        throw FrameError("a session begins with another message than hello");
    const auto version = valueOf<std::string>(message, "version");
    if (version != core::builtin::version() ||
        valueOf<int>(message, "protocol") != kSessionProtocol)
        throw FrameError("Relascope was updated to " + version +
                         "; restart the window, trainings continue");
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

void Session::begin() {
    m_oomKills = core::thisProcess().oomKills;
    auto started = m_start();
    m_connection.emplace(std::move(started.connection));
    m_process = std::move(started.process);
    m_greeted = false;
    m_connection->send(frameBytes(sessionHello()));
}

void Session::end() {
    m_connection.reset();
    m_process.reset();
}

std::string Session::howItEnded() const {
    const auto status = m_process ? m_process->status(std::chrono::seconds(1)) : std::nullopt;
    if (status && WIFEXITED(*status) && WEXITSTATUS(*status) != 0)
        return "No model can be opened: relascope-cli session ended with exit status " +
               std::to_string(WEXITSTATUS(*status)) + "; the installation may be damaged";
    auto process = core::thisProcess();
    process.pid = m_process ? m_process->id() : 0;
    process.oomKills = m_oomKills;
    return "The model is not open any more: " + core::howItEnded(process, 0) + "; try again";
}

void Session::change(Json changes) {
    changes["change"] = m_id;
    if (m_connection) m_connection->send(frameBytes(changes));
}

Frame Session::ask(const char* what, Json request, const Progress& progress, const Part& part) {
    const auto id = ++m_id;
    request["m"] = what;
    request["id"] = id;
    const Bytes bytes = frameBytes(request);
    // One that had nothing to do has ended by itself. What was left of earlier requests is dropped.
    const auto drop = [this](const Frame& frame) {
        if (!std::exchange(m_greeted, true)) checkSessionHello(frame.message);
    };
    std::optional<Frame> answer;
    double fraction = 0.0;
    const auto take = [&](Frame frame) {
        if (!m_greeted) return drop(frame);
        const Json& m = frame.message;
        if (valueOf<std::uint64_t>(m, "id") != id) return;
        if (m.contains("progress"))
            fraction = valueOf<double>(m, "progress");
        else if (m.contains("part"))
            part ? part(m["part"], frame.blob) : void();
        else
            answer = std::move(frame);
    };
    try {
        if (!m_connection || !m_connection->read(drop)) begin();
        m_connection->send(bytes);
        while (!answer) {
            if (progress && !progress(fraction)) {
                m_connection->send(frameBytes({{"cancel", id}}));
                m_connection->write();
                throw Cancelled();
            }
            pollfd waiting{m_connection->get(),
                           static_cast<short>(POLLIN | (m_connection->isSending() ? POLLOUT : 0)),
                           0};
            const bool gone = (::poll(&waiting, 1, 50) < 0 && errno != EINTR) ||
                              !m_connection->write() || !m_connection->read(take);
            if (gone && !answer) {
                const std::string how = howItEnded();
                end();
                throw Error(how);
            }
        }
    } catch (const FrameError&) {
        end();  // what follows cannot be understood
        throw;
    }
    if (answer->message.contains("error")) throwError(answer->message["error"]);
    return {valueOf<Json>(answer->message, "ok"), std::move(answer->blob)};
}

}  // namespace relascope::wire
