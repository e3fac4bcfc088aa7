// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/socket.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace relascope::wire {
namespace {

// The address of a socket; false if its path is too long for one.
bool setAddress(sockaddr_un& address, const std::string& path) {
    address = {};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    return true;
}

// Sockets may lie where others can connect to them.
bool isOfThisUser(int socket) {
    ucred other{};
    socklen_t size = sizeof other;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
           other.uid == ::getuid();
}

constexpr int kConnectTries = 20;
constexpr std::chrono::milliseconds kConnectAgain{50};

}  // namespace

Descriptor::~Descriptor() {
    if (m_file >= 0) ::close(m_file);
}

std::string runtimeFolder() {
    const char* given = std::getenv("XDG_RUNTIME_DIR");
    struct stat facts {};
    const bool there = given && *given && ::stat(given, &facts) == 0 && S_ISDIR(facts.st_mode);
    const std::string folder =
        there ? std::string(given) + "/relascope" : "/tmp/relascope-" + std::to_string(::getuid());
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        throw FileError(folder, std::string("cannot be made: ") + std::strerror(errno));
    if (::lstat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
        throw FileError(folder, "is not a folder; remove it");
    if (facts.st_uid != ::getuid() || (facts.st_mode & 077) != 0)
        throw FileError(folder, "belongs to another user or is open to others; remove it");
    return folder;
}

Descriptor listenAt(const std::string& path) {
    sockaddr_un address;
    if (!setAddress(address, path))
        throw FileError(path, "is too long for a socket; set XDG_RUNTIME_DIR to a shorter path");
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::unlink(path.c_str());
    if (!socket ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.get(), 16) != 0)
        throw FileError(path, std::string("cannot be listened at: ") + std::strerror(errno));
    ::chmod(path.c_str(), 0600);
    return socket;
}

Descriptor acceptFrom(const Descriptor& listening) {
    Descriptor socket(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    return socket && isOfThisUser(socket.get()) ? std::move(socket) : Descriptor();
}

Descriptor connectTo(const std::string& path, bool* busy) {
    sockaddr_un address;
    if (!setAddress(address, path)) return {};
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return {};
    for (int tries = 0;
         ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0;
         ++tries) {
        const bool full = errno == EAGAIN || errno == EWOULDBLOCK;
        if (busy) *busy = full;
        if (!full || busy || tries >= kConnectTries) return {};
        std::this_thread::sleep_for(kConnectAgain);
    }
    return isOfThisUser(socket.get()) ? std::move(socket) : Descriptor();
}

WakeUp::WakeUp() : m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!m_event) throw Error(std::string("no event can be made: ") + std::strerror(errno));
}

void WakeUp::wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(m_event.get(), &one, sizeof one);
}

void WakeUp::clear() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(m_event.get(), &count, sizeof count);
}

void Connection::send(const Bytes& frame) {
    if (!isSending()) m_out.clear(), m_sent = 0;
    m_out.insert(m_out.end(), frame.begin(), frame.end());
}

bool Connection::write() {
    while (isSending()) {
        const auto sent =
            ::send(m_socket.get(), m_out.data() + m_sent, m_out.size() - m_sent, MSG_NOSIGNAL);
        if (sent > 0)
            m_sent += static_cast<std::size_t>(sent);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return true;
        else if (errno != EINTR)
            return false;
    }
    if (m_out.capacity() > kMostMessage) m_out = {};  // a large blob is not kept
    return true;
}

bool Connection::read(const std::function<void(Frame)>& take) {
    std::array<std::uint8_t, 1 << 16> bytes;
    for (;;) {
        const auto got = ::recv(m_socket.get(), bytes.data(), bytes.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        if (got == 0) return false;
        m_reader.append(std::span(bytes).first(static_cast<std::size_t>(got)));
        while (auto frame = m_reader.next()) take(std::move(*frame));
    }
}

}  // namespace relascope::wire
