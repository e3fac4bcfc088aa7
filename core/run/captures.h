// SPDX-License-Identifier: GPL-3.0-or-later
// Relations and attention of a few inputs, captured at growing intervals during training.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "files/safetensors.h"
#include "types/relation_map.h"

namespace relascope::core {

/// Disk budget for all captures of a run; fewer inputs are captured if they would not fit.
constexpr std::uint64_t kCaptureBudget = 256ull << 20;

/// True when growing intervals put a capture at this step: 0 to 5, 8, 11, 16, 22, 32, ... (a factor
/// of sqrt 2), about 35 captures in 100,000 steps.
bool isGrowingCaptureStep(std::int64_t step);
/// The number of captures in `totalSteps` steps; `every` 0 means growing intervals.
std::int64_t captureCount(std::int64_t totalSteps, std::int64_t every);

/// Writes captures/step-N.safetensors: for each kind and layer the maps of all inputs or their
/// factors, exact float32.
void saveCapture(const std::string& folder, const std::vector<ProbeResult>& results);
/// Captured steps, ascending, from the file names.
std::vector<std::int64_t> captureSteps(const std::string& folder);
/// The captured input number `sample` at that step. Throws FileError.
ProbeResult loadCapture(const std::string& folder, std::int64_t step, std::int64_t sample);
/// How many inputs a capture holds.
std::int64_t captureSamples(const std::string& folder, std::int64_t step);

// The sequences of captured samples: texts, tokens, vectors, and names and pictures of their
// elements. Private to core/run.

inline std::span<const std::uint8_t> bytesOf(const auto& values) {
    return {reinterpret_cast<const std::uint8_t*>(values.data()),
            values.size() * sizeof(values[0])};
}

/// The bytes of one sample of a tensor [samples, ...] of that rank. Throws FileError.
std::vector<std::uint8_t> sampleBytes(const SafetensorsFile& file, const TensorEntry& entry,
                                      std::size_t rank, std::int64_t sample);

/// One side of the samples of a capture, ready to be written under `prefix`: PREFIXtokens I64
/// [samples, n] or PREFIXvectors F32 [samples, n, width], for text the pieces as bytes with the end
/// of each, otherwise names as metadata; PREFIXpictures U8 [samples, n, height, width, channels].
class StoredSequences {
public:
    StoredSequences(std::string prefix, const std::vector<ProbeResult>& results,
                    ProbeSequence ProbeSample::*side);
    /// The tensors point into this object.
    void addTo(std::vector<TensorToWrite>& out, std::map<std::string, std::string>& metadata) const;

private:
    std::string m_prefix;
    std::vector<const ProbeSequence*> m_sequences;
    std::vector<std::int64_t> m_tokens, m_ends;
    std::vector<float> m_vectors;
    std::vector<std::uint8_t> m_pieces, m_pictures;
};

/// The sequence of one sample under `prefix`; empty if the capture has none. Throws FileError for a
/// damaged capture.
ProbeSequence loadSequence(const SafetensorsFile& file, const std::string& prefix,
                           std::int64_t sample);

}  // namespace relascope::core
