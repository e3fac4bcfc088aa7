// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "checkpoint/source.h"
#include "checkpoint/torch_archive.h"
#include "files/atomic_file.h"
#include "files/byte_source.h"
#include "files/safetensors.h"
#include "options/published_config.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMaxConfig = 4u << 20;

bool stripPrefix(std::string& name, std::string_view prefix) {
    if (name.size() <= prefix.size() || !name.starts_with(prefix)) return false;
    name.erase(0, prefix.size());
    return true;
}

/// Files of weights of a published folder, which stand for the folder.
constexpr std::array kPublishedNames = {"model.safetensors", "model.safetensors.index.json",
                                        "pytorch_model.bin", "pytorch_model.bin.index.json"};

enum class Content { Safetensors, Zip, OldPickle, Tar };

// By the first bytes, as file names are not reliable. safetensors has no signature: every other
// file is taken for one, and its reader reports the problem.
Content contentOf(const std::string& path) {
    const auto bytes = openFileBytes(path);
    std::uint8_t start[262] = {};
    bytes->read(0, std::span(start).first(std::min<std::uint64_t>(bytes->size(), sizeof(start))));
    const std::string_view text(reinterpret_cast<const char*>(start), sizeof(start));
    if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06")) return Content::Zip;
    // The length of its header may look like the start of a pickle: 640 is 80 02.
    if (text.substr(4, 5) == std::string_view("\0\0\0\0{", 5)) return Content::Safetensors;
    if (start[0] == 0x80 && start[1] >= 2 && start[1] <= 5) return Content::OldPickle;
    if (text.substr(257, 5) == "ustar") return Content::Tar;
    return Content::Safetensors;
}

std::unique_ptr<CheckpointParts> openFile(const std::string& path) {
    if (path.ends_with(".safetensors.index.json")) return openShardedSafetensors(path);
    if (path.ends_with(".bin.index.json")) return openShardedTorchArchive(path);
    switch (contentOf(path)) {
        case Content::Zip:
            return openTorchArchive(path);
        case Content::OldPickle:
            throw FileError(
                path,
                "is in the file format of PyTorch before 1.6, which is not supported; save it "
                "again with a current PyTorch: torch.save(torch.load(old), new)");
        case Content::Tar:
            throw FileError(
                path,
                "is in the TAR format of PyTorch before 0.1.10, which is not supported; save it "
                "again with a current PyTorch: torch.save(torch.load(old), new)");
        case Content::Safetensors:
            break;
    }
    return openSafetensors(path);
}

// Files that may contain a model, in contrast to references of golden cases and optimizer states.
bool mayBeWeights(const fs::path& path) {
    static const std::set<std::string> endings = {".pt", ".pth", ".ckpt", ".bin", ".safetensors"},
                                       others = {"io.safetensors", "optimizer.safetensors"};
    return endings.count(path.extension().string()) && !others.count(path.filename().string());
}

// The weights of a folder: the published names first, else the only other candidate.
std::string weightsOf(const fs::path& folder) {
    for (const char* name : kPublishedNames)
        if (fs::is_regular_file(folder / name)) return (folder / name).string();
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.is_regular_file(error) && mayBeWeights(entry.path()))
            found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    if (found.size() == 1) return (folder / found[0]).string();
    if (found.empty() && fs::is_regular_file(folder / "run.json"))
        throw FileError(folder.string(),
                        "is a run folder; open one of the folders in its 'checkpoints' folder");
    if (found.empty())
        throw FileError(
            folder.string(),
            "contains no weights (model.safetensors, its index and shards, or a .pt file)");
    throw FileError(folder.string(), "contains several weights files (" + found[0] + ", " +
                                         found[1] + ", ...); open one of them");
}

}  // namespace

void CheckpointParts::addConfigFile(const std::string& path) {
    if (!m_config.empty() || !fs::is_regular_file(path)) return;
    m_config = readTextFile(path, kMaxConfig);
    m_configFrom = fs::path(path).filename().string();
    m_files.push_back(path);
}

void CheckpointParts::addStoredConfig() {
    const auto found = m_metadata.find(kConfigKey);
    if (!m_config.empty() || found == m_metadata.end() || found->second.size() > kMaxConfig) return;
    if (!nlohmann::json::parse(found->second, nullptr, false).is_object()) return;
    m_config = std::move(found->second);
    m_configFrom = "the metadata";
    m_metadata.erase(found);  // it is shown as the configuration
}

void CheckpointParts::keepStoredNames() {
    std::map<std::string, std::string> stored;
    for (const auto& t : m_tensors) stored[t.name] = t.stored;
    for (auto& t : m_tensors) {
        if (!t.sameAs.empty()) t.sameAs = stored.at(t.sameAs);
        t.name = t.stored;
    }
    m_byName.clear();
    indexNames();
}

std::size_t CheckpointParts::indexOf(const StoredTensor& tensor) const {
    const auto found = m_byName.find(tensor.name);
    if (found == m_byName.end())
        throw FileError(m_files.at(0), "has no tensor '" + tensor.name + "'");
    return found->second;
}

void cleanNames(std::vector<StoredTensor>& tensors, const std::string& path) {
    for (auto& t : tensors) t.name = t.stored;
    for (bool changed = true; changed;) {
        changed = false;
        for (auto& t : tensors)
            while (stripPrefix(t.name, "_orig_mod.")) changed = true;
        const bool all =
            !tensors.empty() && std::all_of(tensors.begin(), tensors.end(), [](auto& t) {
                return t.name.size() > 6 && t.name.starts_with("model.");
            });
        if (!all) continue;
        changed = true;
        for (auto& t : tensors) stripPrefix(t.name, "model.");
    }
    std::set<std::string_view> names;
    for (const auto& t : tensors)
        if (!names.insert(t.name).second)
            throw FileError(path, "has two tensors for '" + t.name.substr(0, 200) +
                                      "', one of them '" + t.stored.substr(0, 200) + "'");
}

std::unique_ptr<CheckpointSource> CheckpointSource::open(const std::string& path) {
    std::error_code error;
    const auto absolute = fs::absolute(path, error);
    if (error || !fs::exists(absolute, error)) throw FileError(path, "does not exist");
    if (!fs::is_directory(absolute, error)) {
        auto source = openFile(absolute.string());
        // The weights file of a published folder stands for the folder.
        const auto name = absolute.filename().string();
        if (std::find(kPublishedNames.begin(), kPublishedNames.end(), name) !=
            kPublishedNames.end())
            source->addConfigFile((absolute.parent_path() / "config.json").string());
        source->addStoredConfig();
        if (isFamilyConfig(source->config())) source->keepStoredNames();
        return source;
    }
    auto source = openFile(weightsOf(absolute));
    source->addConfigFile((absolute / "config.json").string());
    source->addStoredConfig();
    if (isFamilyConfig(source->config())) source->keepStoredNames();
    return source;
}

const StoredTensor* CheckpointSource::find(std::string_view name) const {
    const auto found = m_byName.find(name);
    return found == m_byName.end() ? nullptr : &tensors()[found->second];
}

void CheckpointSource::read(const StoredTensor& tensor, std::span<std::uint8_t> out,
                            std::stop_token stop) const {
    if (out.size() != tensor.bytes)
        throw Error("tensor '" + tensor.name + "' is " + std::to_string(tensor.bytes) +
                    " bytes long, its buffer " + std::to_string(out.size()));
    readPart(tensor, 0, out, std::move(stop));
}

void CheckpointSource::indexNames() {
    const auto& all = tensors();
    for (std::size_t i = 0; i < all.size(); ++i) m_byName.emplace(all[i].name, i);
}

namespace {

// A checkpoint in one safetensors file, or in several that an index names (formats.md section 1).

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

    std::optional<Place> placeOf(const StoredTensor& tensor) const override {
        const auto& entry = m_places[indexOf(tensor)];
        return Place{&entry.file->bytes(), entry.file->header().dataStart + entry.entry->begin};
    }

private:
    struct Entry {
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
    std::vector<Entry> m_places;
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

// The shards of an index, each once, in the order of their names.
std::set<std::string> shardsOf(const ShardIndex& index, const std::string& path) {
    std::set<std::string> shards;
    for (const auto& [tensor, file] : index.fileOf) shards.insert(file);
    if (shards.empty() || shards.size() > kMaxShards)
        throw FileError(path, "names " + std::to_string(shards.size()) + " shards; 1 to " +
                                  std::to_string(kMaxShards) + " can be opened");
    return shards;
}

void requireShard(const std::string& name, std::size_t all) {
    if (!fs::is_regular_file(name))
        throw FileError(name, "is missing; the index lists " + std::to_string(all) +
                                  " shards, and all of them are needed");
}

// That a tensor of a shard is where the index puts it.
void requireListed(const ShardIndex& index, const std::string& tensor, const std::string& shard,
                   const std::string& name) {
    const auto listed = index.fileOf.find(tensor);
    if (listed == index.fileOf.end() || listed->second != shard)
        throw FileError(name,
                        "holds tensor '" + tensor.substr(0, 200) + "', which the index " +
                            (listed == index.fileOf.end() ? "does not list"
                                                          : "puts into '" + listed->second + "'"));
}

void requirePresent(const ShardIndex& index, const std::set<std::string>& present,
                    const fs::path& folder) {
    for (const auto& [tensor, file] : index.fileOf)
        if (!present.count(tensor))
            throw FileError((folder / file).string(), "lacks tensor '" + tensor.substr(0, 200) +
                                                          "', which the index puts into it");
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
    const auto shards = shardsOf(index, path);
    auto source = std::make_unique<SafetensorsSource>("sharded safetensors");
    const auto folder = fs::path(path).parent_path();
    std::set<std::string> present;
    for (const auto& shard : shards) {
        const std::string name = (folder / shard).string();
        requireShard(name, shards.size());
        for (const auto& entry : source->addFile(name).header().tensors) {
            requireListed(index, entry.name, shard, name);
            present.insert(entry.name);
        }
    }
    requirePresent(index, present, folder);
    source->addIndexFile(path);
    for (const auto& [key, value] : index.metadata) source->addMetadata(key, value);
    source->finish();
    return source;
}

namespace {

// A checkpoint in a PyTorch archive, or in several that an index names.
class TorchSource : public CheckpointParts {
public:
    explicit TorchSource(std::string form) { m_form = std::move(form); }

    const TorchArchive& addFile(const std::string& path) {
        const auto bytes = openFileBytes(path);
        m_archives.push_back(std::make_unique<TorchArchive>(bytes));
        const auto& archive = *m_archives.back();
        const int number = static_cast<int>(m_files.size());
        const auto before = m_tensors.size();
        m_files.push_back(bytes->path());
        m_bytes += bytes->size();
        if (m_config.empty()) m_config = archive.config(), m_configFrom = archive.configFrom();
        for (const auto& t : archive.tensors()) {
            m_tensors.push_back({"", t.name, t.dtype, t.shape, t.bytes, "", number, ""});
            m_places.push_back({&archive, &t});
            m_first.push_back(t.sameAs == ArchiveTensor::kItself ? t.sameAs : before + t.sameAs);
        }
        return archive;
    }
    void addIndexFile(const std::string& path) { m_files.push_back(path); }
    void finish() {
        cleanNames(m_tensors, m_files.at(0));
        for (std::size_t i = 0; i < m_tensors.size(); ++i)
            if (m_first[i] != ArchiveTensor::kItself)
                m_tensors[i].sameAs = m_tensors[m_first[i]].name;
        indexNames();
    }

    void readPart(const StoredTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop) const override {
        const auto& place = m_places[indexOf(tensor)];
        place.archive->readPart(*place.tensor, at, out, std::move(stop));
    }

private:
    struct Entry {
        const TorchArchive* archive;
        const ArchiveTensor* tensor;
    };
    std::vector<std::unique_ptr<TorchArchive>> m_archives;
    std::vector<Entry> m_places;
    std::vector<std::size_t> m_first;  // of tensors with the same view, or kItself
};

}  // namespace

std::unique_ptr<CheckpointParts> openTorchArchive(const std::string& path) {
    auto source = std::make_unique<TorchSource>("PyTorch archive");
    source->addFile(path);
    source->finish();
    return source;
}

std::unique_ptr<CheckpointParts> openShardedTorchArchive(const std::string& path) {
    const ShardIndex index = readIndex(path);
    const auto shards = shardsOf(index, path);
    const auto folder = fs::path(path).parent_path();
    auto source = std::make_unique<TorchSource>("sharded PyTorch archive");
    std::set<std::string> present;
    for (const auto& shard : shards) {
        const std::string name = (folder / shard).string();
        requireShard(name, shards.size());
        for (const auto& tensor : source->addFile(name).tensors()) {
            requireListed(index, tensor.name, shard, name);
            present.insert(tensor.name);
        }
    }
    requirePresent(index, present, folder);
    source->addIndexFile(path);
    source->finish();
    return source;
}

}  // namespace relascope::core
