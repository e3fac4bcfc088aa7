// SPDX-License-Identifier: GPL-3.0-or-later
// convertCheckpoint() of checkpoint.h.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "checkpoint/checkpoint.h"
#include "checkpoint/family_form.h"
#include "checkpoint/nanochat_files.h"
#include "checkpoint/source.h"
#include "checkpoint/torch_archive_writer.h"
#include "files/atomic_file.h"
#include "files/byte_source.h"
#include "files/safetensors.h"
#include "model/architecture.h"
#include "options/published_config.h"
#include "text/tokenizer.h"
#include "text/tokenizer_pickle.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

// Reads the bytes of one tensor after the other, in pieces.
class Pump {
public:
    Pump(const CheckpointSource& source, std::stop_token stop,
         const std::function<bool(double)>& progress)
        : m_source(source), m_stop(std::move(stop)), m_progress(progress) {
        for (const auto& t : source.tensors())
            if (t.sameAs.empty()) m_total += t.bytes;
    }
    void operator()(const StoredTensor& tensor, const ByteSink& sink) {
        m_buffer.resize(
            std::min<std::uint64_t>(kReadPiece, std::max(m_buffer.size(), tensor.bytes)));
        for (std::uint64_t at = 0; at < tensor.bytes;) {
            const auto part =
                std::span(m_buffer).first(std::min<std::uint64_t>(kReadPiece, tensor.bytes - at));
            m_source.readPart(tensor, at, part, m_stop);
            sink(part);
            at += part.size();
            m_done += part.size();
            if (m_stop.stop_requested() ||
                (m_progress &&
                 !m_progress(static_cast<double>(m_done) / static_cast<double>(m_total))))
                throw Cancelled();
        }
    }

private:
    const CheckpointSource& m_source;
    std::stop_token m_stop;
    const std::function<bool(double)>& m_progress;
    std::vector<std::uint8_t> m_buffer;
    std::uint64_t m_total = 0, m_done = 0;
};

// How tensors with several names are stored: once, under the first of their names, with the others
// in the metadata (save_model() of the published package, which the hub's language models are
// loaded by), or under every name (required by load_state_dict() of all other models).
enum class SharedTensors { Once, EveryName };

void writeAsSafetensors(const CheckpointSource& source, const std::string& path,
                        const std::string& configuration, Pump& pump, SharedTensors names) {
    std::map<std::string, std::string>
        first;  // first name of a shared tensor, by the name it is read under
    for (const auto& t : source.tensors())
        if (!t.sameAs.empty()) {
            auto& name = first.emplace(t.sameAs, t.sameAs).first->second;
            name = std::min(name, t.name);
        }
    std::map<std::string, std::string> metadata = source.metadata();
    metadata.emplace("format", "pt");
    if (!configuration.empty()) metadata[kConfigKey] = configuration;
    std::map<std::string, const StoredTensor*> original;
    std::vector<TensorEntry> entries;
    for (const auto& t : source.tensors()) {
        const auto& own = t.sameAs.empty() ? t.name : t.sameAs;
        const auto shared = first.find(own);
        const auto& kept = shared == first.end() ? own : shared->second;
        if (names == SharedTensors::EveryName) {
            metadata.erase(t.name);
        } else if (t.name != kept) {
            metadata[t.name] = kept;
            continue;
        }
        entries.push_back({t.name, t.dtype, t.shape, 0, t.bytes});
        original[t.name] = source.find(own);
    }
    SafetensorsWriter writer(path, std::move(entries), metadata);
    for (const auto& entry : writer.tensors())
        pump(*original.at(entry.name), [&](auto bytes) { writer.write(bytes); });
    writer.commit();
}

void requireRoom(const CheckpointSource& source, const std::string& out) {
    std::uint64_t bytes = 1 << 20;
    for (const auto& t : source.tensors())
        if (t.sameAs.empty()) bytes += t.bytes;
    const auto parent = fs::absolute(out).parent_path().string();
    if (const auto room = freeBytes(parent); room < bytes && fs::is_directory(parent))
        throw DiskFull(out, "needs " + std::to_string(bytes >> 20) + " MiB, " +
                                std::to_string(room >> 20) + " MiB are free; free some disk space");
}

// The output must not be one of the input files.
void requireAnother(const CheckpointSource& source, const std::string& out) {
    std::error_code error;
    for (const auto& file : source.files())
        if (fs::equivalent(file, out, error) && !error)
            throw FileError(out, "is the checkpoint itself; choose another name");
}

void requireCheckpointFolder(const std::string& out) {
    std::error_code error;
    if (fs::exists(out, error) && !fs::is_directory(out, error))
        throw FileError(out, "is a file; end the name in .safetensors or .pt to write a file");
    if (fs::is_directory(out, error) && !fs::is_empty(out, error) &&
        !fs::is_regular_file(fs::path(out) / "model.safetensors", error))
        throw FileError(out, "is a folder with other files; choose an empty folder or a new name");
}

// The configuration with the names of the published package; unchanged if it describes no known
// model. The checkpoint of a run gets the configuration of the run.
std::string publishedConfig(const CheckpointSource& source, bool* hubModel) {
    if (isFamilyConfig(source.config())) return source.config();
    try {
        const auto model = checkpointModel(source);
        *hubModel = model.info().plainConfig;
        return modelToPublishedConfig(model);
    } catch (const FileError&) {
        return source.config();
    }
}

}  // namespace

void convertCheckpoint(const std::string& in, const std::string& out, std::stop_token stop,
                       const std::function<bool(double)>& progress) {
    const auto source = CheckpointSource::open(in);
    const bool torch = out.ends_with(".pt") || out.ends_with(".pth");
    const bool folder = !torch && !out.ends_with(".safetensors");
    const std::string weights = folder ? out + "/model.safetensors" : out;
    bool hubModel = false;
    const std::string configuration = publishedConfig(*source, &hubModel);
    if (folder) {
        if (configuration.empty())
            throw FileError(in,
                            "has no configuration (config.json), which a folder needs; put one "
                            "next to it, or write a .safetensors or .pt file");
        requireCheckpointFolder(out);
    } else if (fs::is_directory(out)) {
        throw FileError(out, "is a folder");
    }
    requireAnother(*source, weights);
    if (folder) requireAnother(*source, out + "/config.json");
    requireRoom(*source, out);

    // A language model is of little use without its tokenizer, which is therefore copied.
    TokenizerPtr tokenizer;
    const bool family = isFamilyConfig(source->config());
    try {
        if (folder && hubModel) tokenizer = tokenizerBeside(source->files().at(0), 0);
    } catch (const Error&) {  // an unreadable one is not copied; the conversion still succeeds
    }
    Pump pump(*source, std::move(stop), progress);
    if (torch) {
        // nanochat loads state dictionaries alone.
        const bool bare = family && nanochatStep(out) >= 0;
        writeTorchArchive(out, source->tensors(), bare ? "" : configuration, std::ref(pump));
        if (!bare) return;
        const auto& from = source->files().at(0);
        writeNanochatMeta(out, from, configuration);
        copyTokenizerOfRanks(from, fs::path(out).parent_path().string());
        return;
    }
    std::error_code error;
    const bool made = folder && !fs::exists(out, error);
    if (folder) makeDirectories(out);
    try {
        // The configuration is small; writing it succeeds if writing the weights did.
        std::optional<AtomicFile> config;
        if (folder) {
            config.emplace(out + "/config.json");
            config->write(configuration);
        }
        // A file alone has the configuration in its metadata.
        writeAsSafetensors(
            *source, weights, folder ? "" : configuration, pump,
            family || (folder && !hubModel) ? SharedTensors::EveryName : SharedTensors::Once);
        if (config) config->commit();
        if (folder && family) {
            const auto& from = source->files().at(0);
            copyFamilyFiles(fs::path(from).parent_path().string(), out, false);
            copyNanochatMeta(from, out);
            copyTokenizerOfRanks(from, out);
        }
        if (folder && tokenizer) writeTokenizer(*tokenizer, out + "/tokenizer.json");
    } catch (...) {
        if (made) fs::remove(out, error);  // empty again, as the temporary files have been removed
        throw;
    }
}

}  // namespace relascope::core
