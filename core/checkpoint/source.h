// SPDX-License-Identifier: GPL-3.0-or-later
// Any file of weights as a list of named tensors that are read on demand. Does not include torch,
// so that the readers can be fuzzed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "types/checkpoint_info.h"

namespace relascope::core {

class ByteSource;  // files/byte_source.h

/// The weights of one checkpoint. Headers are read and checked when it is opened; bytes are read
/// with pread on demand, so that a file that another process truncates is an error and not a fault.
class CheckpointSource {
public:
    virtual ~CheckpointSource() = default;

    /// Opens any form of checkpoint.h. Throws FileError (SafetensorsError, ...).
    static std::unique_ptr<CheckpointSource> open(const std::string& path);

    virtual const std::string& form() const = 0;
    virtual const std::vector<std::string>& files() const = 0;
    /// The tensors of the model, with the names that the model gives them; second names of shared
    /// storage carry `sameAs`.
    virtual const std::vector<StoredTensor>& tensors() const = 0;
    /// Tensors of the files that are not read, with the reason as `note`: they do not belong to the
    /// model, or an index does not list them.
    virtual const std::vector<StoredTensor>& leftOut() const = 0;
    /// Tensors that an index lists but its shard does not hold, with the name of the shard.
    virtual const std::map<std::string, std::string>& absent() const = 0;
    virtual const std::map<std::string, std::string>& metadata() const = 0;
    /// The configuration as JSON text, and its source; empty without one.
    virtual const std::string& config() const = 0;
    virtual const std::string& configFrom() const = 0;
    /// Copies a tensor's bytes, row-major and little-endian; `out` is exactly tensor.bytes long.
    /// Throws FileError, Cancelled.
    virtual void read(const StoredTensor& tensor, std::span<std::uint8_t> out,
                      std::stop_token stop = {}) const;
    /// Copies a part of a tensor's bytes, from byte `at`; `at` and the size of `out` are multiples
    /// of the element size. Reading all parts in order is as fast as reading the whole. Throws
    /// FileError, Cancelled.
    virtual void readPart(const StoredTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                          std::stop_token stop = {}) const = 0;

    /// The place of a tensor whose bytes lie in one of files() as read() gives them; empty if they
    /// do not.
    struct Place {
        const ByteSource* file;
        std::uint64_t at = 0;
    };
    virtual std::optional<Place> placeOf(const StoredTensor&) const { return {}; }

    /// The tensor of that (cleaned) name, or nullptr.
    const StoredTensor* find(std::string_view name) const;
    /// The tensor of that name, behind any wrappers, that is not read, or nullptr.
    const StoredTensor* findLeftOut(std::string_view name) const;
    /// Bytes of all weight files.
    std::uint64_t bytes() const { return m_bytes; }

protected:
    /// Fills the table that find() uses.
    void indexNames();

    std::uint64_t m_bytes = 0;
    std::unordered_map<std::string_view, std::size_t> m_byName;
};

// Code shared by the readers of checkpoint forms. Private to this folder.

/// The entry of the metadata of a .safetensors file written by `convert` that holds the model's
/// configuration.
constexpr const char* kConfigKey = "config";

/// A source that reads its description in the constructor.
class CheckpointParts : public CheckpointSource {
public:
    const std::string& form() const override { return m_form; }
    const std::vector<std::string>& files() const override { return m_files; }
    const std::vector<StoredTensor>& tensors() const override { return m_tensors; }
    const std::vector<StoredTensor>& leftOut() const override { return m_leftOut; }
    const std::map<std::string, std::string>& absent() const override { return m_absent; }
    const std::map<std::string, std::string>& metadata() const override { return m_metadata; }
    const std::string& config() const override { return m_config; }
    const std::string& configFrom() const override { return m_configFrom; }

    /// Uses a config.json as the configuration, if there is no other and the file exists.
    void addConfigFile(const std::string& path);
    /// Uses the meta file beside weights of nanochat, if there is no other configuration. Throws
    /// FileError where it is missing.
    void addNanochatMeta(const std::string& weights);
    /// Uses the configuration in the metadata (kConfigKey), if there is no other.
    void addStoredConfig();
    /// Notes that an adapter beside the weights is not merged.
    void noteAdapter();
    /// Gives the tensors the names of the model that the configuration describes, and leaves out
    /// tensors that do not belong to it (tensor_names.h). Throws FileError if two get one name.
    void nameAsModel();

protected:
    static constexpr std::size_t kItself = SIZE_MAX;

    /// A tensor under the name of its file; `sharedWith` is the number of an earlier one.
    void add(StoredTensor tensor, std::size_t sharedWith = kItself);
    /// The number that a tensor got when it was added, by its name. Throws FileError.
    std::size_t numberOf(const StoredTensor& tensor) const;

    std::string m_form;
    std::vector<std::string> m_files;
    std::vector<StoredTensor> m_tensors, m_leftOut;
    std::map<std::string, std::string> m_metadata, m_absent;
    std::string m_config, m_configFrom;

private:
    std::vector<std::size_t> m_numbers, m_shared;  // for each of m_tensors
};

/// One file of weights or one index, by its content, without a configuration.
std::unique_ptr<CheckpointParts> openWeightsFile(const std::string& path);
std::unique_ptr<CheckpointParts> openSafetensors(const std::string& path);
/// Opens the shards of `index`, a model.safetensors.index.json, in its folder.
std::unique_ptr<CheckpointParts> openShardedSafetensors(const std::string& index);
std::unique_ptr<CheckpointParts> openTorchArchive(const std::string& path);
/// The parameters of llm.c's GPT-2; their sizes are those of the header.
std::unique_ptr<CheckpointParts> openLlmc(const std::string& path);
/// Opens the shards of `index`, a pytorch_model.bin.index.json, in its folder.
std::unique_ptr<CheckpointParts> openShardedTorchArchive(const std::string& index);

}  // namespace relascope::core
