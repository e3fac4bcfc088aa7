// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint in one safetensors file, or in several that an index names (formats.md section 1).
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "checkpoint/source_parts.h"
#include "files/atomic_file.h"
#include "files/safetensors.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxShards = 512;  // each stays open

class SafetensorsSource : public CheckpointParts {
public:
    explicit SafetensorsSource(std::string form) { m_form = std::move(form); }

    const SafetensorsFile& addFile(const std::string& path) {
        m_shards.push_back(std::make_unique<SafetensorsFile>(path));
        const auto& file = *m_shards.back();
        const int number = static_cast<int>(m_files.size());
        m_files.push_back(path);
        m_bytes += file.size();
        for (const auto& entry : file.header().tensors) {
            m_tensors.push_back(
                {"", entry.name, entry.dtype, entry.shape, entry.bytes(), "", number});
            m_places.push_back({&file, &entry});
        }
        for (const auto& [key, value] : file.header().metadata) addMetadata(key, value);
        return file;
    }
    void addMetadata(const std::string& key, const std::string& value) {
        m_metadata.emplace(key, value);
    }
    void addIndexFile(const std::string& path) { m_files.push_back(path); }

    void finish() {
        addAliases();
        std::vector<std::size_t> kept;
        for (const auto& t : m_tensors)
            kept.push_back(t.sameAs.empty() ? 0 : m_byStored.at(t.sameAs));
        cleanNames(m_tensors, m_files.at(0));
        for (std::size_t i = 0; i < m_tensors.size(); ++i)
            if (!m_tensors[i].sameAs.empty()) m_tensors[i].sameAs = m_tensors[kept[i]].name;
        indexNames();
    }

    void readPart(const StoredTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop) const override {
        const auto& place = m_places[indexOf(tensor)];
        place.file->readPart(*place.entry, at, out, std::move(stop));
    }

private:
    struct Place {
        const SafetensorsFile* file;
        const TensorEntry* entry;
    };

    // safetensors.torch.save_model() writes shared tensors once and says metadata[dropped] = kept.
    void addAliases() {
        for (std::size_t i = 0; i < m_tensors.size(); ++i)
            m_byStored.emplace(m_tensors[i].stored, i);
        for (const auto& [dropped, kept] : m_metadata) {
            const auto found = m_byStored.find(kept);
            if (found == m_byStored.end() || m_byStored.count(dropped)) continue;
            StoredTensor alias = m_tensors[found->second];
            alias.stored = dropped;
            alias.sameAs = kept;
            m_places.push_back(m_places[found->second]);
            m_tensors.push_back(std::move(alias));
        }
        for (const auto& t : m_tensors) {
            if (t.sameAs.empty()) continue;
            m_metadata.erase(t.stored);  // the tensor refers to itself
        }
    }

    std::vector<std::unique_ptr<SafetensorsFile>> m_shards;
    std::vector<Place> m_places;
    std::map<std::string, std::size_t> m_byStored;
};

struct ShardIndex {
    std::map<std::string, std::string> fileOf;
    std::map<std::string, std::string> metadata;
};

ShardIndex readIndex(const std::string& path) {
    using nlohmann::json;
    const auto document = json::parse(readTextFile(path), nullptr, false);
    if (!document.is_object() || !document.contains("weight_map") ||
        !document["weight_map"].is_object())
        throw FileError(path,
                        "is not an index of shards: it needs a 'weight_map' from tensors to files");
    ShardIndex index;
    for (const auto& [tensor, file] : document["weight_map"].items()) {
        const std::string name = file.is_string() ? file.get<std::string>() : "";
        if (name.empty() || name == "." ||
            name.find_first_of(std::string("/\\\0", 3)) != std::string::npos ||
            name.find("..") != std::string::npos)
            throw FileError(path,
                            "tensor '" + tensor.substr(0, 200) + "' is listed in '" +
                                (file.is_string() ? name.substr(0, 200) : file.type_name()) +
                                "', which is not the name of a file in the folder of the index");
        index.fileOf[tensor] = name;
    }
    if (const auto found = document.find("metadata"); found != document.end() && found->is_object())
        for (const auto& [key, value] : found->items())
            index.metadata[key] = value.is_string() ? value.get<std::string>() : value.dump();
    return index;
}

}  // namespace

std::unique_ptr<CheckpointParts> openSafetensors(const std::string& path) {
    auto source = std::make_unique<SafetensorsSource>("safetensors");
    source->addFile(path);
    source->finish();
    return source;
}

std::unique_ptr<CheckpointParts> openShardedSafetensors(const std::string& path) {
    const ShardIndex index = readIndex(path);
    std::set<std::string> shards;
    for (const auto& [tensor, file] : index.fileOf) shards.insert(file);
    if (shards.empty() || shards.size() > kMaxShards)
        throw FileError(path, "names " + std::to_string(shards.size()) + " shards; 1 to " +
                                  std::to_string(kMaxShards) + " can be opened");
    auto source = std::make_unique<SafetensorsSource>("sharded safetensors");
    const auto folder = fs::path(path).parent_path();
    std::set<std::string> present;
    for (const auto& shard : shards) {
        const std::string name = (folder / shard).string();
        if (!fs::is_regular_file(name))
            throw FileError(name, "is missing; the index lists " + std::to_string(shards.size()) +
                                      " shards, and all of them are needed");
        for (const auto& entry : source->addFile(name).header().tensors) {
            const auto listed = index.fileOf.find(entry.name);
            if (listed == index.fileOf.end() || listed->second != shard)
                throw FileError(
                    name,
                    "holds tensor '" + entry.name.substr(0, 200) + "', which the index " +
                        (listed == index.fileOf.end() ? "does not list"
                                                      : "puts into '" + listed->second + "'"));
            present.insert(entry.name);
        }
    }
    for (const auto& [tensor, file] : index.fileOf)
        if (!present.count(tensor))
            throw FileError((folder / file).string(), "lacks tensor '" + tensor.substr(0, 200) +
                                                          "', which the index puts into it");
    source->addIndexFile(path);
    for (const auto& [key, value] : index.metadata) source->addMetadata(key, value);
    source->finish();
    return source;
}

}  // namespace relascope::core
