// SPDX-License-Identifier: GPL-3.0-or-later
// The connection to a host that lasts: a thread that keeps the mirror of its runs and studies.
// Lists, curves and captures of far runs are read from the mirror like those of this machine, also
// while the host cannot be reached.
//
// Every run is a folder with .far (run/run_process.h), run.json and labels.json. Runs that are
// followed also have metrics.jsonl, events.jsonl, tokenizer.json, log and the newest captures.
// Every study is a folder with .far and study.json; studies that are followed also have their log
// and their runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "wire/host.h"
#include "wire/host_files.h"

namespace relascope::wire {

class HostLink {
public:
    enum class State {
        Connecting,
        Connected,
        Lost  ///< the connection was lost, and is tried again after a while
    };
    struct Status {
        State state = State::Connecting;
        std::string sentence;       ///< why the connection was lost; or a remark on its version
        int retryIn = 0;            ///< seconds until the next try, if Lost
        bool otherVersion = false;  ///< its runs are shown, and nothing can be started or opened
        HostFacts facts;            ///< once it was connected
        std::string folder;         ///< the mirror of its folder of runs; empty before
        std::string studies;  ///< the mirror of its folder of studies; empty before, and for an
                              ///< older version
        bool operator==(const Status&) const = default;
    };

    /// `changed` is called on the thread of the link, after its status or files of the mirror have
    /// changed.
    HostLink(Host host, std::function<void()> changed);
    ~HostLink();
    HostLink(const HostLink&) = delete;
    HostLink& operator=(const HostLink&) = delete;

    const Host& host() const { return m_host; }
    Status status() const;
    /// Follows the runs whose curves are shown and the studies that are shown, by their folders in
    /// the mirror, and no others.
    void follow(std::set<std::string> folders);
    /// Lists, or tries to connect, at once; `asks`: ssh may ask the user then.
    void refresh(bool asks = false);

private:
    struct Known {
        std::map<std::string, ListedFile> files;  ///< as they are there
        bool held = false;
    };
    void run(const std::stop_token& stop);
    void connect(Session& session, const std::stop_token& stop);
    bool list(Session& session, const std::stop_token& stop);
    bool listStudies(Session& session, const std::stop_token& stop);
    bool listRunsIn(Session& session, const std::string& folder, const std::stop_token& stop);
    bool removeGone(const std::string& folder, const std::set<std::string>& there, bool studies);
    bool recordListing(const std::string& path, ListedRun& run);
    bool isFollowed(const std::string& path) const;
    bool readTails(Session& session, const std::stop_token& stop);
    bool fetch(Session& session, const std::string& path, const Known& run,
               const std::stop_token& stop);
    void setStatus(const std::function<void(Status&)>& change);
    void sleep(std::chrono::milliseconds time, const std::stop_token& stop);
    std::string local(const std::string& path) const;

    const Host m_host;
    std::function<void()> m_changed;
    std::string m_farFolder, m_farStudies;        ///< folders of runs and studies on the host
    std::map<std::string, std::int64_t> m_since;  ///< Listing::now of each folder
    std::map<std::string, Known> m_known;         ///< runs and studies, by their paths there
    std::set<std::string> m_studies;              ///< studies in m_known
    mutable std::mutex m_mutex;                   ///< guards the members below
    std::condition_variable_any m_wake;
    bool m_look = false, m_asks = false;
    Status m_status;
    std::set<std::string> m_followed;
    std::jthread m_thread;  // last: joined before the rest goes
};

/// Reads a file that a mirror does not have yet from its host, if the host has it. Does nothing for
/// a path outside the mirrors. Throws as Session::ask().
void mirrorFile(Session& session, const std::string& path, const std::function<bool()>& wanted);

/// Removes captures from the mirrors, the oldest changes first, until they take at most `most`
/// bytes.
void pruneMirrors(std::int64_t most);

/// Copies a run of a host, given by its folder in the mirror, to the new folder `to`: all its
/// files, or, without `checkpoints`, all but those. Throws Error, FileError, Cancelled; files that
/// have come stay in TO.part, and the next call with the same `to` continues from there.
void fetchRun(const std::string& run, const std::string& to, bool checkpoints,
              const std::function<bool(double)>& progress);

}  // namespace relascope::wire
