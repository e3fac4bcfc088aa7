// SPDX-License-Identifier: GPL-3.0-or-later
// One file of kept weights, weights/step-N.safetensors (formats.md section 11). No torch here, so
// that the reader can be fuzzed.
#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "files/safetensors.h"
#include "options/kept_steps.h"

namespace relascope::core {

/// Named tensors in memory, by ascending names, row-major and little-endian.
struct WeightValues {
    struct Tensor {
        std::string name, dtype;  ///< "F32" or "BF16"; buffers of integers have their own type
        std::vector<std::int64_t> shape;
        std::vector<std::uint8_t> bytes;
    };
    std::vector<Tensor> tensors;
    std::map<std::string, std::string> sameAs;  ///< second names of shared tensors

    std::uint64_t bytes() const;
    /// CRC-32 of all bytes, in order.
    std::uint32_t checksum() const;
};

/// The path of the file of a step: "FOLDER/step-96.safetensors".
std::string keptFilePath(const std::string& folder, std::int64_t step);
/// The step of such a file name; -1 for any other name.
std::int64_t keptFileStep(const std::string& name);

/// The tensors that a file holds, ready to be written, and how large it becomes about.
struct PackedWeights {
    std::vector<TensorEntry> entries;
    std::vector<std::vector<std::uint8_t>> data;  ///< bytes of the entries
    std::map<std::string, std::string> metadata;
    std::uint64_t bytes = 0;
};

/// Values of float32 are taken with KeptForm::Float32, of bfloat16 with the others. `base`, of
/// KeptForm::Xor, holds the values of step `baseStep`, the same tensors; null for a file that
/// stands alone.
PackedWeights packWeights(std::int64_t step, KeptForm form, WeightValues values,
                          std::int64_t baseStep = -1, const WeightValues* base = nullptr);
/// Writes a file whole or not at all. Throws DiskFull, FileError.
void writePacked(const std::string& path, const PackedWeights& packed);

/// An open file of kept weights whose header is checked: form, steps, names, shapes and sizes.
class KeptFile {
public:
    /// Throws FileError with the field and its value, before anything is allocated by them.
    KeptFile(const std::string& folder, std::int64_t step);
    KeptFile(std::shared_ptr<const ByteSource> bytes, std::int64_t step);

    std::int64_t step() const { return m_step; }
    KeptForm form() const { return m_form; }
    /// The step whose values this file changes; -1 if it stands alone.
    std::int64_t base() const { return m_base; }
    std::uint64_t bytes() const { return m_file.size(); }
    /// The checksum of the values according to the header; read() verifies it.
    std::uint32_t checksum() const { return m_checksum; }
    const std::string& path() const { return m_file.path(); }

    /// The tensors without their bytes, and the bytes that they will take.
    const WeightValues& shapes() const { return m_shapes; }
    std::uint64_t valueBytes() const { return m_valueBytes; }

    /// The values; of a file with a base, `values` holds those of the base before. Throws FileError
    /// if they do not match the checksum, or the base is not the one; Cancelled.
    void read(WeightValues& values, const std::stop_token& stop = {}) const;

private:
    void checkHeader();
    [[noreturn]] void fail(const std::string& reason) const { throw FileError(path(), reason); }
    std::int64_t number(const char* key, std::int64_t most) const;

    SafetensorsFile m_file;
    std::int64_t m_step, m_base = -1;
    KeptForm m_form = KeptForm::Float32;
    std::uint32_t m_checksum = 0, m_baseChecksum = 0;
    WeightValues m_shapes;
    std::vector<const TensorEntry*> m_entries;  ///< entries of m_shapes.tensors
    std::uint64_t m_valueBytes = 0;
};

}  // namespace relascope::core
