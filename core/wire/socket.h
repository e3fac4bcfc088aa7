// SPDX-License-Identifier: GPL-3.0-or-later
// Unix sockets between processes of one user, and frames over them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "wire/frame.h"

namespace relascope::wire {

/// A file descriptor that is closed with its owner.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int file) : m_file(file) {}
    Descriptor(Descriptor&& other) noexcept : m_file(std::exchange(other.m_file, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(m_file, other.m_file);
        return *this;
    }
    ~Descriptor();
    int get() const { return m_file; }
    explicit operator bool() const { return m_file >= 0; }

private:
    int m_file = -1;
};

/// The folder of sockets and locks of devices: $XDG_RUNTIME_DIR/relascope, else /tmp/relascope-UID.
/// Made with the rights of its owner alone. Throws FileError if it is a link, belongs to another
/// user or is open to others.
std::string runtimeFolder();

/// A socket at `path` that waits for connections. Throws FileError.
Descriptor listenAt(const std::string& path);
/// The next connection, of a process of the same user; without one, none.
Descriptor acceptFrom(const Descriptor& listening);
/// Connects to a process of the same user; without one, none. Where the process accepts no
/// more connections for now, waits for a second at most; with `busy` it sets that and does not
/// wait.
Descriptor connectTo(const std::string& path, bool* busy = nullptr);

/// Wakes a thread that waits in poll().
class WakeUp {
public:
    WakeUp();
    int get() const { return m_event.get(); }
    void wake() const;
    void clear() const;

private:
    Descriptor m_event;
};

/// Frames over a connection that never blocks. For one thread.
class Connection {
public:
    explicit Connection(Descriptor socket) : m_socket(std::move(socket)) {}

    int get() const { return m_socket.get(); }
    /// Whether bytes wait to be sent.
    bool isSending() const { return m_sent < m_out.size(); }
    /// Appends the bytes of a frame to those that wait.
    void send(const Bytes& frame);
    /// Sends as much as the other side takes now. False: it is gone.
    bool write();
    /// Gives each frame that has arrived to `take`. False: the other side is gone. Throws
    /// FrameError.
    bool read(const std::function<void(Frame)>& take);

private:
    Descriptor m_socket;
    FrameReader m_reader;
    Bytes m_out;
    std::size_t m_sent = 0;
};

}  // namespace relascope::wire
