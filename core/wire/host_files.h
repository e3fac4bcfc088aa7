// SPDX-License-Identifier: GPL-3.0-or-later
// The requests of a mirror to a session on another machine (wire/host_link.h): its facts, the runs
// and studies in a folder, bytes of their files; and the start of trainings there. "host", "list",
// "studies" and "read" are answered to every version of the program and do not change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "wire/requests.h"
#include "wire/start_run.h"

namespace relascope::wire {

// host: {folder}; without a folder, the program's folder of runs there is used

struct HostFacts {
    std::string version;    ///< version of the program there
    std::string machine;    ///< host name
    std::string runs;       ///< the folder of runs of the program there
    std::string studies;    ///< the folder of studies that goes with the folder of runs
    std::int64_t free = 0;  ///< bytes free where the folder of runs is or will be; 0: unknown
    std::vector<std::string> others = {};  ///< otherVersions() there (host_install.h)
    bool operator==(const HostFacts&) const = default;
};
HostFacts hostFacts(Session& session, const std::string& folder, const Session::Progress& progress);

// list: {folder, since, held, pages}: with `pages` in parts, the rest as the answer

struct ListedFile {
    std::string name;  ///< "metrics.jsonl", "captures/step-100.safetensors"
    std::int64_t size = 0;
    std::int64_t time = 0;  ///< time of its last change, in nanoseconds of that machine's clock
    std::int64_t file = 0;  ///< its inode; another inode is another file of the same name
};
struct ListedRun {
    std::string path;   ///< relative to the folder: "between-dat-s0"
    bool held = false;  ///< a process trains it
    std::string ended;  ///< how its process ended if it left no message; else empty
    std::vector<ListedFile> files;
};
struct Listing {
    std::int64_t now = 0;           ///< `since` of the next listing
    std::vector<std::string> runs;  ///< all of them
    /// Runs that have changed since, that are trained, or that the asker believes are trained.
    std::vector<ListedRun> changed;
};
Listing listRuns(Session& session, const std::string& folder, std::int64_t since,
                 const std::vector<std::string>& held, const Session::Progress& progress);

// studies: {folder, pages}

/// All studies in a folder, newest first, each as the run of a list: `held` while a process works
/// on it. The runs of a study are found by listRuns() of its folder.
std::vector<ListedRun> listStudies(Session& session, const std::string& folder,
                                   const Session::Progress& progress);

// read: {files: [{path, from, most}]}

struct FileRange {
    std::string path;
    std::int64_t from = 0, most = 1 << 20;
};
/// Gives the bytes of each file that were read; missing files are left out. `size`: the file's size
/// now.
void readFiles(
    Session& session, const std::vector<FileRange>& parts,
    const std::function<void(std::size_t part, std::int64_t size, const Bytes& bytes)>& take,
    const Session::Progress& progress);

// files: {folder}

/// All files in a folder and its subfolders, with paths relative to it; links are left out.
std::vector<ListedFile> filesIn(Session& session, const std::string& folder,
                                const Session::Progress& progress);

// list folder: {path}; an empty path is the home folder

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
/// The contents of a folder of a host. Throws FileError if it cannot be read.
Folder listFolder(Session& session, const std::string& host, const std::string& path,
                  const Session::Progress& progress);

// start: {options, folder, resume, threads, queue, launch}; end: {run} (endRun(), start_run.h)

/// Starts a training on the session's machine and returns its run, whose door may open later.
std::string startThere(Session& session, const StartRequest& request, const std::string& launch,
                       const Session::Progress& progress);

// create study: {study, plan}; start study: {study, jobs, retry, launch}; stop study: {study}
// (start_study.h)

// remove versions: {names}

/// Removes other versions of the program there.
void removeVersions(Session& session, const std::vector<std::string>& names,
                    const Session::Progress& progress);

// labels: {run, name, tags, hidden}; move: {from, to}

/// Labels or moves a run on this machine, or on the host whose mirror holds it.
void writeLabels(Session& session, const std::string& run, const RunLabels& labels);
void moveRun(Session& session, const std::string& from, const std::string& to);

/// Whether a relative path that another machine names stays below the folder it is appended to.
bool isInside(const std::string& path);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(HostFacts, version, machine, runs, studies, free,
                                                others)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ListedFile, name, size, time, file)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ListedRun, path, held, ended, files)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Listing, now, runs, changed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FolderEntry, name, folder, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Folder, path, entries, cut)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileRange, path, from, most)

}  // namespace relascope::wire
