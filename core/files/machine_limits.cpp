// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/machine_limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

namespace relascope::core {
namespace {

/// A figure of version 1 from which on there is no limit: the largest number of whole pages.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

std::string textOf(const std::string& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::optional<std::uint64_t> numberIn(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end == text.data()) return std::nullopt;
    return number;
}

/// The number behind a name in a file of names and numbers.
std::uint64_t figureIn(const std::string& text, const std::string& name) {
    std::istringstream words(text);
    std::string key, value;
    while (words >> key >> value)
        if (key == name) return numberIn(value).value_or(0);
    return 0;
}

template <class Number>
void lower(std::optional<Number>& limit, Number other) {
    limit = limit ? std::min(*limit, other) : other;
}

/// A hierarchy of control groups, and the group of this process in it.
struct Hierarchy {
    std::string controller;  ///< its controller in version 1; empty: version 2
    std::string mount, folder;
};

/// Paths of mountinfo have escapes for blanks.
std::string unescaped(const std::string& path) {
    std::string out;
    for (std::size_t k = 0; k < path.size(); ++k)
        if (path[k] == '\\' && k + 3 < path.size())
            out += static_cast<char>(std::strtol(path.substr(k + 1, 3).c_str(), nullptr, 8)),
                k += 3;
        else
            out += path[k];
    return out;
}

bool hasWord(const std::string& list, const std::string& word) {
    return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The groups of /proc/self/cgroup where /proc/self/mountinfo says that they are mounted.
std::vector<Hierarchy> hierarchies(const std::string& root) {
    std::vector<Hierarchy> all;
    std::istringstream groups(textOf(root + "/proc/self/cgroup"));
    const auto mounts = textOf(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        const auto path = line.substr(second + 1);
        for (const char* wanted : {"", "cpu", "memory"}) {
            const bool unified = *wanted == 0;
            if (unified ? !controllers.empty() : !hasWord(controllers, wanted)) continue;
            std::istringstream lines(mounts);
            std::error_code ignored;
            for (std::string mount; std::getline(lines, mount);) {
                std::istringstream words(mount);
                std::string id, parent, device, inside, point, word, type, source, options;
                words >> id >> parent >> device >> inside >> point;
                while (words >> word && word != "-") {
                }
                words >> type >> source >> options;
                if (type != (unified ? "cgroup2" : "cgroup")) continue;
                if (!unified && !hasWord(options, wanted)) continue;
                // A container sees its own group as the root of the mount.
                inside = unescaped(inside), point = root + unescaped(point);
                auto below = path;
                if (inside != "/" && (below == inside || below.starts_with(inside + "/")))
                    below.erase(0, inside.size());
                else if (inside != "/")
                    below.clear();
                if (below == "/") below.clear();
                // With a name space of its own, or another one's path, the mount is the group.
                if (below.find("..") != std::string::npos ||
                    !std::filesystem::is_directory(point + below, ignored))
                    below.clear();
                all.push_back({wanted, point, point + below});
                break;
            }
        }
    }
    return all;
}

/// Calls `read` with the folder of the group and with those that it is nested in.
void eachLevel(const Hierarchy& group, const std::function<void(const std::string&)>& read) {
    for (auto folder = group.folder; folder.size() >= group.mount.size();
         folder.erase(folder.rfind('/'))) {
        read(folder);
        if (folder.find('/') == std::string::npos || folder.size() == group.mount.size()) return;
    }
}

void takeMemory(MachineLimits& limits, std::optional<std::uint64_t> limit,
                std::optional<std::uint64_t> used, std::uint64_t cached) {
    if (!limit || *limit >= kNoLimit) return;
    lower(limits.memory, *limit);
    // What files have in memory is given up when it is needed.
    const auto taken = used.value_or(0) - std::min(used.value_or(0), cached);
    lower(limits.memoryLeft, *limit - std::min(*limit, taken));
}

void takeCores(MachineLimits& limits, std::optional<std::uint64_t> quota,
               std::optional<std::uint64_t> period) {
    if (quota && *quota > 0 && period && *period > 0)
        lower(limits.cores, static_cast<double>(*quota) / static_cast<double>(*period));
}

}  // namespace

MachineLimits machineLimits(const std::string& root) {
    MachineLimits limits;
    for (const auto& group : hierarchies(root))
        eachLevel(group, [&](const std::string& folder) {
            const auto number = [&](const char* name) {
                return numberIn(textOf(folder + "/" + name));
            };
            const auto statistics = [&] { return textOf(folder + "/memory.stat"); };
            if (group.controller == "cpu") {
                // Without a quota it is -1, which is no number here.
                takeCores(limits, number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"));
            } else if (group.controller == "memory") {
                takeMemory(limits, number("memory.limit_in_bytes"), number("memory.usage_in_bytes"),
                           figureIn(statistics(), "total_inactive_file"));
            } else {
                std::istringstream quota(textOf(folder + "/cpu.max"));
                std::string most, period;
                quota >> most >> period;
                takeCores(limits, numberIn(most), numberIn(period));
                takeMemory(limits, number("memory.max"), number("memory.current"),
                           figureIn(statistics(), "inactive_file"));
            }
        });
    return limits;
}

int usableCores() {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const auto limit = machineLimits().cores;
    return limit ? std::clamp(static_cast<int>(std::ceil(*limit)), 1, cores) : cores;
}

std::int64_t groupOomKills(const std::string& root) {
    std::uint64_t kills = 0;
    for (const auto& group : hierarchies(root)) {
        if (group.controller == "cpu") continue;
        const auto file = group.controller.empty() ? "/memory.events" : "/memory.oom_control";
        kills = std::max(kills, figureIn(textOf(group.folder + file), "oom_kill"));
    }
    return static_cast<std::int64_t>(kills);
}

}  // namespace relascope::core
