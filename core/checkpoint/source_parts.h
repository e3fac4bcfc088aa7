// SPDX-License-Identifier: GPL-3.0-or-later
// Code shared by the readers of checkpoint forms. Private to this folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/source.h"

namespace relascope::core {

/// The entry of the metadata of a .safetensors file written by `convert` that holds the model's
/// configuration.
constexpr const char* kConfigKey = "config";

/// A source that reads its description in the constructor.
class CheckpointParts : public CheckpointSource {
public:
    const std::string& form() const override { return m_form; }
    const std::vector<std::string>& files() const override { return m_files; }
    const std::vector<StoredTensor>& tensors() const override { return m_tensors; }
    const std::map<std::string, std::string>& metadata() const override { return m_metadata; }
    const std::string& config() const override { return m_config; }
    const std::string& configFrom() const override { return m_configFrom; }

    /// Uses a config.json as the configuration, if there is no other and the file exists.
    void addConfigFile(const std::string& path);
    /// Uses the configuration in the metadata (kConfigKey), if there is no other.
    void addStoredConfig();

protected:
    /// The index in tensors() of a tensor, by its name. Throws FileError.
    std::size_t indexOf(const StoredTensor& tensor) const;

    std::string m_form;
    std::vector<std::string> m_files;
    std::vector<StoredTensor> m_tensors;
    std::map<std::string, std::string> m_metadata;
    std::string m_config, m_configFrom;
};

/// Sets `name` from `stored`: "_orig_mod." is always removed, "model." only if every name has it.
/// Throws FileError (`path`) when two tensors end up with one name.
void cleanNames(std::vector<StoredTensor>& tensors, const std::string& path);

std::unique_ptr<CheckpointParts> openSafetensors(const std::string& path);
/// `index` is a model.safetensors.index.json; its shards are in the same folder.
std::unique_ptr<CheckpointParts> openShardedSafetensors(const std::string& index);
std::unique_ptr<CheckpointParts> openTorchArchive(const std::string& path);

}  // namespace relascope::core
