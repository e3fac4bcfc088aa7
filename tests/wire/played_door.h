// SPDX-License-Identifier: GPL-3.0-or-later
// A door of a served model that a test plays.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.h"
#include "wire/served_link.h"

namespace relascope::testing_support {

using wire::acceptFrom, wire::Bytes, wire::Descriptor, wire::frameBytes, wire::Json, wire::listenAt,
    wire::receiveWithFiles, wire::sendWithFile, wire::ServedMessage, wire::ServedReader;

inline Json smallDeclaration() {
    return {{"m", "declare"},
            {"name", "small"},
            {"program", "door.py"},
            {"model", "Small"},
            {"parameters", 12},
            {"step", 3},
            {"version", 9},
            {"crc32", 77},
            {"input", {{"kind", "objects"}, {"count", 2}, {"dim", 4}}},
            {"output", {{"kind", "classes"}, {"count", 3}}},
            {"blocks", {"blocks.0"}},
            {"layers", {{"blocks.0", {{"heads", 2}}}}},
            {"points",
             {{{"name", "blocks.0.hook_resid_post"},
               {"axes", {"batch", "position", "dim"}},
               {"sizes", {-1, 2, 4}},
               {"causal", false},
               {"gradient", true},
               {"replace", true}}}},
            {"splits", {{{"name", "validation"}, {"size", 5}, {"labels", true}}}}};
}

/// A door that this test plays. `answer` gets each message behind hello and declare, of whoever has
/// sent it; what it sends goes there.
class PlayedDoor {
public:
    using Answer = std::function<void(PlayedDoor&, const ServedMessage&)>;
    /// At `path`, else in a folder of its own. `declares`: called on the door's thread.
    explicit PlayedDoor(Answer answer, const std::string& path = {}, bool notebook = false,
                        std::function<Json()> declares = smallDeclaration)
        : m_path(path.empty() ? (std::filesystem::create_directories(m_folder.path()),
                                 m_folder / "small.served")
                              : path),
          m_listening(listenAt(m_path)),
          m_answer(std::move(answer)),
          m_declares(std::move(declares)),
          m_notebook(notebook),
          m_thread([this](std::stop_token stop) { serve(stop); }) {}

    const std::string& path() const { return m_path; }
    void send(Json message, const Bytes& blob = {}, int file = -1) {
        sendBytes(frameBytes(message, blob), file);
    }
    void sendBytes(const Bytes& bytes, int file = -1) {
        std::size_t sent = 0;
        while (sent < bytes.size()) {
            const auto took = sendWithFile(m_caller->socket.get(), std::span(bytes).subspan(sent),
                                           sent == 0 ? file : -1);
            if (took > 0)
                sent += static_cast<std::size_t>(took);
            else if (errno == EAGAIN)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            else
                return;
        }
    }
    void hangUp() { m_caller->socket = Descriptor(); }
    std::atomic<int> connections = 0;

private:
    struct Caller {
        Descriptor socket;
        ServedReader reader = {};
    };

    void serve(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::vector<pollfd> waiting = {{m_listening.get(), POLLIN, 0}};
            for (const auto& caller : m_callers)
                waiting.push_back({caller.socket.get(), POLLIN, 0});
            ::poll(waiting.data(), waiting.size(), 20);
            if (auto socket = acceptFrom(m_listening)) {
                ++connections;
                m_callers.push_back({std::move(socket)});
            }
            for (auto& caller : m_callers) hear(caller);
            std::erase_if(m_callers, [](const Caller& caller) { return !caller.socket; });
        }
    }
    void hear(Caller& caller) {
        m_caller = &caller;
        std::array<std::uint8_t, 4096> bytes;
        std::vector<Descriptor> files;
        const auto got = receiveWithFiles(caller.socket.get(), bytes, files);
        if (got == 0) caller.socket = Descriptor();
        if (got <= 0) return;
        caller.reader.append(std::span(bytes).first(static_cast<std::size_t>(got)),
                             std::move(files));
        while (caller.socket) {
            const auto message = caller.reader.next();
            if (!message) return;
            answer(*message);
        }
    }
    void answer(const ServedMessage& message) {
        const auto what = message.message.at("m").get<std::string>();
        if (what == "hello") {
            send({{"m", "hello"},
                  {"protocol", 1},
                  {"version", "x"},
                  {"pid", ::getpid()},
                  {"name", "small"},
                  {"memory", true},
                  {"notebook", m_notebook}});
        } else if (what == "declare") {
            auto declared = m_declares();
            declared["id"] = message.message.at("id");
            send(declared);
        } else {
            m_answer(*this, message);
        }
    }

    testing_support::TemporaryFolder m_folder{"served-door"};
    std::string m_path;
    Descriptor m_listening;
    std::list<Caller> m_callers;
    Caller* m_caller = nullptr;  ///< who is answered
    Answer m_answer;
    std::function<Json()> m_declares;
    bool m_notebook;
    std::jthread m_thread;
};

}  // namespace relascope::testing_support
