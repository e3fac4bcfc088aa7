// SPDX-License-Identifier: GPL-3.0-or-later
// A door of a served model that a test plays.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

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

/// A door that this test plays. `answer` gets each message behind hello and declare.
class PlayedDoor {
public:
    using Answer = std::function<void(PlayedDoor&, const ServedMessage&)>;
    /// At `path`, else in a folder of its own.
    explicit PlayedDoor(Answer answer, const std::string& path = {}, bool notebook = false)
        : m_path(path.empty() ? (std::filesystem::create_directories(m_folder.path()),
                                 m_folder / "small.served")
                              : path),
          m_listening(listenAt(m_path)),
          m_answer(std::move(answer)),
          m_notebook(notebook),
          m_thread([this](std::stop_token stop) { serve(stop); }) {}

    const std::string& path() const { return m_path; }
    void send(Json message, const Bytes& blob = {}, int file = -1) {
        sendBytes(frameBytes(message, blob), file);
    }
    void sendBytes(const Bytes& bytes, int file = -1) {
        std::size_t sent = 0;
        while (sent < bytes.size()) {
            const auto took =
                sendWithFile(m_socket.get(), std::span(bytes).subspan(sent), sent == 0 ? file : -1);
            if (took > 0)
                sent += static_cast<std::size_t>(took);
            else if (errno == EAGAIN)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            else
                return;
        }
    }
    void hangUp() { m_socket = Descriptor(); }
    std::atomic<int> connections = 0;

private:
    void serve(const std::stop_token& stop) {
        ServedReader reader;
        while (!stop.stop_requested()) {
            if (!m_socket) {
                reader = ServedReader();
                m_socket = acceptFrom(m_listening);
                if (m_socket) ++connections;
            }
            pollfd waiting{m_socket ? m_socket.get() : m_listening.get(), POLLIN, 0};
            ::poll(&waiting, 1, 20);
            if (!m_socket) continue;
            std::array<std::uint8_t, 4096> bytes;
            std::vector<Descriptor> files;
            const auto got = receiveWithFiles(m_socket.get(), bytes, files);
            if (got == 0) m_socket = Descriptor();
            if (got <= 0) continue;
            reader.append(std::span(bytes).first(static_cast<std::size_t>(got)), std::move(files));
            while (auto message = reader.next()) {
                const auto what = message->message.at("m").get<std::string>();
                if (what == "hello") {
                    send({{"m", "hello"},
                          {"protocol", 1},
                          {"version", "x"},
                          {"pid", ::getpid()},
                          {"name", "small"},
                          {"memory", true},
                          {"notebook", m_notebook}});
                } else if (what == "declare") {
                    auto declared = smallDeclaration();
                    declared["id"] = message->message.at("id");
                    send(declared);
                } else {
                    m_answer(*this, *message);
                }
                if (!m_socket) break;
            }
        }
    }

    testing_support::TemporaryFolder m_folder{"served-door"};
    std::string m_path;
    Descriptor m_listening, m_socket;
    Answer m_answer;
    bool m_notebook;
    std::jthread m_thread;
};

}  // namespace relascope::testing_support
