// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "checkpoint/adapter.h"
#include "checkpoint/nanochat_files.h"
#include "checkpoint/packed_weights.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_names.h"
#include "checkpoint/torch_archive.h"
#include "files/atomic_file.h"
#include "files/byte_source.h"
#include "files/foreign_file.h"
#include "files/safetensors.h"
#include "model/served/served_options.h"
#include "options/published_config.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMaxConfig = 4u << 20;

/// Files of weights of a published folder, which stand for the folder.
constexpr std::array kPublishedNames = {"model.safetensors", "model.safetensors.index.json",
                                        "pytorch_model.bin", "pytorch_model.bin.index.json"};

bool hasPublishedWeights(const fs::path& folder) {
    return std::any_of(kPublishedNames.begin(), kPublishedNames.end(),
                       [&](const char* name) { return fs::is_regular_file(folder / name); });
}

enum class Content { Safetensors, Zip, OldPickle, Tar, Llmc };
constexpr std::uint32_t kLlmcMagic = 20240326;

// By the first bytes, as file names are not reliable. safetensors has no signature: every file that
// is nothing else that is known is taken for one, and its reader reports the problem.
Content contentOf(const std::string& path) {
    const auto bytes = openFileBytes(path);
    std::uint8_t start[512] = {};
    const auto length = std::min<std::uint64_t>(bytes->size(), sizeof(start));
    bytes->read(0, std::span(start).first(length));
    const std::string_view text(reinterpret_cast<const char*>(start), sizeof(start));
    if (bytes->size() == 0) throw FileError(path, "is empty; copy or download it again");
    if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06")) return Content::Zip;
    // The length of its header may look like the start of a pickle: 640 is 80 02.
    if (text.substr(4, 5) == std::string_view("\0\0\0\0{", 5)) return Content::Safetensors;
    if (start[0] == 0x80 && start[1] >= 2 && start[1] <= 5) return Content::OldPickle;
    if (text.substr(257, 5) == "ustar") return Content::Tar;
    if (littleEndian(start, 4) == kLlmcMagic && bytes->size() >= 1024) return Content::Llmc;
    if (const auto what = foreignContent(text.substr(0, length)); !what.empty())
        throw FileError(path, what);
    // The length of a header ends in zeros.
    if (const auto what = textInPlaceOf("weights", text.substr(0, length)); !what.empty())
        throw FileError(path, what);
    return Content::Safetensors;
}

// Files that may contain a model, in contrast to references of golden cases and optimizer states.
bool mayBeWeights(const fs::path& path) {
    static const std::set<std::string> endings = {".pt", ".pth", ".ckpt", ".bin", ".safetensors"},
                                       others = {"io.safetensors", "optimizer.safetensors"};
    return endings.count(path.extension().string()) && !others.count(path.filename().string());
}

// Weights of other programs, and the folders that trainers write.
std::string whatElseIsIn(const fs::path& folder) {
    static const std::set<std::string> endings = {".h5",   ".msgpack", ".gguf", ".ggml",  ".onnx",
                                                  ".ckpt", ".distcp",  ".npz",  ".tflite"};
    std::set<std::string> files, folders;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const auto name = entry.path().filename().string();
        if (endings.count(entry.path().extension().string())) files.insert(name);
        if (entry.is_directory(error) && name.starts_with("checkpoint-")) folders.insert(name);
    }
    if (fs::exists(folder / "zero_to_fp32.py", error))
        return std::string("; it is a checkpoint of DeepSpeed: ") + kZeroToFloat;
    if (!folders.empty())
        return "; it has checkpoints in folders of their own: open one, as " + *folders.rbegin();
    if (files.empty()) return {};
    return "; it has " + *files.begin() +
           ", which is not read: save the model as safetensors, or open the original";
}

// Whether a file is one of several that make up a model: "model-00002-of-00010.safetensors".
bool isShard(const std::string& name) {
    const auto of = name.find("-of-");
    return of != std::string::npos && of >= 6 &&
           std::isdigit(static_cast<unsigned char>(name[of - 1])) && of + 4 < name.size() &&
           std::isdigit(static_cast<unsigned char>(name[of + 4]));
}

// The weights of a folder: the published names first, else the only other candidate.
std::string weightsOf(const fs::path& folder) {
    for (const char* name : kPublishedNames) {
        requireTarget((folder / name).string());
        if (fs::is_regular_file(folder / name)) return (folder / name).string();
    }
    if (const auto newest = newestNanochat(folder.string()); !newest.empty()) return newest;
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (!mayBeWeights(entry.path())) continue;
        requireTarget(entry.path().string());
        if (entry.is_regular_file(error)) found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    if (found.size() == 1) return (folder / found[0]).string();
    if (found.empty() && fs::is_regular_file(folder / "run.json"))
        throw FileError(folder.string(),
                        "is a run folder; open one of the folders in its 'checkpoints' folder");
    if (found.empty())
        throw FileError(
            folder.string(),
            "contains no weights (model.safetensors, its index and shards, or a .pt file)" +
                whatElseIsIn(folder));
    if (std::all_of(found.begin(), found.end(), isShard))
        throw FileError(folder.string(), "has shards (" + found[0] +
                                             ", ...) without their index; copy or download "
                                             "model.safetensors.index.json as well");
    throw FileError(folder.string(), "contains several weights files (" + found[0] + ", " +
                                         found[1] + ", ...); open one of them");
}

}  // namespace

std::unique_ptr<CheckpointParts> openWeightsFile(const std::string& path) {
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
        case Content::Llmc:
            return openLlmc(path);
        case Content::Safetensors:
            break;
    }
    return openSafetensors(path);
}

void CheckpointParts::addConfigFile(const std::string& path) {
    requireTarget(path);
    if (!m_config.empty() || !fs::is_regular_file(path)) return;
    m_config = readJsonText(path, kMaxConfig);
    if (m_config.find_first_not_of(" \t\r\n") == std::string::npos)
        throw FileError(path, "is empty; copy or download it again");
    m_configFrom = fs::path(path).filename().string();
    m_files.push_back(path);
}

void CheckpointParts::addNanochatMeta(const std::string& weights) {
    const auto meta = nanochatMeta(weights);
    if (!m_config.empty() || meta.empty()) return;
    requireNanochatMeta(weights);
    m_config = nanochatConfig(meta);
    m_configFrom = fs::path(meta).filename().string();
    m_files.push_back(meta);
}

void CheckpointParts::addStoredConfig() {
    const auto found = m_metadata.find(kConfigKey);
    if (!m_config.empty() || found == m_metadata.end() || found->second.size() > kMaxConfig) return;
    if (!nlohmann::json::parse(found->second, nullptr, false).is_object()) return;
    m_config = std::move(found->second);
    m_configFrom = "the metadata";
    m_metadata.erase(found);  // it is shown as the configuration
}

void CheckpointParts::add(StoredTensor tensor, std::size_t sharedWith) {
    tensor.name = plainName(tensor.name);
    m_numbers.push_back(m_numbers.size());
    m_shared.push_back(sharedWith);
    m_tensors.push_back(std::move(tensor));
}

std::size_t CheckpointParts::numberOf(const StoredTensor& tensor) const {
    const auto found = m_byName.find(tensor.name);
    if (found == m_byName.end())
        throw FileError(m_files.at(0), "has no tensor '" + tensor.name + "'");
    return m_numbers[found->second];
}

namespace {

// The forms of names of the model that a configuration describes; none where it cannot be read,
// which is reported when the model is asked for.
std::vector<NamesOfModel> namesOfConfig(const std::string& config,
                                        const std::vector<StoredTensor>& tensors) {
    if (config.empty()) return {};
    // The number of classes may stand in the tensors alone, whose names are not known yet.
    const auto shape = [&](const std::string& name) -> std::vector<std::int64_t> {
        for (const auto& tensor : tensors)
            if (tensor.stored == name || tensor.stored.ends_with("." + name)) return tensor.shape;
        return {};
    };
    try {
        return namesInFiles(modelFromPublishedConfig(config, shape));
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

void CheckpointParts::noteAdapter() {
    StoredTensor note;
    note.name = note.stored = "adapter_model.safetensors";
    note.note =
        "is an adapter beside the weights; open them with --adapter and their folder where "
        "it is not merged yet";
    m_leftOut.push_back(std::move(note));
}

void CheckpointParts::nameAsModel() {
    const auto beside = nameTensors(m_tensors, namesOfConfig(m_config, m_tensors));
    std::vector<StoredTensor> kept;
    std::vector<std::size_t> numbers;
    std::map<std::size_t, std::string> first;  // name of a tensor, for others that share its bytes
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        auto& tensor = m_tensors[i];
        if (!beside[i].empty()) {
            tensor.note = beside[i];
            m_leftOut.push_back(std::move(tensor));
            continue;
        }
        const auto shared = m_shared[i] == kItself ? m_numbers[i] : m_shared[i];
        if (const auto [own, fresh] = first.emplace(shared, tensor.name); !fresh)
            tensor.sameAs = own->second;
        kept.push_back(std::move(tensor));
        numbers.push_back(m_numbers[i]);
    }
    m_tensors = std::move(kept), m_numbers = std::move(numbers);
    std::set<std::string_view> names;
    for (const auto& t : m_tensors)
        if (!names.insert(t.name).second)
            throw FileError(m_files.at(0), "has two tensors for '" + t.name.substr(0, 200) +
                                               "', one of them '" + t.stored.substr(0, 200) + "'");
    indexNames();
}

std::unique_ptr<CheckpointSource> CheckpointSource::open(const std::string& path) {
    if (isServedName(path))
        throw OptionError("path", path +
                                      " is a model of another program, to which its weights "
                                      "belong; save it there as a checkpoint");
    std::error_code error;
    const auto absolute = fs::absolute(path, error);
    if (error || !fs::exists(absolute, error)) throw FileError(path, "does not exist");
    if (const auto both = adaptedPathsOf(absolute.string()); !both.base.empty())
        return openAdapted(open(both.base), both.adapter);
    // The weights of an adapter alone are no model; a folder may have a model as well.
    if (const auto adapter = adapterFolderOf(absolute.string());
        !adapter.empty() && !hasPublishedWeights(absolute))
        return openAdapted(open(baseOfAdapter(adapter)), adapter);
    if (!fs::is_directory(absolute, error)) {
        auto source = openWeightsFile(absolute.string());
        // The weights file of a published folder stands for the folder; any other may have its own
        // configuration.
        const auto name = absolute.filename().string();
        if (std::find(kPublishedNames.begin(), kPublishedNames.end(), name) ==
            kPublishedNames.end())
            source->addStoredConfig();
        source->addConfigFile((absolute.parent_path() / "config.json").string());
        source->addStoredConfig();
        source->addNanochatMeta(absolute.string());
        source->nameAsModel();
        return source;
    }
    const auto weights = weightsOf(absolute);
    auto source = openWeightsFile(weights);
    if (!adapterFolderOf(absolute.string()).empty()) source->noteAdapter();
    source->addConfigFile((absolute / "config.json").string());
    source->addStoredConfig();
    source->addNanochatMeta(weights);
    source->nameAsModel();
    return source;
}

const StoredTensor* CheckpointSource::find(std::string_view name) const {
    const auto found = m_byName.find(name);
    return found == m_byName.end() ? nullptr : &tensors()[found->second];
}

const StoredTensor* CheckpointSource::findLeftOut(std::string_view name) const {
    for (const auto& tensor : leftOut()) {
        const std::string_view stored = tensor.stored;
        const auto before = stored.size() - std::min(stored.size(), name.size());
        if (stored.ends_with(name) && (before == 0 || stored[before - 1] == '.')) return &tensor;
    }
    return nullptr;
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
    m_byName.clear();
    for (std::size_t i = 0; i < all.size(); ++i) m_byName.emplace(all[i].name, i);
}

namespace {

// A checkpoint in one safetensors file, or in several that an index names (formats.md section 1).

namespace fs = std::filesystem;
constexpr std::size_t kMaxShards = 512;  // each stays open

// The index of a sharded checkpoint: it decides which tensors are read, whatever else the shards
// hold.
struct ShardIndex {
    std::map<std::string, std::string> fileOf;
    std::map<std::string, std::string> metadata;

    /// Why a tensor of a shard is not read; empty where it is.
    std::string whyLeftOut(const std::string& tensor, const std::string& shard) const {
        const auto listed = fileOf.find(tensor);
        if (listed == fileOf.end()) return "is not listed by the index";
        return listed->second == shard ? "" : "is read from '" + listed->second + "'";
    }
};

ShardIndex readIndex(const std::string& path) {
    using nlohmann::json;
    const auto document = json::parse(readJsonText(path), nullptr, false);
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

class ShardedParts : public CheckpointParts {
public:
    void addIndex(const std::string& path, const ShardIndex& index) {
        m_files.push_back(path);
        for (const auto& [key, value] : index.metadata) m_metadata.emplace(key, value);
        std::set<std::string_view> present;
        for (const auto& tensor : m_tensors) present.insert(tensor.stored);
        for (const auto& [tensor, shard] : index.fileOf)
            if (!present.count(tensor)) m_absent[tensor] = shard;
    }

protected:
    /// Keeps a tensor that is not read with the reason.
    bool leavesOut(StoredTensor& tensor, const ShardIndex* index) {
        if (!index) return false;
        tensor.note = index->whyLeftOut(tensor.stored, fs::path(m_files.back()).filename());
        if (tensor.note.empty()) return false;
        m_leftOut.push_back(std::move(tensor));
        return true;
    }
};

class SafetensorsSource : public ShardedParts {
public:
    explicit SafetensorsSource(std::string form) { m_form = std::move(form); }

    /// Adds the tensors of a file; with `index`, those that the index assigns to it.
    void addFile(const std::string& path, const ShardIndex* index = nullptr) {
        m_shards.push_back(std::make_unique<SafetensorsFile>(path));
        const auto& file = *m_shards.back();
        const int number = static_cast<int>(m_files.size());
        m_files.push_back(path);
        m_bytes += file.size();
        for (const auto& entry : file.header().tensors) {
            StoredTensor tensor{entry.name,    entry.name, entry.dtype, entry.shape,
                                entry.bytes(), "",         number,      ""};
            if (leavesOut(tensor, index)) continue;
            m_byStored.emplace(entry.name, m_places.size());
            add(std::move(tensor));
            m_places.push_back({&file, &entry});
        }
        for (const auto& [key, value] : file.header().metadata) m_metadata.emplace(key, value);
    }

    void readPart(const StoredTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop) const override {
        const auto& place = m_places[numberOf(tensor)];
        place.file->readPart(*place.entry, at, out, std::move(stop));
    }

    std::optional<Place> placeOf(const StoredTensor& tensor) const override {
        const auto& entry = m_places[numberOf(tensor)];
        return Place{&entry.file->bytes(), entry.file->header().dataStart + entry.entry->begin};
    }

    // safetensors.torch.save_model() writes shared tensors once and says metadata[dropped] = kept.
    void addAliases() {
        std::vector<std::string> aliases;
        for (const auto& [dropped, kept] : m_metadata) {
            const auto found = m_byStored.find(kept);
            if (found == m_byStored.end() || m_byStored.count(dropped)) continue;
            StoredTensor alias = m_tensors[found->second];
            alias.name = alias.stored = dropped;
            m_places.push_back(m_places[found->second]);
            add(std::move(alias), found->second);
            aliases.push_back(dropped);
        }
        for (const auto& name : aliases) m_metadata.erase(name);  // the tensor refers to itself
    }

private:
    struct Entry {
        const SafetensorsFile* file;
        const TensorEntry* entry;
    };

    std::vector<std::unique_ptr<SafetensorsFile>> m_shards;
    std::vector<Entry> m_places;
    std::map<std::string, std::size_t> m_byStored;
};

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

// Opens the shards of an index, each once.
template <class Source>
std::unique_ptr<Source> openShards(const std::string& path, const char* form) {
    const ShardIndex index = readIndex(path);
    const auto shards = shardsOf(index, path);
    auto source = std::make_unique<Source>(form);
    for (const auto& shard : shards) {
        const std::string name = (fs::path(path).parent_path() / shard).string();
        requireTarget(name);
        requireShard(name, shards.size());
        contentOf(name);  // throws FileError if the shard holds no weights
        source->addFile(name, &index);
    }
    source->addIndex(path, index);
    return source;
}

}  // namespace

std::unique_ptr<CheckpointParts> openSafetensors(const std::string& path) {
    auto source = std::make_unique<SafetensorsSource>("safetensors");
    source->addFile(path);
    source->addAliases();
    return source;
}

std::unique_ptr<CheckpointParts> openShardedSafetensors(const std::string& path) {
    auto source = openShards<SafetensorsSource>(path, "sharded safetensors");
    source->addAliases();
    return source;
}

namespace {

// A checkpoint in a PyTorch archive, or in several that an index names.
class TorchSource : public ShardedParts {
public:
    explicit TorchSource(std::string form) { m_form = std::move(form); }

    void addFile(const std::string& path, const ShardIndex* index = nullptr) {
        const auto bytes = openFileBytes(path);
        m_archives.push_back(std::make_unique<TorchArchive>(bytes));
        const auto& archive = *m_archives.back();
        const int number = static_cast<int>(m_files.size());
        m_files.push_back(bytes->path());
        m_bytes += bytes->size();
        if (m_config.empty()) m_config = archive.config(), m_configFrom = archive.configFrom();
        for (const auto& [name, why] : archive.others())
            m_leftOut.push_back({name, name, "", {}, 0, "", number, why});
        std::vector<std::size_t> numbers(archive.tensors().size(), kItself);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto& t = archive.tensors()[i];
            StoredTensor tensor{t.name, t.name, t.dtype, t.shape, t.bytes, "", number, ""};
            if (leavesOut(tensor, index)) continue;
            // Tensors that share bytes have the number of the first one that is read.
            auto& first = numbers[t.sameAs == ArchiveTensor::kItself ? i : t.sameAs];
            add(std::move(tensor), first);
            if (first == kItself) first = m_places.size();
            m_places.push_back({&archive, &t});
        }
    }

    void readPart(const StoredTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop) const override {
        const auto& place = m_places[numberOf(tensor)];
        place.archive->readPart(*place.tensor, at, out, std::move(stop));
    }

private:
    struct Entry {
        const TorchArchive* archive;
        const ArchiveTensor* tensor;
    };
    std::vector<std::unique_ptr<TorchArchive>> m_archives;
    std::vector<Entry> m_places;
};

}  // namespace

std::unique_ptr<CheckpointParts> openTorchArchive(const std::string& path) {
    auto source = std::make_unique<TorchSource>("PyTorch archive");
    source->addFile(path);
    return source;
}

std::unique_ptr<CheckpointParts> openShardedTorchArchive(const std::string& path) {
    return openShards<TorchSource>(path, "sharded PyTorch archive");
}

}  // namespace relascope::core
