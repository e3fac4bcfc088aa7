// SPDX-License-Identifier: GPL-3.0-or-later
#include "hub/hub_cache.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "files/atomic_file.h"
#include "files/command_line.h"
#include "files/home_folder.h"
#include "types/error.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderPrefix = "models--";

// "~/x" and "$NAME/x" or "${NAME}/x", as shells replace them in a word; names that are not set
// stay.
std::string expanded(std::string text) {
    if (text == "~" || text.starts_with("~/"))
        text = homeFolder("a folder that begins with '~'", "an absolute path") + text.substr(1);
    for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
        const bool braced = text.compare(at, 2, "${") == 0;
        const auto first = at + (braced ? 2 : 1);
        auto end = first;
        while (end < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
            ++end;
        const auto name = text.substr(first, end - first);
        const bool whole = !name.empty() && (!braced || text.compare(end, 1, "}") == 0);
        if (!whole || !std::getenv(name.c_str())) {
            at = std::max(end, at + 1);
            continue;
        }
        const auto value = environment(name.c_str());
        text.replace(at, end + (braced ? 1 : 0) - at, value);
        at += value.size();
    }
    return text;
}

// One part of a name, as the hub allows it.
bool isNamePart(std::string_view part) {
    return !part.empty() && part.size() <= 96 && part != "." && part != ".." &&
           part.find("--") == std::string_view::npos && part.find("..") == std::string_view::npos &&
           std::all_of(part.begin(), part.end(), [](unsigned char c) {
               return std::isalnum(c) || c == '-' || c == '_' || c == '.';
           });
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

bool hasWeights(const fs::path& snapshot) {
    std::error_code error;
    for (fs::directory_iterator it(snapshot, error), end; !error && it != end;
         it.increment(error)) {
        const auto ending = it->path().extension();
        if (ending == ".safetensors" || ending == ".bin") return true;
    }
    return false;
}

std::int64_t secondsOf(const fs::path& path) {
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    if (error) return 0;
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::file_clock::to_sys(time).time_since_epoch())
        .count();
}

// The only snapshot whose commit begins with a shortened one; empty if there is none or several.
std::string wholeCommit(const fs::path& snapshots, const std::string& begin) {
    constexpr std::size_t kFewest = 7;
    std::string found;
    std::error_code error;
    if (begin.size() < kFewest) return {};
    for (fs::directory_iterator it(snapshots, error), end; !error && it != end;
         it.increment(error)) {
        const auto name = it->path().filename().string();
        if (!name.starts_with(begin)) continue;
        if (!found.empty()) return {};
        found = name;
    }
    return found;
}

}  // namespace

HubModel hubModel(const std::string& text) {
    HubModel model;
    const auto at = text.find('@');
    model.name = text.substr(0, at);
    if (at != std::string::npos) model.revision = text.substr(at + 1);
    const auto slash = model.name.find('/');
    const bool named = slash == std::string::npos ? isNamePart(model.name)
                                                  : isNamePart(model.name.substr(0, slash)) &&
                                                        isNamePart(model.name.substr(slash + 1));
    if (!named)
        throw OptionError("model", "'" + text.substr(0, 200) +
                                       "' is not the name of a model; give ORG/NAME or "
                                       "ORG/NAME@REVISION");
    if (!isHubFileName(model.revision))
        throw OptionError("model", "'" + model.revision.substr(0, 200) +
                                       "' is not a revision; give a branch, a tag or a commit");
    return model;
}

std::string hubPlace(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const auto text = environment(name); !text.empty()) return expanded(text);
    return {};
}

std::string hubCacheFolder() {
    if (const auto cache =
            hubPlace({"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"});
        !cache.empty())
        return cache;
    if (const auto home = hubPlace({"HF_HOME"}); !home.empty()) return home + "/hub";
    if (const auto cache = hubPlace({"XDG_CACHE_HOME"}); !cache.empty())
        return cache + "/huggingface/hub";
    return homeFolder("the cache of the hub", "HF_HOME") + "/.cache/huggingface/hub";
}

std::string hubModelFolder(const HubModel& model) {
    return hubCacheFolder() + "/" + std::string(kFolderPrefix) + replaced(model.name, "/", "--");
}

bool isHubFileName(const std::string& name) {
    const fs::path path(name);
    return !name.empty() && name.size() < 1024 && name.find('\0') == std::string::npos &&
           name.find('\\') == std::string::npos && !path.is_absolute() && path.has_filename() &&
           std::none_of(path.begin(), path.end(),
                        [](const auto& part) { return part == ".." || part == "."; });
}

std::vector<CachedModel> cachedModels() {
    std::vector<CachedModel> all;
    std::error_code error;
    for (fs::directory_iterator it(hubCacheFolder(), error), end; !error && it != end;
         it.increment(error)) {
        const std::string folder = it->path().filename().string();
        if (!folder.starts_with(kFolderPrefix)) continue;
        CachedModel newest;
        newest.name = replaced(folder.substr(kFolderPrefix.size()), "--", "/");
        std::error_code other;
        for (fs::directory_iterator s(it->path() / "snapshots", other), last; !other && s != last;
             s.increment(other)) {
            const auto time = secondsOf(s->path());
            if ((!newest.path.empty() && time <= newest.time) || !hasWeights(s->path())) continue;
            newest.commit = s->path().filename().string();
            newest.path = s->path().string();
            newest.time = time;
        }
        if (!newest.path.empty()) all.push_back(std::move(newest));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::pair(-a.time, a.name) < std::pair(-b.time, b.name);
    });
    return all;
}

std::optional<CachedModel> findCachedModel(const HubModel& model) {
    const fs::path folder = hubModelFolder(model);
    CachedModel found{model.name, model.revision, {}, 0};
    std::error_code error;
    if (const fs::path ref = folder / "refs" / model.revision; fs::is_regular_file(ref, error)) {
        found.commit = readTextFile(ref.string(), 256);
        while (!found.commit.empty() &&
               std::isspace(static_cast<unsigned char>(found.commit.back())))
            found.commit.pop_back();
        if (!isHubFileName(found.commit) || found.commit.find('/') != std::string::npos)
            throw FileError(ref.string(), "does not name a commit; fetch the model again");
    }
    fs::path snapshot = folder / "snapshots" / found.commit;
    if (!fs::is_directory(snapshot, error)) {
        const auto whole = wholeCommit(folder / "snapshots", found.commit);
        if (whole.empty()) return std::nullopt;
        snapshot = folder / "snapshots" / whole;
        found.commit = whole;
    }
    const auto inside = fs::canonical(folder, error).string() + "/";
    // The blobs may be on another disk.
    const auto blobs = fs::weakly_canonical(folder / "blobs", error);
    for (fs::recursive_directory_iterator it(snapshot, error), end; !error && it != end;
         it.increment(error)) {
        std::error_code other;
        const auto real = fs::weakly_canonical(it->path(), other);
        if (other || (!real.string().starts_with(inside) && real.parent_path() != blobs))
            throw FileError(it->path().string(),
                            "is a link that leads out of the folder of its model; remove it");
    }
    found.path = snapshot.string();
    found.time = secondsOf(snapshot);
    return found;
}

std::string hubNameOf(const std::string& path) {
    fs::path folder = fs::path(path).lexically_normal();
    for (; folder.has_relative_path(); folder = folder.parent_path()) {
        const auto snapshots = folder.parent_path();
        const std::string model = snapshots.parent_path().filename().string();
        if (snapshots.filename() == "snapshots" && model.starts_with(kFolderPrefix))
            return replaced(model.substr(kFolderPrefix.size()), "--", "/");
    }
    return {};
}

std::string seriesGroup(const std::string& revision) {
    const auto end = revision.find_last_not_of("*-_./");
    return end == std::string::npos ? std::string() : revision.substr(0, end + 1);
}

std::vector<HubRevision> cachedRevisions(const std::string& model) {
    const fs::path refs = fs::path(hubModelFolder({model})) / "refs";
    std::vector<HubRevision> all;
    std::error_code error;
    for (fs::recursive_directory_iterator it(refs, error), end; !error && it != end;
         it.increment(error)) {
        std::error_code other;
        if (!it->is_regular_file(other)) continue;
        HubRevision one{it->path().lexically_relative(refs).string(),
                        trimmed(readTextFile(it->path().string(), 256))};
        if (isHubFileName(one.commit) && one.commit.find('/') == std::string::npos)
            all.push_back(std::move(one));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return all;
}

std::string hubSeriesFolder(const HubModel& model) {
    auto cache = hubPlace({"XDG_CACHE_HOME"});
    if (cache.empty()) cache = homeFolder("the cache of Relascope", "XDG_CACHE_HOME") + "/.cache";
    const auto group = seriesGroup(model.revision);
    return cache + "/relascope/series/" + replaced(model.name, "/", "--") +
           (group.empty() ? group : "@" + replaced(group, "/", "--"));
}

std::string hubPath(const std::string& text) {
    if (!text.starts_with(kHubPrefix)) return text;
    const auto model = hubModel(text.substr(std::string_view(kHubPrefix).size()));
    if (isSeriesRevision(model.revision)) {
        auto folder = hubSeriesFolder(model);
        std::error_code ignored;
        if (fs::exists(folder + "/run.json", ignored)) return folder;
        throw Error("the revisions of " + model.name +
                    " are not known here; ask the hub for them with: " +
                    commandLine({"fetch", model.text()}));
    }
    if (const auto found = findCachedModel(model)) return found->path;
    throw Error(model.text() + " is not in the cache of the hub (" + hubCacheFolder() +
                "); fetch it with: " + commandLine({"fetch", model.text()}));
}

}  // namespace relascope::core
