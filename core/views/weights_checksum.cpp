// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/weights_checksum.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "checkpoint/kept_weights.h"
#include "checkpoint/series.h"
#include "checkpoint/source.h"
#include "data/token_cache.h"
#include "files/mapped_file.h"
#include "files/sha256.h"
#include "model/recorded/recorded_options.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "types/error.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSha256 = "sha256:";

bool isSha256(const std::string& text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

/// The name of the blob that a link of the hub's cache leads to, if that is its SHA-256.
std::string blobOf(const std::string& path) {
    std::error_code error;
    const auto blob = fs::read_symlink(path, error);
    if (error || blob.parent_path().filename() != "blobs") return {};
    return isSha256(blob.filename().string()) ? blob.filename().string() : std::string();
}

std::string contentOf(const std::string& path) {
    const MappedFile file(path);
    std::vector<std::uint8_t> part(std::size_t{1} << 20);
    Sha256 hash;
    for (std::uint64_t at = 0; at < file.size();) {
        const auto bytes = std::min<std::uint64_t>(part.size(), file.size() - at);
        file.read(at, {part.data(), static_cast<std::size_t>(bytes)});
        hash.add(part.data(), static_cast<std::size_t>(bytes));
        at += bytes;
    }
    return hash.hex();
}

std::string checksumOf(const std::vector<std::string>& files) {
    if (files.size() == 1) return fileChecksum(files[0]);
    Sha256 hash;
    for (const auto& file : files) {
        hash.addField(fs::path(file).filename().string());
        hash.addField(fileChecksum(file));
    }
    return kSha256 + hash.hex();
}

std::string ofCheckpoint(const std::string& path) {
    return checksumOf(CheckpointSource::open(path)->files());
}

std::string ofKept(const std::string& run, const KeptStep& kept) {
    if (kept.form == KeptForm::External) {
        const auto place = placeOf(readSeriesStep(keptFolder(run), kept.step));
        if (place.empty())
            throw FileError(run, "the weights of step " + std::to_string(kept.step) +
                                     " are not on this machine; open the step once, which "
                                     "fetches them");
        return ofCheckpoint(place);
    }
    char text[16];
    std::snprintf(text, sizeof text, "%08x", kept.checksum);
    return std::string("crc32:") + text;
}

/// The step that a word stands for; -1: the newest there is.
std::int64_t stepNamed(const std::string& run, const std::string& word) {
    std::int64_t step = -1;
    if (word.empty() || word == "last" || word == "best") {
        const auto info = readRunInfo(run);
        if (word == "best") return info.bestStep;
        return word.empty() ? info.kept.step : -1;
    }
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), step);
    if (error != std::errc() || end != word.data() + word.size() || step < 0)
        throw OptionError("checkpoint", "'" + word + "' is not last, best or a step");
    return step;
}

/// The weights of the newest checkpoint, or of that step; empty without one.
std::string checkpointFile(const std::string& run, std::int64_t step) {
    std::error_code none;
    std::int64_t newest = -1;
    for (const auto& entry : fs::directory_iterator(fs::path(run) / "checkpoints", none)) {
        const auto name = entry.path().filename().string();
        std::int64_t number = -1;
        if (!name.starts_with("step-") || !fs::exists(entry.path() / "manifest.json", none))
            continue;
        const auto [end, error] =
            std::from_chars(name.data() + 5, name.data() + name.size(), number);
        if (error != std::errc() || end != name.data() + name.size()) continue;
        if (step >= 0 ? number == step : number > newest) newest = number;
    }
    if (newest < 0) return {};
    return run + "/checkpoints/step-" + std::to_string(newest) + "/model.safetensors";
}

/// The maps captured at that step, or at the last one; empty without any.
std::string captureFile(const std::string& run, std::int64_t step) {
    const auto folder = run + "/captures";
    const auto steps = captureSteps(folder);
    if (steps.empty()) return {};
    const auto at = step < 0 ? steps.back() : step;
    if (std::find(steps.begin(), steps.end(), at) == steps.end()) return {};
    return folder + "/step-" + std::to_string(at) + ".safetensors";
}

}  // namespace

std::string fileChecksum(const std::string& path) {
    if (const auto blob = blobOf(path); !blob.empty()) return kSha256 + blob;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode))
        throw FileError(path, "is not a file that can be read");
    Sha256 key;
    key.addField("checksum");
    key.addField(fs::absolute(path).lexically_normal().string());
    for (const auto part :
         {static_cast<std::int64_t>(facts.st_size), static_cast<std::int64_t>(facts.st_ino),
          static_cast<std::int64_t>(facts.st_mtim.tv_sec),
          static_cast<std::int64_t>(facts.st_mtim.tv_nsec)})
        key.addField(std::to_string(part));
    const auto name = key.hex();
    if (const auto known = readCachedFact(name); known && known->is_object())
        if (const auto at = known->find("sha256"); at != known->end() && at->is_string())
            if (const auto hash = at->get<std::string>(); isSha256(hash)) return kSha256 + hash;
    const auto hash = contentOf(path);
    // A file that was just written may change again within the precision of its time.
    if (std::time(nullptr) > facts.st_mtim.tv_sec + 2) writeCachedFact(name, {{"sha256", hash}});
    return kSha256 + hash;
}

std::string weightsChecksum(const std::string& path, const std::string& checkpoint) {
    if (!isRunFolder(path)) return ofCheckpoint(path);
    // What is shown of a run that another program recorded are its captures.
    const bool recorded = isRecorded(readRunOptions(path).model);
    const auto step = recorded && checkpoint.empty() ? -1 : stepNamed(path, checkpoint);
    if (const auto maps = recorded ? captureFile(path, step) : std::string(); !maps.empty())
        return fileChecksum(maps);
    if (const auto file = checkpointFile(path, step); !file.empty()) return fileChecksum(file);
    const KeptWeights kept(path);
    const auto here = kept.localSteps();
    const auto* found = step >= 0 ? kept.nearest(step) : here.empty() ? nullptr : &here.back();
    if (found) return ofKept(path, *found);
    const auto captured = captureFile(path, step);
    if (captured.empty()) throw FileError(path, "has neither weights nor captured maps yet");
    return fileChecksum(captured);
}

}  // namespace relascope::core
