// SPDX-License-Identifier: GPL-3.0-or-later
// tensorStatistics() of checkpoint.h.
#include <algorithm>
#include <cmath>

#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_numbers.h"
#include "files/byte_source.h"
#include "files/safetensors.h"

namespace relascope::core {
namespace {

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

}  // namespace relascope::core
