// SPDX-License-Identifier: GPL-3.0-or-later
// The protocol between processes of Relascope: frames of one CBOR map (RFC 8949) and, where there
// is much data, a blob. On the wire, little endian:
//
//   "RSF1" | u32 bytes of the message | u64 bytes of the blob | message | blob
//
// The other side is not trusted: every size is checked before memory is taken for it, and bytes
// that were announced take no memory before they have arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "types/error.h"

namespace relascope::wire {

using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

inline constexpr std::size_t kFrameHeader = 16;
inline constexpr std::size_t kMostMessage = std::size_t{16} << 20;  // bytes
inline constexpr std::size_t kMostBlob = std::size_t{512} << 20;    // bytes
inline constexpr std::size_t kMostValues = 1'000'000;               ///< the most in a message
inline constexpr int kMostDepth = 32;

/// A frame or a message that violates the protocol; the connection must be closed.
class FrameError : public Error {
public:
    using Error::Error;
};

struct Frame {
    Json message;  ///< an object
    Bytes blob;
};

/// The bytes of a frame. Throws FrameError if it would be larger than the limits.
Bytes frameBytes(const Json& message, std::span<const std::uint8_t> blob = {});

/// The message of a frame. Throws FrameError unless it is one CBOR map within the limits.
Json parseMessage(std::span<const std::uint8_t> cbor);

/// Puts frames together from bytes as they arrive.
class FrameReader {
public:
    void append(std::span<const std::uint8_t> bytes);
    /// The next whole frame, if it has arrived. Throws FrameError.
    std::optional<Frame> next();
    /// Whether a part of a frame is left.
    bool isInside() const { return m_begin < m_bytes.size(); }

private:
    Bytes m_bytes;
    std::size_t m_begin = 0;  ///< start of the bytes that no frame has taken
};

}  // namespace relascope::wire
