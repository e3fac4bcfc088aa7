// SPDX-License-Identifier: GPL-3.0-or-later
// What a mirror asks of a session on another machine (wire/host_link.h): its facts, the runs and
// studies in a folder, bytes of their files; and the start of trainings there. "host", "list",
// "studies" and "read" are answered to every version of the program and do not change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "wire/requests.h"
#include "wire/start_run.h"

namespace relascope::wire {

// host: {folder}; without one, that of the program there is looked at

struct HostFacts {
    std::string version;    ///< of the program there
    std::string machine;    ///< its host name
    std::string runs;       ///< the folder of runs of the program there
    std::string studies;    ///< the folder of studies that goes with the folder of runs
    std::int64_t free = 0;  ///< bytes, where that folder is or will be; 0: unknown
    std::vector<std::string> others = {};  ///< otherVersions() there (host_install.h)
    bool operator==(const HostFacts&) const = default;
};
HostFacts hostFacts(Session& session, const std::string& folder, const Session::Progress& progress);

// list: {folder, since, held, pages}: with `pages` in parts, the rest as the answer

struct ListedFile {
    std::string name;  ///< "metrics.jsonl", "captures/step-100.safetensors"
    std::int64_t size = 0;
    std::int64_t time = 0;  ///< of its last change, in nanoseconds of that machine's clock
    std::int64_t file = 0;  ///< its inode: another one is another file of the same name
};
struct ListedRun {
    std::string path;   ///< behind the folder, "between-dat-s0"
    bool held = false;  ///< a process trains it
    std::string ended;  ///< how a process has ended that left no word; else empty
    std::vector<ListedFile> files;
};
struct Listing {
    std::int64_t now = 0;           ///< `since` of the next one
    std::vector<std::string> runs;  ///< all of them
    /// Those that have changed since, that are trained, or that the asker believes to be.
    std::vector<ListedRun> changed;
};
Listing listRuns(Session& session, const std::string& folder, std::int64_t since,
                 const std::vector<std::string>& held, const Session::Progress& progress);

// studies: {folder, pages}

/// All studies in a folder, newest first, each as the run of a list: `held` while a process works
/// on it. Its runs are those of the folder of the study.
std::vector<ListedRun> listStudies(Session& session, const std::string& folder,
                                   const Session::Progress& progress);

// read: {files: [{path, from, most}]}

struct FilePart {
    std::string path;
    std::int64_t from = 0, most = 1 << 20;
};
/// Gives what has come of each file; files that are not there are left out. `size`: the file's now.
void readFiles(
    Session& session, const std::vector<FilePart>& parts,
    const std::function<void(std::size_t part, std::int64_t size, const Bytes& bytes)>& take,
    const Session::Progress& progress);

// files: {folder}

/// All files in a folder and its subfolders, with the paths behind it; links are left out.
std::vector<ListedFile> filesIn(Session& session, const std::string& folder,
                                const Session::Progress& progress);

// list folder: {path}; an empty one is the home folder

struct FolderEntry {
    std::string name;
    bool folder = false;
    std::int64_t size = 0;  ///< bytes of a file
};
struct Folder {
    std::string path;                  ///< absolute, without links
    std::vector<FolderEntry> entries;  ///< folders first, by name; without hidden ones
    bool cut = false;                  ///< there are more than were listed
};
/// What a folder of a host holds. Throws FileError for one that cannot be read.
Folder listFolder(Session& session, const std::string& host, const std::string& path,
                  const Session::Progress& progress);

// start: {options, folder, resume, threads, queue, launch}; end: {run} (endRun(), start_run.h)

/// Starts a training on that machine and returns its run, whose door may open later.
std::string startThere(Session& session, const StartRequest& request, const std::string& launch,
                       const Session::Progress& progress);

// create study: {study, plan}; start study: {study, jobs, retry, launch}; stop study: {study}
// (start_study.h)

// remove versions: {names}

/// Removes other versions of the program there.
void removeVersions(Session& session, const std::vector<std::string>& names,
                    const Session::Progress& progress);

// labels: {run, name, tags, hidden}; move: {from, to}

/// Of runs on this machine, or on the host whose mirror has them.
void writeLabels(Session& session, const std::string& run, const RunLabels& labels);
void moveRun(Session& session, const std::string& from, const std::string& to);

/// Whether a path that another machine names stays below the folder that it is put behind.
bool isInside(const std::string& path);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(HostFacts, version, machine, runs, studies, free,
                                                others)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ListedFile, name, size, time, file)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ListedRun, path, held, ended, files)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Listing, now, runs, changed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FolderEntry, name, folder, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Folder, path, entries, cut)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FilePart, path, from, most)

}  // namespace relascope::wire
