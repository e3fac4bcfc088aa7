// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/files.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "checkpoint/checkpoint.h"
#include "files/atomic_file.h"
#include "options/builtin_resources.h"
#include "options/options_json.h"
#include "run/run_folder.h"
#include "run/run_list.h"
#include "run/run_process.h"
#include "study/study.h"
#include "wire/host.h"
#include "wire/host_files.h"
#include "wire/host_install.h"
#include "wire/start_study.h"

namespace relascope::serve {
namespace {

namespace fs = std::filesystem;
using wire::Frame;
using wire::Json;

constexpr std::size_t kFilesOfPage = 5000;
constexpr std::int64_t kMostRead = 8 << 20;  // bytes of one file in one answer
/// Tolerance for times of files: clocks of file systems are coarse, and file servers have their
/// own.
constexpr std::int64_t kClockSlack = 5'000'000'000;  // ns
constexpr std::array<const char*, 6> kFiles = {"run.json",     "labels.json",    "metrics.jsonl",
                                               "events.jsonl", "tokenizer.json", "log"};
constexpr std::array<const char*, 2> kStudyFiles = {"study.json", "log"};
constexpr std::array<const char*, 2> kFolders = {"captures", "weights"};

template <class T>
T askedFor(const Request& request, const char* key) {
    return wire::valueOf<T>(request.message(), key);
}

bool addFile(const std::string& path, std::string name, std::vector<wire::ListedFile>& files) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
    files.push_back({std::move(name), facts.st_size,
                     facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec,
                     static_cast<std::int64_t>(facts.st_ino)});
    return true;
}

wire::ListedRun describe(const std::string& folder, const std::string& path) {
    const std::string run = folder + "/" + path;
    wire::ListedRun listed{path, core::isTrained(run), {}, {}};
    for (const char* name : kFiles) addFile(run + "/" + name, name, listed.files);
    for (const std::string name : kFolders) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(run + "/" + name, error))
            addFile(entry.path().string(), name + "/" + entry.path().filename().string(),
                    listed.files);
    }
    return listed;
}

wire::HostFacts facts(const Json& message) {
    wire::HostFacts facts{core::builtin::version(), core::thisProcess().machine,
                          core::defaultRunsFolder()};
    facts.others = wire::otherVersions();
    fs::path folder =
        message.contains("folder") ? wire::valueOf<std::string>(message, "folder") : std::string();
    if (folder.empty()) folder = facts.runs;
    facts.studies = core::studiesFolder(folder.string());
    std::error_code error;
    while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    if (const auto space = fs::space(folder, error); !error)
        facts.free = static_cast<std::int64_t>(space.available);
    return facts;
}

/// Sends the content of `all` as a part once it has kFilesOfPage files, if the other side supports
/// pages.
template <class All>
void sendPage(Request& request, All& all, std::size_t& files) {
    if (files < kFilesOfPage || !request.message().contains("pages")) return;
    files = 0;
    request.part(std::exchange(all, {}));
}

Frame list(Request& request) {
    const auto folder = askedFor<std::string>(request, "folder");
    const auto since = askedFor<std::int64_t>(request, "since");
    const auto held = askedFor<std::vector<std::string>>(request, "held");
    wire::Listing listing;
    std::size_t files = 0;
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    for (const auto& run : core::runFoldersIn(folder)) {
        if (!request.progress(0.0)) throw Cancelled();
        std::string path = fs::path(run).lexically_relative(folder).string();
        auto listed = describe(folder, path);
        const bool changed =
            std::any_of(listed.files.begin(), listed.files.end(),
                        [&](const auto& f) { return f.time >= since - kClockSlack; });
        const bool believed = std::find(held.begin(), held.end(), path) != held.end();
        listing.runs.push_back(std::move(path));
        if (!changed && !listed.held && !believed) continue;
        if (!listed.held) try {
                if (const auto info = core::readRunInfo(run); info.state == RunState::Interrupted)
                    listed.ended = info.message;
            } catch (const Error&) {  // a damaged run is listed with what its files contain
            }
        files += 1 + listed.files.size();
        listing.changed.push_back(std::move(listed));
        sendPage(request, listing, files);
    }
    listing.now = now;
    return {listing, {}};
}

Frame studies(Request& request) {
    const auto folder = askedFor<std::string>(request, "folder");
    std::vector<wire::ListedRun> studies;
    std::size_t files = 0;
    for (const auto& study : core::listStudies(folder)) {
        if (!request.progress(0.0)) throw Cancelled();
        wire::ListedRun listed{
            fs::path(study).lexically_relative(folder).string(), wire::isWorkedOn(study), {}, {}};
        for (const char* name : kStudyFiles) addFile(study + "/" + name, name, listed.files);
        files += 1 + listed.files.size();
        studies.push_back(std::move(listed));
        sendPage(request, studies, files);
    }
    return {studies, {}};
}

Frame startStudy(Request& request) {
    wire::StudyStart start;
    start.study = askedFor<std::string>(request, "study");
    start.jobs = askedFor<int>(request, "jobs");
    start.retry = askedFor<bool>(request, "retry");
    start.launch = wire::wordsOf(askedFor<std::string>(request, "launch"), "launch");
    if (start.jobs < 1 || start.jobs > 256)
        throw OptionError("jobs", std::to_string(start.jobs) + " processes; give 1 to 256");
    core::readStudy(start.study);  // throws for a folder that is no study
    wire::startStudy(start, [&] { return !request.stop().stop_requested(); });
    return {Json::object(), {}};
}

Frame read(Request& request) {
    const auto parts = askedFor<std::vector<wire::FileRange>>(request, "files");
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (request.stop().stop_requested()) throw Cancelled();
        const auto& part = parts[i];
        std::ifstream file(part.path, std::ios::binary | std::ios::ate);
        const auto size = file ? static_cast<std::int64_t>(file.tellg()) : -1;
        if (size < 0 || part.from < 0) continue;
        wire::Bytes bytes(static_cast<std::size_t>(std::clamp<std::int64_t>(
            size - part.from, 0, std::clamp<std::int64_t>(part.most, 0, kMostRead))));
        file.seekg(part.from);
        file.read(reinterpret_cast<char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
        bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
        request.part({{"file", i}, {"size", size}}, bytes);
    }
    return {Json::object(), {}};
}

Frame files(Request& request) {
    const auto folder = askedFor<std::string>(request, "folder");
    std::vector<wire::ListedFile> found;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
        if (!request.progress(0.0)) throw Cancelled();
        addFile(it->path().string(), it->path().lexically_relative(folder).string(), found);
        auto files = found.size();
        sendPage(request, found, files);
    }
    if (error) throw FileError(folder, "cannot be read: " + error.message());
    return {found, {}};
}

Frame folder(Request& request) {
    constexpr std::size_t kMost = 5000;
    fs::path path = askedFor<std::string>(request, "path");
    const char* home = std::getenv("HOME");
    if (path.empty()) path = home && *home ? home : "/";
    std::error_code error;
    wire::Folder found;
    found.path = fs::canonical(path, error).string();
    for (fs::directory_iterator it(error ? path : fs::path(found.path), error), end;
         !error && it != end; it.increment(error)) {
        if (!request.progress(0.0)) throw Cancelled();
        const std::string name = it->path().filename().string();
        std::error_code other;
        const bool isFolder = it->is_directory(other);
        if (name.starts_with(".") || !(isFolder || it->is_regular_file(other))) continue;
        if ((found.cut = found.entries.size() == kMost)) break;
        found.entries.push_back(
            {name, isFolder, isFolder ? 0 : static_cast<std::int64_t>(it->file_size(other))});
    }
    if (error) throw FileError(path.string(), "cannot be read: " + error.message());
    std::sort(found.entries.begin(), found.entries.end(), [](const auto& a, const auto& b) {
        return std::pair(!a.folder, a.name) < std::pair(!b.folder, b.name);
    });
    return {found, {}};
}

Frame start(Request& request) {
    wire::StartRequest asked;
    asked.options = core::runOptionsFromJson(askedFor<std::string>(request, "options"));
    asked.folder = askedFor<std::string>(request, "folder");
    asked.resume = askedFor<std::string>(request, "resume");
    asked.threads = askedFor<int>(request, "threads");
    asked.queue = askedFor<bool>(request, "queue");
    asked.launch = wire::wordsOf(askedFor<std::string>(request, "launch"), "launch");
    asked.waits = false;
    return {wire::startRun(asked, request.stop()).path, {}};
}

}  // namespace

std::optional<Frame> answerFiles(const std::string& what, Request& request) {
    const Json& message = request.message();
    if (what == "host") return Frame{facts(message), {}};
    if (what == "list") return list(request);
    if (what == "studies") return studies(request);
    if (what == "read") return read(request);
    if (what == "files") return files(request);
    if (what == "list folder") return folder(request);
    if (what == "checkpoint")
        return Frame{core::openCheckpoint(askedFor<std::string>(request, "path")), {}};
    if (what == "tensor")
        return Frame{
            core::tensorStatistics(askedFor<std::string>(request, "path"),
                                   askedFor<std::string>(request, "tensor"), 64, request.stop()),
            {}};
    if (what == "start") return start(request);
    if (what == "end") {
        wire::endRun(askedFor<std::string>(request, "run"));
        return Frame{Json::object(), {}};
    }
    if (what == "create study") {
        const auto study = askedFor<std::string>(request, "study");
        core::createStudy(study, core::planFromText(askedFor<std::string>(request, "plan"),
                                                    study + "/study.json"));
        return Frame{Json::object(), {}};
    }
    if (what == "start study") return startStudy(request);
    if (what == "stop study") {
        wire::stopStudy(askedFor<std::string>(request, "study"),
                        [&] { return !request.stop().stop_requested(); });
        return Frame{Json::object(), {}};
    }
    if (what == "remove versions") {
        wire::removeVersions(askedFor<std::vector<std::string>>(request, "names"));
        return Frame{Json::object(), {}};
    }
    if (what == "labels") {
        core::writeRunLabels(askedFor<std::string>(request, "run"),
                             {askedFor<std::string>(request, "name"),
                              askedFor<std::vector<std::string>>(request, "tags"),
                              askedFor<bool>(request, "hidden")});
        return Frame{Json::object(), {}};
    }
    if (what == "move") {
        core::moveRun(wire::valueOf<std::string>(message, "from"),
                      wire::valueOf<std::string>(message, "to"));
        return Frame{Json::object(), {}};
    }
    return std::nullopt;
}

}  // namespace relascope::serve
