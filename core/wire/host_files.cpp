// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/host_files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "options/options_json.h"
#include "types/text_piece.h"

namespace relascope::wire {
namespace {

/// Lists come in pages from a session that knows of them, else as one answer.
void askPages(Session& session, const char* what, Json request, const Session::Progress& progress,
              const Session::Partial& take) {
    request["pages"] = true;
    const auto page = [&](const Json& json, const Bytes& blob) {
        try {
            take(json, blob);
        } catch (const nlohmann::json::exception& error) {
            throw FrameError("a list of " + session.machine() +
                             " is not as agreed on: " + error.what());
        }
    };
    const auto last = session.ask(what, std::move(request), progress, page);
    page(last.message, last.blob);
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
    return session.askFor<HostFacts>("host", {{"folder", folder}}, progress);
}

Listing listRuns(Session& session, const std::string& folder, std::int64_t since,
                 const std::vector<std::string>& held, const Session::Progress& progress) {
    Listing all;
    const auto take = [&](const Json& page, const Bytes&) {
        auto listing = page.get<Listing>();
        for (const auto& run : listing.runs) requireInside(run);
        for (const auto& run : listing.changed) requireInside(run);
        all.now = listing.now;
        std::move(listing.runs.begin(), listing.runs.end(), std::back_inserter(all.runs));
        std::move(listing.changed.begin(), listing.changed.end(), std::back_inserter(all.changed));
    };
    askPages(session, "list", {{"folder", folder}, {"since", since}, {"held", held}}, progress,
             take);
    return all;
}

std::vector<ListedRun> listStudies(Session& session, const std::string& folder,
                                   const Session::Progress& progress) {
    std::vector<ListedRun> all;
    askPages(session, "studies", {{"folder", folder}}, progress,
             [&](const Json& page, const Bytes&) {
                 for (auto& study : page.get<std::vector<ListedRun>>()) {
                     requireInside(study);
                     all.push_back(std::move(study));
                 }
             });
    return all;
}

void readFiles(Session& session, const std::vector<FileRange>& parts,
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
    std::vector<ListedFile> all;
    askPages(session, "files", {{"folder", folder}}, progress, [&](const Json& page, const Bytes&) {
        for (auto& file : page.get<std::vector<ListedFile>>()) {
            requireInside(file.name);
            all.push_back(std::move(file));
        }
    });
    return all;
}

Folder listFolder(Session& session, const std::string& host, const std::string& path,
                  const Session::Progress& progress) {
    auto folder = session.askFor<Folder>("list folder", {{"host", host}, {"path", path}}, progress);
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
    return session.askFor<std::string>("start", json, progress);
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
