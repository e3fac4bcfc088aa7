// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_numbers.h"
#include "files/byte_source.h"
#include "files/safetensors.h"

namespace relascope::core {
namespace {

// A small float: sign, `exponent` bits, `mantissa` bits. IEEE: the highest exponent holds infinity
// and NaN. "FN": no infinity, NaN where all bits are one. "FNUZ": one NaN, at minus zero, and a
// bias one larger (arXiv:2209.05433, arXiv:2206.02915).
enum class Special { Ieee, Fn, Fnuz };

double smallFloat(std::uint32_t bits, int exponentBits, int mantissaBits, Special special) {
    const std::uint32_t sign = bits >> (exponentBits + mantissaBits) & 1,
                        exponent = bits >> mantissaBits & ((1u << exponentBits) - 1),
                        mantissa = bits & ((1u << mantissaBits) - 1),
                        highest = (1u << exponentBits) - 1, all = (1u << mantissaBits) - 1;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (special == Special::Fnuz && sign && exponent == 0 && mantissa == 0) return nan;
    if (special == Special::Fn && exponent == highest && mantissa == all) return nan;
    if (special == Special::Ieee && exponent == highest)
        return mantissa ? nan : sign ? -INFINITY : INFINITY;
    const int bias = (1 << (exponentBits - 1)) - (special == Special::Fnuz ? 0 : 1);
    const double value = exponent == 0
                             ? std::ldexp(mantissa, 1 - bias - mantissaBits)
                             : std::ldexp((1u << mantissaBits) + mantissa,
                                          static_cast<int>(exponent) - bias - mantissaBits);
    return sign ? -value : value;
}

template <typename T, typename Convert>
void decode(std::span<const std::uint8_t> bytes, std::span<double> out, Convert convert) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        T value;
        std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
        out[i] = convert(value);
    }
}
template <typename T>
void plain(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<T>(bytes, out, [](T value) { return static_cast<double>(value); });
}
template <int exponent, int mantissa, Special special>
void eight(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint8_t>(bytes, out,
                         [](auto bits) { return smallFloat(bits, exponent, mantissa, special); });
}
void half(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint16_t>(bytes, out,
                          [](auto bits) { return smallFloat(bits, 5, 10, Special::Ieee); });
}
void brain(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint16_t>(bytes, out, [](std::uint32_t bits) {
        return static_cast<double>(std::bit_cast<float>(bits << 16));
    });
}
void powerOfTwo(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint8_t>(bytes, out, [](int bits) {
        return bits == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
    });
}
void truth(std::span<const std::uint8_t> bytes, std::span<double> out) {
    decode<std::uint8_t>(bytes, out, [](auto bits) { return bits ? 1.0 : 0.0; });
}

using Decoder = void (*)(std::span<const std::uint8_t>, std::span<double>);

const std::map<std::string_view, Decoder>& decoders() {
    static const std::map<std::string_view, Decoder> table = {
        {"F64", plain<double>},
        {"F32", plain<float>},
        {"F16", half},
        {"BF16", brain},
        {"I64", plain<std::int64_t>},
        {"U64", plain<std::uint64_t>},
        {"I32", plain<std::int32_t>},
        {"U32", plain<std::uint32_t>},
        {"I16", plain<std::int16_t>},
        {"U16", plain<std::uint16_t>},
        {"I8", plain<std::int8_t>},
        {"U8", plain<std::uint8_t>},
        {"BOOL", truth},
        {"F8_E4M3", eight<4, 3, Special::Fn>},
        {"F8_E5M2", eight<5, 2, Special::Ieee>},
        {"F8_E4M3FNUZ", eight<4, 3, Special::Fnuz>},
        {"F8_E5M2FNUZ", eight<5, 2, Special::Fnuz>},
        {"F8_E8M0", powerOfTwo}};
    return table;
}

}  // namespace

bool hasNumbers(std::string_view dtype) {
    return decoders().count(dtype) > 0;
}

void decodeNumbers(std::string_view dtype, std::span<const std::uint8_t> bytes,
                   std::span<double> out) {
    decoders().at(dtype)(bytes, out);
}

namespace {

// tensorStatistics() of checkpoint.h.

constexpr std::uint64_t kPiece = 1u << 20;

// Calls `use` with the values of a tensor, in pieces.
void forNumbers(const CheckpointSource& source, const StoredTensor& tensor,
                const std::stop_token& stop,
                const std::function<void(std::span<const double>)>& use) {
    const auto size = static_cast<std::uint64_t>(dtypeBits(tensor.dtype) / 8);
    std::vector<std::uint8_t> bytes(std::min(kPiece, tensor.bytes));
    std::vector<double> numbers(bytes.size() / size);
    for (std::uint64_t at = 0; at < tensor.bytes; at += bytes.size()) {
        bytes.resize(std::min(kPiece, tensor.bytes - at));
        numbers.resize(bytes.size() / size);
        source.readPart(tensor, at, bytes, stop);
        decodeNumbers(tensor.dtype, bytes, numbers);
        use(numbers);
    }
}

// Mean and deviation without the loss of digits that sums of squares have (Chan, Golub and LeVeque
// 1983): each piece's are exact enough, and pieces are joined by their difference.
class Moments {
public:
    void add(std::span<const double> values) {
        double sum = 0, count = 0, squares = 0;
        for (const double v : values)
            if (std::isfinite(v)) sum += v, ++count;
        if (count == 0) return;
        const double mean = sum / count;
        for (const double v : values)
            if (std::isfinite(v)) squares += (v - mean) * (v - mean);
        const double difference = mean - m_mean, all = m_count + count;
        m_squares += squares + difference * difference * m_count * count / all;
        m_mean += difference * count / all;
        m_count = all;
    }
    double mean() const { return m_mean; }
    double deviation() const { return m_count > 0 ? std::sqrt(m_squares / m_count) : 0.0; }

private:
    double m_count = 0, m_mean = 0, m_squares = 0;
};

}  // namespace

TensorStatistics tensorStatistics(const std::string& path, const std::string& name, int bins,
                                  std::stop_token stop) {
    const auto source = CheckpointSource::open(path);
    const auto* tensor = source->find(name);
    if (!tensor) throw FileError(path, "has no tensor '" + name + "'");
    if (!hasNumbers(tensor->dtype))
        throw FileError(path, "tensor '" + name + "' is of " + tensor->dtype +
                                  ", for which no statistics can be computed");
    TensorStatistics s;
    s.name = name;
    s.count = tensor->count();
    Moments moments;
    double low = INFINITY, high = -INFINITY;
    forNumbers(*source, *tensor, stop, [&](std::span<const double> values) {
        for (const double v : values) {
            if (!std::isfinite(v)) {
                ++s.notFinite;
                continue;
            }
            low = std::min(low, v);
            high = std::max(high, v);
        }
        moments.add(values);
    });
    s.histogram.assign(static_cast<std::size_t>(std::clamp(bins, 1, 65536)), 0);
    if (s.notFinite == s.count) return s;
    s.minimum = low, s.maximum = high;
    s.mean = moments.mean(), s.deviation = moments.deviation();

    const auto last = static_cast<double>(s.histogram.size() - 1);
    // Halved, as the range of the largest doubles overflows.
    const double width = (high / 2 - low / 2) / static_cast<double>(s.histogram.size());
    forNumbers(*source, *tensor, stop, [&](std::span<const double> values) {
        for (const double v : values) {
            if (!std::isfinite(v)) continue;
            const double bin = width > 0 ? std::floor((v / 2 - low / 2) / width) : 0.0;
            ++s.histogram[static_cast<std::size_t>(std::clamp(bin, 0.0, last))];
        }
    });
    return s;
}

namespace {

// A number is not finite if all bits of its exponent are set. Blocks of a fixed length let the
// compiler vectorise.
template <typename T>
bool finite(std::span<const std::uint8_t> bytes, T exponent) {
    constexpr std::size_t kBlock = 1024;
    T block[kBlock];
    const std::size_t count = bytes.size() / sizeof(T);
    for (std::size_t at = 0; at < count; at += kBlock) {
        const std::size_t length = count - at < kBlock ? count - at : kBlock;
        if (length < kBlock) std::memset(block, 0, sizeof(block));
        std::memcpy(block, bytes.data() + at * sizeof(T), length * sizeof(T));
        T found = 0;
        for (std::size_t i = 0; i < kBlock; ++i)
            found |= static_cast<T>((block[i] & exponent) == exponent);
        if (found) return false;
    }
    return true;
}

}  // namespace

bool allFinite(std::string_view dtype, std::span<const std::uint8_t> bytes) {
    if (dtype == "F32") return finite<std::uint32_t>(bytes, 0x7f800000u);
    if (dtype == "F64") return finite<std::uint64_t>(bytes, 0x7ff0000000000000u);
    if (dtype == "F16") return finite<std::uint16_t>(bytes, 0x7c00u);
    if (dtype == "BF16") return finite<std::uint16_t>(bytes, 0x7f80u);
    return true;
}

}  // namespace relascope::core
