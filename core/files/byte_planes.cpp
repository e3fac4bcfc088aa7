// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/byte_planes.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

namespace relascope::core {
namespace {

constexpr std::size_t kPiece = 64u << 10;

// Byte `at` of the planes is this byte of the numbers: the upper bytes of all come first.
std::size_t placeOf(std::size_t at, std::size_t numbers) {
    return at < numbers ? 2 * at + 1 : 2 * (at - numbers);
}

struct Deflating {
    z_stream stream{};
    // Runs of one byte are all that repeats in such planes: looking for anything longer takes up to
    // six times as long and finds less.
    Deflating() {
        if (deflateInit2(&stream, 6, Z_DEFLATED, 15, 8, Z_RLE) != Z_OK) throw std::bad_alloc();
    }
    ~Deflating() { deflateEnd(&stream); }
    Deflating(const Deflating&) = delete;
    Deflating& operator=(const Deflating&) = delete;
};

}  // namespace

std::vector<std::uint8_t> packPlanes(std::span<const std::uint8_t> values,
                                     std::span<const std::uint8_t> base) {
    const std::size_t numbers = values.size() / 2;
    Deflating deflating;
    auto& stream = deflating.stream;
    std::vector<std::uint8_t> packed;
    std::array<std::uint8_t, kPiece> in{}, out{};
    std::size_t at = 0;
    int state = Z_OK;
    do {
        const std::size_t count = std::min(kPiece, values.size() - at);
        for (std::size_t i = 0; i < count; ++i) {
            const auto place = placeOf(at + i, numbers);
            in[i] = base.empty() ? values[place]
                                 : static_cast<std::uint8_t>(values[place] ^ base[place]);
        }
        at += count;
        stream.next_in = in.data();
        stream.avail_in = static_cast<uInt>(count);
        do {
            stream.next_out = out.data();
            stream.avail_out = static_cast<uInt>(kPiece);
            state = deflate(&stream, at == values.size() ? Z_FINISH : Z_NO_FLUSH);
            packed.insert(packed.end(), out.data(), stream.next_out);
        } while (stream.avail_out == 0);
    } while (state != Z_STREAM_END);
    return packed;
}

bool unpackPlanes(std::span<const std::uint8_t> packed, std::span<std::uint8_t> values) {
    const std::size_t numbers = values.size() / 2;
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
    std::array<std::uint8_t, kPiece> out{};
    std::size_t taken = 0, at = 0;
    int state = Z_OK;
    bool fits = true;
    while (fits && state == Z_OK) {
        if (stream.avail_in == 0 && taken < packed.size()) {
            const std::size_t count = std::min<std::size_t>(1u << 30, packed.size() - taken);
            stream.next_in = const_cast<Bytef*>(packed.data() + taken);
            stream.avail_in = static_cast<uInt>(count);
            taken += count;
        }
        stream.next_out = out.data();
        stream.avail_out = static_cast<uInt>(kPiece);
        state = inflate(&stream, Z_NO_FLUSH);
        const auto count = static_cast<std::size_t>(stream.next_out - out.data());
        fits = count <= values.size() - at;
        for (std::size_t i = 0; fits && i < count; ++i) values[placeOf(at + i, numbers)] ^= out[i];
        at += count;
    }
    const bool whole = fits && state == Z_STREAM_END && at == values.size() &&
                       stream.avail_in == 0 && taken == packed.size();
    inflateEnd(&stream);
    return whole;
}

}  // namespace relascope::core
