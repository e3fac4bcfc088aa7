// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/run_list.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <utility>

#include "files/atomic_file.h"
#include "files/home_folder.h"
#include "run/run_folder.h"
#include "run/run_process.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace fs = std::filesystem;

std::vector<std::string> runFoldersIn(const std::string& folder) {
    std::vector<std::string> runs;
    std::error_code error;
    for (fs::recursive_directory_iterator
             it(folder, fs::directory_options::skip_permission_denied, error),
         end;
         !error && it != end; it.increment(error)) {
        if (!it->is_directory(error)) continue;
        if (it->path().filename().string().front() == '.') {
            it.disable_recursion_pending();
            continue;
        }
        const bool run = isRunFolder(it->path().string());
        if (run) runs.push_back(it->path().string());
        if (run || it.depth() >= 1) it.disable_recursion_pending();
    }
    return runs;
}

std::vector<RunInfo> listRuns(const std::string& folder,
                              const std::function<void(const Error&)>& damaged) {
    std::vector<RunInfo> runs;
    for (const auto& path : runFoldersIn(folder)) try {
            runs.push_back(readRunInfo(path));
        } catch (const Error& error) {  // opening a damaged run reports the reason
            if (damaged) damaged(error);
        }
    std::stable_sort(runs.begin(), runs.end(),
                     [](const RunInfo& a, const RunInfo& b) { return a.startedAt > b.startedAt; });
    return runs;
}

std::vector<std::string> runsOf(const std::string& path) {
    if (isRunFolder(path)) return {path};
    std::vector<std::pair<std::int64_t, std::string>> seeds;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(path, error)) {
        const std::string name = entry.path().filename().string();
        std::int64_t seed = 0;
        if (!name.starts_with("seed-") || !isRunFolder(entry.path().string())) continue;
        const char* end = name.data() + name.size();
        if (const auto [rest, failed] = std::from_chars(name.data() + 5, end, seed);
            failed == std::errc() && rest == end)
            seeds.emplace_back(seed, entry.path().string());
    }
    std::sort(seeds.begin(), seeds.end());
    std::vector<std::string> runs;
    runs.reserve(seeds.size());
    for (auto& [seed, run] : seeds) runs.push_back(std::move(run));
    return runs;
}

std::string trashPath(const std::string& root, const std::string& path) {
    const fs::path run = fs::absolute(path).lexically_normal();
    const fs::path inside = run.lexically_relative(fs::absolute(root).lexically_normal());
    const bool own = !inside.empty() && *inside.begin() != "..";
    const fs::path base =
        own ? fs::path(root) / ".trash" / inside : run.parent_path() / ".trash" / run.filename();
    std::string free = base.string();
    // The contents of the trash of another machine are not known here.
    if (readFarRun(path)) free += "-" + std::to_string(std::time(nullptr));
    for (int copy = 2; fs::exists(free); ++copy) free = base.string() + "-" + std::to_string(copy);
    return free;
}

void moveRun(const std::string& from, const std::string& to) {
    if (isTrained(from)) throw FileError(from, "is being trained; stop the run before it is moved");
    makeDirectories(fs::path(to).parent_path().string());
    std::error_code error;
    if (fs::exists(to, error)) throw FileError(to, "exists already");
    fs::rename(from, to, error);
    if (error) throw FileError(from, "could not be moved to " + to + ": " + error.message());
    syncDirectory(fs::path(to).parent_path().string());
    // The folder of a group is removed with its last run.
    fs::remove(fs::path(from).parent_path(), error);
}

std::string defaultRunsFolder() {
    if (const char* chosen = std::getenv("RELASCOPE_RUNS"); chosen && *chosen) return chosen;
    return homeFolder("runs", "RELASCOPE_RUNS") + "/Relascope/runs";
}

std::string modelName(const RunOptions& options) {
    auto from = fs::path(options.train.init_from);
    if (from.empty()) return options.variant;
    if (!from.has_parent_path() && from.string().find(':') != std::string::npos)
        from = from.string().substr(from.string().find(':') + 1);  // hub:NAME
    return (from.has_filename() ? from : from.parent_path()).filename().string();
}

namespace {

/// The name of data as a part of the name of a folder.
std::string folderWord(std::string name) {
    for (auto& c : name)
        if (const auto byte = static_cast<unsigned char>(c);
            byte < 0x80 && !std::isalnum(byte) && c != '.' && c != '_' && c != '-')
            c = '-';
    name.erase(0, name.find_first_not_of(".-"));
    name.resize(std::min<std::size_t>(name.size(), 80));
    while (!isUtf8(name)) name.pop_back();
    return name;
}

}  // namespace

std::string freshRunPath(const std::string& parent, const RunOptions& options, std::int64_t seed) {
    std::string preset = options.preset;
    if (const auto own = folderWord(options.data.name); !own.empty())
        preset = own;
    else if (const std::string prefix = "relational-games-"; preset.rfind(prefix, 0) == 0)
        preset.erase(0, prefix.size());
    const std::string base =
        parent + "/" + preset + "-" + modelName(options) + "-s" + std::to_string(seed);
    std::string path = base;
    for (int copy = 2; fs::exists(path); ++copy) path = base + "-" + std::to_string(copy);
    return path;
}

}  // namespace relascope::core
