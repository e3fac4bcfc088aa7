// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/adapter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "checkpoint/tensor_numbers.h"
#include "files/atomic_file.h"
#include "files/command_line.h"
#include "files/foreign_file.h"
#include "files/home_folder.h"
#include "files/safetensors.h"
#include "files/sha256.h"
#include "hub/hub_cache.h"
#include "model/public/family.h"
#include "options/published_config.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char *kConfig = "adapter_config.json", *kLink = "adapted.json";
constexpr std::array kWeights = {"adapter_model.safetensors", "adapter_model.bin"};
constexpr std::int64_t kMostRank = 4096;
constexpr const char* kTiedNote =
    ", which changes the output that is tied to it as well, as PEFT's merge_and_unload() does; its "
    "model before that leaves the output as it was";

std::string weightsOfAdapter(const std::string& folder) {
    std::error_code error;
    for (const char* name : kWeights) {
        requireTarget(folder + "/" + name);
        if (fs::is_regular_file(fs::path(folder) / name, error)) return folder + "/" + name;
    }
    throw FileError(folder, std::string("has an ") + kConfig + " and no weights beside it (" +
                                kWeights[0] + "); copy or download them");
}

// The settings of an adapter that decide how tensors are merged.
class AdapterConfig {
public:
    explicit AdapterConfig(const std::string& folder)
        : m_path(folder + "/" + kConfig),
          m_json(Json::parse(readJsonText(m_path, 1u << 20), nullptr, false)) {
        if (!m_json.is_object()) throw FileError(m_path, "is not a JSON object");
        requireLora();
    }

    std::string base() const {
        const auto found = m_json.find("base_model_name_or_path");
        return found != m_json.end() && found->is_string() ? found->get<std::string>() : "";
    }
    std::string revision() const {
        const auto found = m_json.find("revision");
        return found != m_json.end() && found->is_string() ? found->get<std::string>() : "main";
    }
    bool transposed() const { return isTrue("fan_in_fan_out"); }

    double scale(const std::string& module, std::int64_t rank) const {
        double alpha = number("lora_alpha", m_json.value("lora_alpha", Json()));
        if (const auto own = m_json.find("alpha_pattern"); own != m_json.end() && own->is_object())
            for (const auto& [name, value] : own->items()) {
                if (name.find_first_of("^$*+?()[]{}|\\") != std::string::npos)
                    refuse("alpha_pattern", name, "names of modules without signs would open");
                if (module == name || module.ends_with("." + name))
                    alpha = number("alpha_pattern." + name, value);
            }
        const auto r = static_cast<double>(rank);
        return alpha / (isTrue("use_rslora") ? std::sqrt(r) : r);
    }

private:
    bool isTrue(const char* key) const {
        const auto found = m_json.find(key);
        return found != m_json.end() && *found == true;
    }
    [[noreturn]] void refuse(const std::string& key, const Json& value,
                             const std::string& wanted) const {
        throw FileError(
            m_path, "'" + key + "' is " +
                        value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 60) +
                        ", which is not merged; " + wanted);
    }
    double number(const std::string& key, const Json& value) const {
        if (!value.is_number() || !std::isfinite(value.get<double>()))
            refuse(key, value, "a number would open");
        return value.get<double>();
    }
    void requireLora() const {
        const auto type = m_json.value("peft_type", Json());
        if (type != "LORA") refuse("peft_type", type, "\"LORA\" would open");
        // Further forms of LoRA, which do more than add B A to a weight.
        for (const char* key :
             {"use_dora", "use_qalora", "use_bdlora", "layer_replication", "target_parameters",
              "trainable_token_indices", "alora_invocation_tokens", "arrow_config", "kasa_config",
              "monteclora_config", "velora_config"}) {
            const auto value = m_json.value(key, Json());
            if (!value.is_null() && value != false)
                refuse(key, value, "an adapter without it would open");
        }
        const auto start = m_json.value("init_lora_weights", Json(true));
        if (!start.is_boolean() && start != "gaussian" && start != "eva" && start != "orthogonal")
            refuse("init_lora_weights", start,
                   "it begins from a changed base model: convert the adapter to a plain one");
    }

    std::string m_path;
    Json m_json;
};

// A matrix [rows, columns] of an adapter, in double precision.
struct Factor {
    std::int64_t rows = 0, columns = 0;
    std::vector<double> values;

    Factor transposed() const {
        Factor t{columns, rows, std::vector<double>(values.size())};
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
                t.values[static_cast<std::size_t>(j * rows + i)] =
                    values[static_cast<std::size_t>(i * columns + j)];
        return t;
    }
};

Factor factorOf(const CheckpointSource& source, const StoredTensor& tensor) {
    if (tensor.count() == 0)
        throw FileError(source.files().at(0),
                        "tensor '" + tensor.name +
                            "' has no values, as adapters that were saved in shards of ZeRO-3 do; "
                            "gather the weights and save it again");
    if (tensor.shape.size() != 2 || !hasNumbers(tensor.dtype))
        throw FileError(source.files().at(0), "tensor '" + tensor.name +
                                                  "' is no matrix of numbers; only adapters of "
                                                  "linear layers and embeddings are merged");
    std::vector<std::uint8_t> bytes(tensor.bytes);
    source.read(tensor, bytes);
    Factor factor{tensor.shape[0], tensor.shape[1],
                  std::vector<double>(static_cast<std::size_t>(tensor.count()))};
    decodeNumbers(tensor.dtype, bytes, factor.values);
    return factor;
}

// The change of one tensor of the base by an adapter: all of it is replaced, left times right is
// added, or both.
struct Change {
    Factor left, right;  // [rows, r], scaled; [r, columns]
    const StoredTensor* replacement = nullptr;
};

class AdaptedSource : public CheckpointSource {
public:
    AdaptedSource(std::unique_ptr<CheckpointSource> base, const std::string& adapter)
        : m_base(std::move(base)),
          m_config(adapter),
          m_adapter(openWeightsFile(weightsOfAdapter(adapter))),
          m_tensors(m_base->tensors()),
          m_files(m_base->files()) {
        m_form = m_base->form() + " with a LoRA adapter";
        m_files.push_back(m_adapter->files().at(0));
        m_files.push_back(adapter + "/" + kConfig);
        m_bytes = m_base->bytes() + m_adapter->bytes();
        m_adapter->nameAsModel();
        findTiedOutput();
        readChanges();
        requireWholeTie();
        for (auto& tensor : m_tensors) describe(tensor);
        indexNames();
    }

    const std::string& form() const override { return m_form; }
    const std::vector<std::string>& files() const override { return m_files; }
    const std::vector<StoredTensor>& tensors() const override { return m_tensors; }
    const std::vector<StoredTensor>& leftOut() const override { return m_base->leftOut(); }
    const std::map<std::string, std::string>& absent() const override { return m_base->absent(); }
    const std::map<std::string, std::string>& metadata() const override {
        return m_base->metadata();
    }
    const std::string& config() const override { return m_base->config(); }
    const std::string& configFrom() const override { return m_base->configFrom(); }

    std::optional<Place> placeOf(const StoredTensor& tensor) const override {
        return changeOf(tensor) ? std::nullopt : m_base->placeOf(*inBase(tensor));
    }

    void readPart(const StoredTensor& tensor, std::uint64_t at, std::span<std::uint8_t> out,
                  std::stop_token stop) const override {
        const auto* change = changeOf(tensor);
        if (!change) return m_base->readPart(*inBase(tensor), at, out, stop);
        // Elements, whose bytes are as many as the type has; the answer is F32.
        const auto& from = change->replacement ? *change->replacement : *inBase(tensor);
        const auto& source = change->replacement ? *m_adapter : *m_base;
        const auto size = static_cast<std::uint64_t>(dtypeBits(from.dtype) / 8);
        const auto first = at / sizeof(float), count = out.size() / sizeof(float);
        std::vector<std::uint8_t> bytes(count * size);
        source.readPart(from, first * size, bytes, std::move(stop));
        std::vector<double> values(count);
        decodeNumbers(from.dtype, bytes, values);
        if (change->left.rows > 0) add(*change, first, values);
        for (std::size_t i = 0; i < count; ++i) {
            const auto value = static_cast<float>(values[i]);
            std::memcpy(out.data() + i * sizeof(float), &value, sizeof(float));
        }
    }

private:
    const StoredTensor* inBase(const StoredTensor& tensor) const {
        const auto* own = m_base->find(tensor.name);
        if (!own) throw FileError(m_files.at(0), "has no tensor '" + tensor.name + "'");
        return own;
    }
    // The change of the tensor itself, or of the one that it shares its bytes with; null for none.
    const Change* changeOf(const StoredTensor& tensor) const {
        const auto found = m_changes.find(tensor.sameAs.empty() ? tensor.name : tensor.sameAs);
        return found == m_changes.end() ? nullptr : &found->second;
    }

    static void add(const Change& change, std::uint64_t first, std::span<double> values) {
        const auto columns = static_cast<std::uint64_t>(change.right.columns);
        const auto rank = static_cast<std::size_t>(change.left.columns);
        for (std::size_t done = 0; done < values.size();) {
            const auto row = (first + done) / columns, column = (first + done) % columns;
            const auto count = std::min<std::size_t>(columns - column, values.size() - done);
            for (std::size_t k = 0; k < rank; ++k) {
                const double factor = change.left.values[row * rank + k];
                const double* right = &change.right.values[k * columns + column];
                for (std::size_t i = 0; i < count; ++i) values[done + i] += factor * right[i];
            }
            done += count;
        }
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw FileError(m_adapter->files().at(0), what);
    }

    // The tensor of the base that a name of the adapter means: prefixes of base models may be
    // missing on either side.
    const StoredTensor* meant(const std::string& name) const {
        if (const auto* exact = m_base->find(name)) return exact;
        const StoredTensor* found = nullptr;
        for (const auto& tensor : m_base->tensors()) {
            if (!tensor.name.ends_with("." + name) && !name.ends_with("." + tensor.name)) continue;
            if (found) return nullptr;
            found = &tensor;
        }
        return found;
    }

    void readChanges() {
        if (m_adapter->tensors().empty())
            fail(
                "holds no tensor, as adapters that were saved in shards of ZeRO-3 do; gather the "
                "weights and save it again");
        struct Pair {
            const StoredTensor *a = nullptr, *b = nullptr;
            bool embedding = false;
        };
        std::map<std::string, Pair> pairs;  // by module
        for (const auto& tensor : m_adapter->tensors()) {
            const auto& name = tensor.name;
            const auto at = std::min(name.find(".lora_A"), name.find(".lora_embedding_A")),
                       bt = std::min(name.find(".lora_B"), name.find(".lora_embedding_B"));
            if (at == std::string::npos && bt == std::string::npos) {
                replace(tensor);
                continue;
            }
            if (name.ends_with(".bias"))
                fail("tensor '" + name + "' is a bias of an adapter, which is not merged");
            auto& pair = pairs[name.substr(0, std::min(at, bt))];
            auto& part = at != std::string::npos ? pair.a : pair.b;
            if (part)
                fail("holds several adapters for '" + name.substr(0, std::min(at, bt)) +
                     "'; save them one by one");
            part = &tensor;
            pair.embedding = name.find(".lora_embedding_") != std::string::npos;
        }
        for (const auto& [module, pair] : pairs) {
            if (!pair.a || !pair.b)
                fail("has only one of the two matrices of '" + module + "'; save it again");
            merge(module, *pair.a, *pair.b, pair.embedding);
        }
    }

    void merge(const std::string& module, const StoredTensor& a, const StoredTensor& b,
               bool embedding) {
        const auto* own = meant(module + ".weight");
        if (!own)
            fail("changes '" + module + "', which the base model does not have; is " +
                 m_base->files().at(0) + " its base?");
        auto left = factorOf(*m_adapter, b), right = factorOf(*m_adapter, a);
        const auto rank = right.rows;
        if (left.columns != rank || rank > kMostRank)
            fail("has matrices of '" + module + "' that do not fit each other");
        const double scale = m_config.scale(module, rank);
        const auto fits = [&] {
            return own->shape == std::vector<std::int64_t>{left.rows, right.columns};
        };
        if (embedding || m_config.transposed() || !fits()) {
            auto turned = left.transposed();
            left = right.transposed(), right = std::move(turned);
        }
        if (!fits() || !hasNumbers(own->dtype))
            fail("has matrices of '" + module + "' that do not fit the tensor '" + own->name +
                 "' of the base model");
        for (auto& value : left.values) value *= scale;
        auto& change = m_changes[own->sameAs.empty() ? own->name : own->sameAs];
        change.left = std::move(left), change.right = std::move(right);
    }

    // A module that was trained whole.
    void replace(const StoredTensor& tensor) {
        auto name = tensor.name;
        for (const std::string part :
             {".modules_to_save.default.", ".modules_to_save.", ".base_layer."})
            if (const auto at = name.find(part); at != std::string::npos)
                name.replace(at, part.size(), ".");
        const auto* own = meant(name);
        if (!own && isTiedOutput(name) && tensor.shape.size() == 2 && hasNumbers(tensor.dtype)) {
            // The output gets a tensor of its own, and with it the model one that is not tied.
            auto output = tensor;
            output.name = output.stored = m_output;
            m_tensors.push_back(output);
            m_changes[m_output].replacement = &tensor;
            return;
        }
        if (!own || own->shape != tensor.shape || !hasNumbers(tensor.dtype))
            fail("tensor '" + tensor.name +
                 "' is neither a matrix of LoRA nor a tensor of the base model, so that it cannot "
                 "be merged");
        m_changes[own->sameAs.empty() ? own->name : own->sameAs].replacement = &tensor;
        m_replaced.insert(own->name);
    }

    // Finds the output that the configuration's model ties to its embedding, where the base does
    // not store it.
    void findTiedOutput() {
        try {
            const auto model = modelFromPublishedConfig(m_base->config());
            for (const auto& tensor : fileTensors(model)) {
                if (tensor.optional && !meant(tensor.name)) m_output = tensor.name;
                if (tensor.parts.front() == "layers.token_embedder.weight")
                    m_embedding = tensor.name;
            }
        } catch (const Error&) {  // the model is of no family
        }
    }
    bool isTiedOutput(const std::string& name) const {
        return !m_output.empty() && (name == m_output || name.ends_with("." + m_output));
    }
    // PEFT trains a copy of the embedding and leaves the output that was tied to it as it was.
    void requireWholeTie() const {
        if (m_output.empty() || m_changes.count(m_output)) return;
        for (const auto& name : m_replaced)
            if (name == m_embedding || name.ends_with("." + m_embedding))
                fail(
                    "trains the embedding alone of a model whose output is tied to it, which no "
                    "tensor of the base holds apart; save it with '" +
                    m_output.substr(0, m_output.rfind('.')) + "' among modules_to_save");
    }

    bool isTied(const StoredTensor& tensor) const {
        if (!tensor.sameAs.empty()) return true;
        const bool embedding = !m_embedding.empty() && (tensor.name == m_embedding ||
                                                        tensor.name.ends_with("." + m_embedding));
        return embedding && !m_output.empty() && !m_changes.count(m_output);
    }

    void describe(StoredTensor& tensor) const {
        const auto* change = changeOf(tensor);
        if (!change) return;
        tensor.dtype = "F32";
        tensor.bytes = 4 * static_cast<std::uint64_t>(tensor.count());
        tensor.note = change->replacement ? "as the adapter has it"
                                          : "with the adapter's change of rank " +
                                                std::to_string(change->left.columns);
        if (!change->replacement && isTied(tensor)) tensor.note += kTiedNote;
    }

    std::unique_ptr<CheckpointSource> m_base;
    AdapterConfig m_config;
    std::unique_ptr<CheckpointParts> m_adapter;
    std::vector<StoredTensor> m_tensors;
    std::vector<std::string> m_files;
    std::string m_form;
    std::string m_output, m_embedding;  // names of a tied output that is not stored, and its tie
    std::set<std::string> m_replaced;
    std::map<std::string, Change> m_changes;  // by the name of the tensor that has the bytes
};

}  // namespace

std::string adapterFolderOf(const std::string& path) {
    std::error_code error;
    const fs::path given(path);
    const auto folder = fs::is_directory(given, error) ? given : given.parent_path();
    if (fs::is_directory(given, error)) requireTarget((folder / kConfig).string());
    if (!fs::is_regular_file(folder / kConfig, error)) return {};
    const auto name = given.filename().string();
    const bool own = folder == given || name == kConfig ||
                     std::find(kWeights.begin(), kWeights.end(), name) != kWeights.end();
    return own ? folder.string() : std::string();
}

std::string baseOfAdapter(const std::string& adapter) {
    const AdapterConfig config(adapter);
    const auto name = config.base();
    std::error_code error;
    if (name.empty())
        throw FileError(adapter + "/" + kConfig,
                        "names no base model ('base_model_name_or_path' is null or missing); open "
                        "the base model with " +
                            shellText({"--adapter", adapter}));
    for (const fs::path& place :
         {fs::path(name), fs::path(adapter) / name, fs::path(adapter).parent_path() / name})
        if (fs::exists(place, error)) return place.string();
    std::string fetch;
    try {
        const auto model = hubModel(name + "@" + config.revision());
        if (const auto found = findCachedModel(model)) return found->path;
        fetch = "fetch that with: " + commandLine({"fetch", model.text()}) + ", or ";
    } catch (const OptionError&) {  // no name of the hub
    }
    throw FileError(adapter, "is a LoRA adapter of '" + name.substr(0, 200) +
                                 "', which is not on this machine; " + fetch +
                                 "open the base model with " + shellText({"--adapter", adapter}));
}

std::unique_ptr<CheckpointSource> openAdapted(std::unique_ptr<CheckpointSource> base,
                                              const std::string& adapter) {
    return std::make_unique<AdaptedSource>(std::move(base), adapter);
}

std::string noteOfAdapter(const CheckpointSource& source) {
    for (const auto& tensor : source.tensors())
        if (tensor.note.ends_with(kTiedNote)) return "'" + tensor.name + "' is " + tensor.note;
    return {};
}

std::string adaptedFolder(const std::string& base, const std::string& adapter) {
    const auto whole = [](const std::string& path) {
        return fs::absolute(path).lexically_normal().string();
    };
    const auto folder = adapterFolderOf(adapter);
    if (folder.empty())
        throw FileError(adapter, std::string("is no adapter; a folder with ") + kConfig + " and " +
                                     kWeights[0] + " is one");
    const Json link = {{"base", whole(base)}, {"adapter", whole(folder)}};
    const auto text = link.dump(1) + "\n";
    const auto name = fs::path(whole(base + "/")).parent_path().filename().string() + " + " +
                      fs::path(whole(folder + "/")).parent_path().filename().string();
    const auto cache = programCacheFolder();
    if (cache.empty())
        throw Error("there is no cache folder, as HOME is not set; set it, or XDG_CACHE_HOME");
    const auto place = cache + "/adapted/" + sha256Of(text).substr(0, 16) + "/" + name;
    makeDirectories(place);
    writeTextFile(place + "/" + kLink, text);
    return place;
}

AdaptedPaths adaptedPathsOf(const std::string& folder) {
    const auto path = folder + "/" + kLink;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return {};
    const auto json = Json::parse(readTextFile(path, 1u << 16), nullptr, false);
    if (!json.is_object() || !json.contains("base") || !json["base"].is_string() ||
        !json.contains("adapter") || !json["adapter"].is_string())
        throw FileError(path, "does not name a base model and an adapter; remove it");
    return {json["base"].get<std::string>(), json["adapter"].get<std::string>()};
}

std::string adapterAt(const std::string& path) {
    const auto both = adaptedPathsOf(path);
    return both.adapter.empty() ? adapterFolderOf(path) : both.adapter;
}

TokenizerPtr checkpointTokenizer(const std::string& path, std::int64_t vocabulary) {
    const auto adapter = adapterAt(path);
    if (adapter.empty()) return tokenizerBeside(path, vocabulary);
    if (auto own = tokenizerBeside(adapter, 0)) return own;
    const auto base = adaptedPathsOf(path).base;
    return tokenizerBeside(base.empty() ? baseOfAdapter(adapter) : base, vocabulary);
}

}  // namespace relascope::core
