// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/frame.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "files/byte_source.h"

namespace relascope::wire {
namespace {

constexpr std::array<std::uint8_t, 4> kMark = {'R', 'S', 'F', '1'};

// Looks at a message before anything is built from it.
class MessageLimits : public nlohmann::json_sax<Json> {
public:
    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t) override { return value(); }
    bool number_unsigned(number_unsigned_t) override { return value(); }
    bool number_float(number_float_t, const string_t&) override { return value(); }
    bool string(string_t&) override { return value(); }
    bool binary(binary_t&) override { return value(); }
    bool start_object(std::size_t elements) override { return enter(elements); }
    bool key(string_t&) override { return value(); }
    bool end_object() override { return --m_depth, true; }
    bool start_array(std::size_t elements) override { return enter(elements); }
    bool end_array() override { return --m_depth, true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }
    bool withinLimits() const { return m_withinLimits; }

private:
    bool value() {
        if (++m_values > kMostValues) m_withinLimits = false;
        return m_withinLimits;
    }
    bool enter(std::size_t elements) {
        // For an unknown length `elements` is the largest number: elements are counted as they
        // come.
        const bool known = elements != static_cast<std::size_t>(-1);
        if (++m_depth > kMostDepth || (known && elements > kMostValues - m_values))
            m_withinLimits = false;
        return value();
    }

    std::size_t m_values = 0;
    int m_depth = 0;
    bool m_withinLimits = true;
};

void putNumber(std::uint8_t* out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

}  // namespace

Bytes frameBytes(const Json& message, std::span<const std::uint8_t> blob) {
    Bytes bytes(kFrameHeader);
    Json::to_cbor(message, bytes);
    const std::size_t size = bytes.size() - kFrameHeader;
    if (size > kMostMessage || blob.size() > kMostBlob)
        throw FrameError("the answer is larger than a message may be (" + std::to_string(size) +
                         " and " + std::to_string(blob.size()) + " bytes)");
    std::copy(kMark.begin(), kMark.end(), bytes.begin());
    putNumber(bytes.data() + 4, size, 4);
    putNumber(bytes.data() + 8, blob.size(), 8);
    bytes.insert(bytes.end(), blob.begin(), blob.end());
    return bytes;
}

Json parseMessage(std::span<const std::uint8_t> cbor) {
    MessageLimits counter;
    const bool whole = Json::sax_parse(cbor, &counter, Json::input_format_t::cbor);
    if (!counter.withinLimits())
        throw FrameError("a message has more than " + std::to_string(kMostValues) +
                         " values, or is more than " + std::to_string(kMostDepth) + " deep");
    Json message = whole ? Json::from_cbor(cbor, true, false) : Json();
    if (!message.is_object()) throw FrameError("a message is not a CBOR map");
    return message;
}

void FrameReader::append(std::span<const std::uint8_t> bytes) {
    if (m_begin > 0) {
        m_bytes.erase(m_bytes.begin(), m_bytes.begin() + static_cast<std::ptrdiff_t>(m_begin));
        m_begin = 0;
    }
    m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
}

std::optional<Frame> FrameReader::next() {
    const std::span<const std::uint8_t> left = std::span(m_bytes).subspan(m_begin);
    const std::size_t known = std::min(left.size(), kMark.size());
    if (!std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(known), kMark.begin()))
        throw FrameError("what was received is not a frame of Relascope");
    if (left.size() < kFrameHeader) return std::nullopt;
    const std::uint64_t size = core::littleEndian(left.data() + 4, 4),
                        blob = core::littleEndian(left.data() + 8, 8);
    if (size > kMostMessage || blob > kMostBlob)
        throw FrameError("a frame of " + std::to_string(size) + " and " + std::to_string(blob) +
                         " bytes was announced, which is more than is taken");
    if (left.size() < kFrameHeader + size + blob) return std::nullopt;
    Frame frame;
    frame.message = parseMessage(left.subspan(kFrameHeader, size));
    const auto rest = left.subspan(kFrameHeader + size, blob);
    frame.blob.assign(rest.begin(), rest.end());
    m_begin += kFrameHeader + size + blob;
    return frame;
}

}  // namespace relascope::wire
