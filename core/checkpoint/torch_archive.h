// SPDX-License-Identifier: GPL-3.0-or-later
// PyTorch's .pt files: a ZIP archive with a pickle and one record for each storage (formats.md
// section 2), read by our own code, never by LibTorch's readers. No torch here, so that it can be
// fuzzed.
//
// Known contents (the research scripts'): {'model': state, 'config': {...}, ...}, {'model': state,
// 'model_args': {...}, 'config': of the training, ...}, Lightning's {'state_dict': state, ...}, a
// bare state dictionary, and the matrices of a Jacobian lens, {'J': {0: ..., 1: ...}, 'n_prompts':
// ...}.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "checkpoint/pickle.h"
#include "checkpoint/zip.h"

namespace relascope::core {

class Pickle;
struct PickleValue;

/// A tensor of the state: a view of a storage.
struct ArchiveTensor {
    std::string name;                         ///< its name in the file
    std::string dtype;                        ///< safetensors' names
    std::vector<std::int64_t> shape, stride;  ///< stride in elements, never negative
    std::uint64_t offset = 0;                 ///< byte of its first element in the storage
    std::uint64_t bytes = 0;                  ///< row-major, without gaps
    std::uint64_t span = 0;                   ///< bytes from its first to its last element
    bool contiguous = false;                  ///< row-major in its storage as well
    const ZipEntry* record = nullptr;
    std::string unread;            ///< why its values are not read; empty where they are
    std::size_t sameAs = kItself;  ///< index of the first tensor with the same view
    static constexpr std::size_t kItself = SIZE_MAX;
};

class TorchArchive {
public:
    /// Reads and checks everything except the weights. Throws FileError.
    explicit TorchArchive(std::shared_ptr<const ByteSource> bytes);

    /// The tensors, in the order of the state.
    const std::vector<ArchiveTensor>& tensors() const { return m_tensors; }
    /// Values of the state that are not read, and why, as the end of a sentence: those that are no
    /// tensors, which metrics and Lightning keep, and tensors that are sparse, quantised, expanded.
    const std::map<std::string, std::string>& others() const { return m_others; }
    /// The configuration of the model as JSON text, and its key; empty without one.
    const std::string& config() const { return m_config; }
    const std::string& configFrom() const { return m_configFrom; }
    /// Copies row-major bytes of a tensor from its byte `at`. A record that is read whole and in
    /// order has its CRC checked. Throws FileError, Cancelled.
    void readPart(const ArchiveTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop = {}) const;

private:
    const ZipEntry* repacked();
    void checkByteOrder() const;
    const PickleValue& stateOf(const Pickle& pickle) const;
    void findConfig(const Pickle& pickle);
    void addTensors(const Pickle& pickle, const PickleValue& state);
    void followCrc(const ArchiveTensor& tensor, std::uint64_t at,
                   std::span<const std::uint8_t> out) const;
    void gather(const ArchiveTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                std::stop_token stop) const;
    [[noreturn]] void fail(const std::string& reason) const;

    ZipDirectory m_zip;
    std::string m_folder;  // folder in the archive, with its slash
    std::vector<ArchiveTensor> m_tensors;
    std::map<std::string, std::string> m_others;
    std::string m_config, m_configFrom;

    // State of the last readPart(): the CRC so far, or the storage of a strided tensor.
    mutable std::mutex m_mutex;
    mutable const ArchiveTensor* m_last = nullptr;
    mutable std::uint64_t m_next = 0;
    mutable std::uint32_t m_crc = 0;
    mutable std::vector<std::uint8_t> m_gathered;
};

// The description of a pickled tensor: torch._utils._rebuild_tensor_v2 and similar functions.

/// True for a call of one of the functions that PyTorch writes for tensors of any kind and
/// parameters.
bool isPickledTensor(const Pickle& pickle, const PickleValue& value);

/// Dtype, shape, strides and place of a pickled tensor, checked against its storage's record
/// (`folder` + "data/" + key) in `zip`. Throws FileError naming the tensor: it needs more bytes
/// than its record has, its view leaves the storage, a stride is negative, the record is missing.
/// A tensor whose values are not read (sparse, quantised, expanded, ...) says so in `unread`.
ArchiveTensor pickledTensor(const Pickle& pickle, const PickleValue& value, const std::string& name,
                            const ZipDirectory& zip, const std::string& folder);

}  // namespace relascope::core
