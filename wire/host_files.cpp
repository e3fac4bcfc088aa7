// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/host_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "options/options_json.h"
#include "types/text_piece.h"

namespace relascope::wire {
namespace {

template <class T>
T answerOf(Session& session, const char* what, Json request,
           const Session::Progress& progress = {}) {
    return valueOf<T>({{"answer", session.ask(what, std::move(request), progress).message}},
                      "answer");
}

void requireInside(const std::string& path) {
    if (!isInside(path))
        throw FrameError("a list names " + quoted(path.substr(0, 80)) + ", outside of its folder");
}

void requireInside(const ListedRun& run) {
    requireInside(run.path);
    for (const auto& file : run.files) requireInside(file.name);
}

}  // namespace

bool isInside(const std::string& path) {
    const std::filesystem::path parts(path);
    return !path.empty() && path.size() < 4096 && path.find('\0') == std::string::npos &&
           !parts.is_absolute() && std::none_of(parts.begin(), parts.end(), [](const auto& part) {
               return part == ".." || part == ".";
           });
}

HostFacts hostFacts(Session& session, const std::string& folder,
                    const Session::Progress& progress) {
    return answerOf<HostFacts>(session, "host", {{"folder", folder}}, progress);
}

Listing listRuns(Session& session, const std::string& folder, std::int64_t since,
                 const std::vector<std::string>& held, const Session::Progress& progress) {
    auto listing = answerOf<Listing>(
        session, "list", {{"folder", folder}, {"since", since}, {"held", held}}, progress);
    for (const auto& run : listing.runs) requireInside(run);
    for (const auto& run : listing.changed) requireInside(run);
    return listing;
}

std::vector<ListedRun> listStudies(Session& session, const std::string& folder,
                                   const Session::Progress& progress) {
    auto studies =
        answerOf<std::vector<ListedRun>>(session, "studies", {{"folder", folder}}, progress);
    for (const auto& study : studies) requireInside(study);
    return studies;
}

void readFiles(Session& session, const std::vector<FilePart>& parts,
               const std::function<void(std::size_t, std::int64_t, const Bytes&)>& take,
               const Session::Progress& progress) {
    session.ask("read", {{"files", parts}}, progress, [&](const Json& part, const Bytes& bytes) {
        const auto index = valueOf<std::size_t>(part, "file");
        if (index >= parts.size() || std::cmp_greater(bytes.size(), parts[index].most))
            throw FrameError("bytes came that were not asked for");
        take(index, valueOf<std::int64_t>(part, "size"), bytes);
    });
}

std::vector<ListedFile> filesIn(Session& session, const std::string& folder,
                                const Session::Progress& progress) {
    auto files =
        answerOf<std::vector<ListedFile>>(session, "files", {{"folder", folder}}, progress);
    for (const auto& file : files) requireInside(file.name);
    return files;
}

Folder listFolder(Session& session, const std::string& host, const std::string& path,
                  const Session::Progress& progress) {
    auto folder =
        answerOf<Folder>(session, "list folder", {{"host", host}, {"path", path}}, progress);
    for (const auto& entry : folder.entries) requireInside(entry.name);
    return folder;
}

std::string startThere(Session& session, const StartRequest& request, const std::string& launch,
                       const Session::Progress& progress) {
    const Json json = {{"options", core::runOptionsToJson(request.options)},
                       {"folder", request.folder},
                       {"resume", request.resume},
                       {"threads", request.threads},
                       {"queue", request.queue},
                       {"launch", launch}};
    return answerOf<std::string>(session, "start", json, progress);
}

void removeVersions(Session& session, const std::vector<std::string>& names,
                    const Session::Progress& progress) {
    session.ask("remove versions", {{"names", names}}, progress);
}

void writeLabels(Session& session, const std::string& run, const RunLabels& labels) {
    session.ask(
        "labels",
        {{"run", run}, {"name", labels.name}, {"tags", labels.tags}, {"hidden", labels.hidden}});
}

void moveRun(Session& session, const std::string& from, const std::string& to) {
    session.ask("move", {{"from", from}, {"to", to}});
}

}  // namespace relascope::wire
