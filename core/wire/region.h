// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that processes hand to each other: anonymous files (memfd), whose descriptors travel over
// a socket. The other side is not trusted: a region is checked before it is mapped, and cannot
// shrink while it is (reading behind its end would end this process).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wire/socket.h"

namespace relascope::wire {

/// Bytes of a region, mapped for this process alone: writing changes nothing for the other side.
class Region {
public:
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    std::span<const std::uint8_t> bytes() const { return {m_data, m_size}; }

private:
    friend std::shared_ptr<const Region> mapRegion(const Descriptor& file, std::uint64_t size);
    Region(std::uint8_t* data, std::size_t size) : m_data(data), m_size(size) {}
    std::uint8_t* m_data;
    std::size_t m_size;
};

/// The most bytes that a region may have: 8 GiB, and a quarter of the memory of the machine.
std::uint64_t mostRegionBytes();

/// Maps a region of another process. Throws FrameError unless it is an anonymous file of exactly
/// that size which cannot shrink, within the limit.
std::shared_ptr<const Region> mapRegion(const Descriptor& file, std::uint64_t size);

/// A sealed region with the bytes of `parts`, each at its offset in ascending order, and zeros
/// between them. Throws Error where the system gives none.
struct RegionPart {
    std::uint64_t at = 0;
    std::span<const std::uint8_t> bytes;
};
Descriptor makeRegion(std::uint64_t size, std::span<const RegionPart> parts);

/// Sends bytes, and with the first of them a descriptor; less than all of them may be taken. -1
/// with errno as of sendmsg().
std::ptrdiff_t sendWithFile(int socket, std::span<const std::uint8_t> bytes, int file);
/// Receives bytes and the descriptors that came with them. As recvmsg(). Throws FrameError where
/// more descriptors came at once than fit.
std::ptrdiff_t receiveWithFiles(int socket, std::span<std::uint8_t> bytes,
                                std::vector<Descriptor>& files);

}  // namespace relascope::wire
