// SPDX-License-Identifier: GPL-3.0-or-later
// The conversation with a process that serves a model, over the socket NAME.served in the folder of
// sockets (formats.md section 24). The other side is not trusted.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "model/served/served_link.h"
#include "wire/region.h"

namespace relascope::wire {

inline constexpr int kServedProtocol = 1;

/// A message with its tensors.
struct ServedMessage {
    Json message;
    std::shared_ptr<const void> owner;    ///< owner of the memory of `bytes`
    std::span<const std::uint8_t> bytes;  ///< the blob, or the memory that came with it

    /// The tensor that an entry of the message describes. Throws FrameError.
    core::ServedTensor tensor(const Json& entry) const;
};

/// Puts messages together from bytes and descriptors as they arrive. Throws FrameError for what
/// violates the protocol; the connection must be closed then.
class ServedReader {
public:
    void append(std::span<const std::uint8_t> bytes, std::vector<Descriptor> files);
    std::optional<ServedMessage> next();

private:
    FrameReader m_frames;
    std::deque<Descriptor> m_files;
};

/// A message that is made: a map, and tensors that its entries name.
class ServedWriter {
public:
    explicit ServedWriter(Json message) : m_message(std::move(message)) {}
    Json& message() { return m_message; }
    /// Adds a tensor, whose memory must live until the message is sent, and returns its entry.
    Json add(const core::ServedTensor& tensor);
    /// The bytes of the frame and, where its tensors go in memory, that.
    std::pair<Bytes, Descriptor> frame(bool memory) &&;

private:
    Json m_message;
    std::vector<RegionPart> m_parts;
    std::uint64_t m_size = 0;
};

using core::ServedWait;
using core::ServedWaitScope;

/// Nobody listens at a door.
class NoDoor : public Error {
public:
    using Error::Error;
};

/// A door by its socket. After the process has ended, the next request looks for another at the
/// same place.
class SocketLink final : public core::ServedLink {
public:
    /// Connects. Throws NoDoor where nobody listens, Error where another protocol is spoken.
    SocketLink(std::string name, std::string socket);

    Json declaration() const override;
    core::ServedScores forward(const core::ServedPass& pass,
                               const core::ServedPointMet& met) override;
    std::map<std::string, core::ServedTensor> backward(std::uint64_t pass,
                                                       const core::ServedTensor& gradient) override;
    core::ServedExamples examples(const std::string& split, std::span<const std::int64_t> indices,
                                  bool all) override;
    core::ServedWeights weights() override;
    std::int64_t version() override;

private:
    void connect();
    void send(ServedWriter writer);
    /// The next message. `what`: what is waited for, if it is known.
    ServedMessage receive(const std::string& what = {});
    std::string waitingText(const std::string& what) const;
    /// Sends a request, and returns the first answer that `wanted` names; errors are thrown.
    ServedMessage ask(ServedWriter writer, const char* wanted);
    /// The next message about request `id`, after `waiting` ones.
    ServedMessage answer(std::uint64_t id);
    /// Closes the connection, and throws that the process has ended.
    [[noreturn]] void lost();
    /// Closes the connection, and throws what it has sent.
    [[noreturn]] void refuse(const std::string& why);
    /// Runs a request; whatever breaks the protocol closes the connection.
    template <class Function>
    auto request(Function function);
    void takeBack(std::uint64_t id);

    std::string m_name, m_path;
    mutable std::mutex m_mutex;
    Descriptor m_socket;
    ServedReader m_reader;
    Json m_declaration;
    bool m_memory = false;
    bool m_notebook = false;                          ///< the process answers between two cells
    std::chrono::steady_clock::time_point m_heard{};  ///< when it was asked, or has answered
    std::uint64_t m_id = 0;
};

/// Opens a door by its name, for core::setServedLinks(). Throws Error where there is none.
core::ServedLinkPtr openServedDoor(const std::string& name);

/// A door that was found in the folder of sockets.
struct FoundDoor {
    std::string name, program, model;
    std::int64_t parameters = 0, step = -1;
    std::string problem;  ///< why it does not answer; empty: it does
};
/// The doors of this user's processes, by name; sockets that nobody listens at are left out.
std::vector<FoundDoor> servedDoors(std::stop_token stop = {});

}  // namespace relascope::wire
