// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "files/memory.h"

namespace relascope::wire {
namespace {

constexpr std::size_t kMostFiles = 16;  // descriptors in one reception

}  // namespace

Region::~Region() {
    ::munmap(m_data, m_size);
}

std::uint64_t mostRegionBytes() {
    static const std::uint64_t most = [] {
        constexpr std::uint64_t kMost = std::uint64_t{8} << 30;
        const auto memory = core::totalMemory();
        return memory == 0 ? kMost : std::min(kMost, memory / 4);
    }();
    return most;
}

std::shared_ptr<const Region> mapRegion(const Descriptor& file, std::uint64_t size) {
    if (!file) throw FrameError("a message names memory, and none came with it");
    if (size == 0 || size > mostRegionBytes())
        throw FrameError("a message has " + std::to_string(size >> 20) +
                         " MiB of memory, and at most " + std::to_string(mostRegionBytes() >> 20) +
                         " MiB are taken; ask for fewer examples at a time");
    const int seals = ::fcntl(file.get(), F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
        throw FrameError("memory of another process could shrink while it is read");
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
        static_cast<std::uint64_t>(facts.st_size) != size)
        throw FrameError("memory of another process has " + std::to_string(facts.st_size) +
                         " bytes, and its message says " + std::to_string(size));
    void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED)
        throw FrameError(std::string("memory of another process cannot be read: ") +
                         std::strerror(errno));
    return std::shared_ptr<const Region>(
        new Region(static_cast<std::uint8_t*>(data), static_cast<std::size_t>(size)));
}

Descriptor makeRegion(std::uint64_t size, std::span<const RegionPart> parts) {
    Descriptor file(::memfd_create("relascope", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const auto fail = [] {
        throw Error(std::string("No memory can be shared with another process: ") +
                    std::strerror(errno) + ".");
    };
    if (!file || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0) fail();
    for (const auto& part : parts) {
        std::size_t done = 0;
        while (done < part.bytes.size()) {
            const auto wrote =
                ::pwrite(file.get(), part.bytes.data() + done, part.bytes.size() - done,
                         static_cast<off_t>(part.at + done));
            if (wrote < 0 && errno == EINTR) continue;
            if (wrote <= 0) fail();
            done += static_cast<std::size_t>(wrote);
        }
    }
    if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) fail();
    return file;
}

std::ptrdiff_t sendWithFile(int socket, std::span<const std::uint8_t> bytes, int file) {
    iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part, message.msg_iovlen = 1;
    if (file >= 0) {
        message.msg_control = control.data(), message.msg_controllen = control.size();
        auto* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &file, sizeof file);
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

std::ptrdiff_t receiveWithFiles(int socket, std::span<std::uint8_t> bytes,
                                std::vector<Descriptor>& files) {
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFiles)> control{};
    msghdr message{};
    message.msg_iov = &part, message.msg_iovlen = 1;
    message.msg_control = control.data(), message.msg_controllen = control.size();
    const auto got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    for (auto* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const auto count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t k = 0; k < count; ++k) {
            int file = -1;
            std::memcpy(&file, CMSG_DATA(header) + k * sizeof(int), sizeof file);
            files.emplace_back(file);
        }
    }
    if (message.msg_flags & MSG_CTRUNC)
        throw FrameError("more memory came with a message than it may have");
    return got;
}

}  // namespace relascope::wire
