// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/host_link.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

#include "files/atomic_file.h"
#include "options/builtin_resources.h"
#include "run/run_process.h"

namespace relascope::wire {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kListEvery(4000), kTailEvery(400);
constexpr int kLongestWait = 30;                                // s
constexpr std::int64_t kMostCapture = 8 << 20;                  // bytes of one
constexpr std::int64_t kMostCaptures = std::int64_t{64} << 20;  // bytes of a run
constexpr std::int64_t kMostMirrored = std::int64_t{1} << 30;   // bytes of all captures
constexpr std::int64_t kPart = std::int64_t{4} << 20;           // bytes of one answer

const std::set<std::string> kAlways = {"run.json", "labels.json", "study.json"};
const std::set<std::string> kAppended = {"metrics.jsonl", "events.jsonl", "log"};

bool isCapture(const std::string& name) {
    return name.starts_with("captures/");
}

std::optional<std::int64_t> keptStep(const std::string& name) {
    constexpr std::string_view before = "weights/step-", after = ".safetensors";
    if (!name.starts_with(before) || !name.ends_with(after)) return std::nullopt;
    std::int64_t step = 0;
    const char* end = name.data() + name.size() - after.size();
    const auto [rest, failed] = std::from_chars(name.data() + before.size(), end, step);
    return failed == std::errc() && rest == end ? std::optional(step) : std::nullopt;
}

/// Whether the mirror has the file as it is there: with its size and time.
bool isSame(const std::string& path, const ListedFile& file) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_size == file.size &&
           facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec == file.time;
}

void setTime(const std::string& path, std::int64_t time) {
    const timespec when{time / 1'000'000'000, time % 1'000'000'000};
    const timespec times[2] = {when, when};
    ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

void append(const std::string& path, const Bytes& bytes) {
    const Descriptor file(
        ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
    for (std::size_t at = 0; file && at < bytes.size();) {
        const auto written = ::write(file.get(), bytes.data() + at, bytes.size() - at);
        if (written < 0 && errno != EINTR) core::throwWriteError(path, "cannot be written", errno);
        if (written > 0) at += static_cast<std::size_t>(written);
    }
    if (!file) core::throwWriteError(path, "cannot be written", errno);
}

std::int64_t sizeOf(const std::string& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<std::int64_t>(size);
}

/// Reads a file from a position on into the end of another, in parts.
void readOn(Session& session, const std::string& from, const std::string& to, std::int64_t size,
            const std::function<bool(std::int64_t at)>& wanted) {
    for (std::int64_t at = sizeOf(to); at < size;) {
        const auto before = at;
        readFiles(
            session, {{from, at, kPart}},
            [&](std::size_t, std::int64_t, const Bytes& bytes) {
                append(to, bytes);
                at += static_cast<std::int64_t>(bytes.size());
            },
            [&](double) { return wanted(at); });
        if (!wanted(at)) throw Cancelled();
        if (at == before) throw FileError(from, "became shorter while it was read");
    }
}

}  // namespace

HostLink::HostLink(Host host, std::function<void()> changed)
    : m_host(std::move(host)), m_changed(std::move(changed)) {
    m_thread = std::jthread([this](std::stop_token stop) { run(stop); });
}

HostLink::~HostLink() {
    m_thread.request_stop();
}

HostLink::Status HostLink::status() const {
    std::lock_guard lock(m_mutex);
    return m_status;
}

void HostLink::follow(std::set<std::string> folders) {
    std::lock_guard lock(m_mutex);
    if (m_followed == folders) return;
    m_followed = std::move(folders);
    m_look = true;
    m_wake.notify_all();
}

void HostLink::refresh(bool asks) {
    std::lock_guard lock(m_mutex);
    m_look = true;
    m_asks |= asks;
    m_wake.notify_all();
}

void HostLink::sleep(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::unique_lock lock(m_mutex);
    m_wake.wait_for(lock, stop, time, [this] { return m_look; });
}

void HostLink::setStatus(const std::function<void(Status&)>& change) {
    {
        std::lock_guard lock(m_mutex);
        const Status before = m_status;
        change(m_status);
        if (m_status == before) return;
    }
    m_changed();
}

std::string HostLink::local(const std::string& path) const {
    return mirrorPath(m_host.name, path);
}

void HostLink::run(const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    // Nobody is asked for a password but at first and on request.
    Host host = m_host;
    for (int wait = 1; !stop.stop_requested();) {
        Session session(host, [&] { return !stop.stop_requested(); });
        host.asks = false;
        session.takeEveryVersion();
        try {
            setStatus([](Status& s) { s.state = State::Connecting; });
            connect(session, stop);
            wait = 1;
            auto listAt = Clock::now();
            while (!stop.stop_requested()) {
                bool news = false, due = Clock::now() >= listAt;
                {
                    std::lock_guard lock(m_mutex);
                    due |= std::exchange(m_look, false);
                }
                if (due) {
                    news = list(session, stop);
                    listAt = Clock::now() + kListEvery;
                } else {
                    news = readTails(session, stop);
                }
                if (news) m_changed();
                sleep(kTailEvery, stop);
            }
        } catch (const Cancelled&) {
            return;
        } catch (const std::exception& error) {
            for (int left = wait; left > 0 && !stop.stop_requested(); --left) {
                setStatus([&](Status& s) {
                    s.state = State::Lost;
                    s.sentence = userMessage(error);
                    s.retryIn = left;
                });
                sleep(std::chrono::seconds(1), stop);
                std::lock_guard lock(m_mutex);
                if (std::exchange(m_look, false)) {
                    host.asks = std::exchange(m_asks, false);
                    break;
                }
            }
            wait = std::min(kLongestWait, 2 * wait);
        }
    }
}

void HostLink::connect(Session& session, const std::stop_token& stop) {
    const auto facts =
        hostFacts(session, m_host.runs, [&](double) { return !stop.stop_requested(); });
    m_farFolder = m_host.runs.empty() ? facts.runs : m_host.runs;
    m_farStudies = facts.studies;
    for (auto* folder : {&m_farFolder, &m_farStudies})
        while (folder->size() > 1 && folder->back() == '/') folder->pop_back();
    m_since.clear();
    m_known.clear();
    m_studies.clear();
    const std::string mirror = mirrorPath(m_host.name, m_farFolder);
    core::makeDirectories(mirror);
    const std::string studies =
        m_farStudies.empty() ? std::string() : mirrorPath(m_host.name, m_farStudies);
    if (!studies.empty()) core::makeDirectories(studies);
    pruneMirrors(kMostMirrored);
    const std::string version = session.version(), mine = core::builtin::version();
    list(session, stop);
    setStatus([&](Status& s) {
        s.state = State::Connected;
        s.facts = facts;
        s.folder = mirror;
        s.studies = studies;
        s.otherVersion = version != mine;
        s.sentence = version == mine ? std::string()
                                     : m_host.name + " has Relascope " + version + ", this is " +
                                           mine + ": its runs are shown.";
    });
}

bool HostLink::isFollowed(const std::string& path) const {
    const std::string folder = local(path);
    std::lock_guard lock(m_mutex);
    return m_followed.contains(folder);
}

bool HostLink::list(Session& session, const std::stop_token& stop) {
    bool news = listRunsIn(session, m_farFolder, stop);
    if (!m_farStudies.empty()) news |= listStudies(session, stop);
    for (const auto& study : m_studies)
        if (isFollowed(study)) news |= listRunsIn(session, study, stop);
    for (const auto& [path, known] : m_known) news |= fetch(session, path, known, stop);
    return news;
}

/// Takes what a list says of a run or study into the mirror.
bool HostLink::recordListing(const std::string& path, ListedRun& run) {
    auto& known = m_known[path];
    known.held = run.held;
    known.files.clear();
    core::FarRun far{m_host.name, path, run.held, run.ended, {}};
    for (auto& file : run.files) {
        if (const auto step = keptStep(file.name)) far.kept.push_back(*step);
        known.files[file.name] = std::move(file);
    }
    std::sort(far.kept.begin(), far.kept.end());
    const std::string folder = local(path);
    core::makeDirectories(folder);
    if (core::readFarRun(folder) == far) return false;
    core::writeFarRun(folder, far);
    return true;
}

/// Removes runs and studies from the mirror that were moved or deleted on the host, also while
/// nobody looked. A folder of runs may hold studies, too, and the other way round.
bool HostLink::removeGone(const std::string& folder, const std::set<std::string>& there,
                          bool studies) {
    const std::string mirror = mirrorPath(m_host.name, folder);
    std::error_code error;
    std::vector<std::string> gone;
    for (fs::recursive_directory_iterator it(mirror, error), end; !error && it != end;
         it.increment(error)) {
        if (!it->is_directory(error)) continue;
        const bool known = fs::exists(it->path() / ".far", error);
        if (known || it.depth() >= 1) it.disable_recursion_pending();
        if (!known || fs::exists(it->path() / "study.json", error) != studies) continue;
        if (const auto path = it->path().lexically_relative(mirror).string(); !there.contains(path))
            gone.push_back(folder + "/" + path);
    }
    for (const auto& path : gone) {
        fs::remove_all(local(path), error);
        std::erase_if(m_known, [&](const auto& known) {
            return known.first == path || known.first.starts_with(path + "/");
        });
        m_studies.erase(path);
    }
    return !gone.empty();
}

bool HostLink::listRunsIn(Session& session, const std::string& folder,
                          const std::stop_token& stop) {
    std::vector<std::string> held;
    for (const auto& [path, known] : m_known)
        if (known.held && !m_studies.contains(path) && path.starts_with(folder + "/"))
            held.push_back(path.substr(folder.size() + 1));
    auto& since = m_since[folder];
    auto listing =
        listRuns(session, folder, since, held, [&](double) { return !stop.stop_requested(); });
    bool news = removeGone(folder, {listing.runs.begin(), listing.runs.end()}, false);
    for (auto& run : listing.changed) news |= recordListing(folder + "/" + run.path, run);
    since = listing.now;
    return news;
}

bool HostLink::listStudies(Session& session, const std::stop_token& stop) {
    auto studies =
        wire::listStudies(session, m_farStudies, [&](double) { return !stop.stop_requested(); });
    std::set<std::string> there;
    for (const auto& study : studies) there.insert(study.path);
    bool news = removeGone(m_farStudies, there, true);
    for (auto& study : studies) {
        const std::string path = m_farStudies + "/" + study.path;
        news |= recordListing(path, study);
        m_studies.insert(path);
    }
    return news;
}

bool HostLink::fetch(Session& session, const std::string& path, const Known& run,
                     const std::stop_token& stop) {
    const std::string folder = local(path);
    const bool followed = isFollowed(path);
    // Captures from the newest one on, as far as they may take space.
    std::vector<const ListedFile*> files, captures;
    for (const auto& [name, file] : run.files) {
        if (isCapture(name) && followed && file.size <= kMostCapture)
            captures.push_back(&file);
        else if (kAlways.contains(name) ||
                 (followed && (kAppended.contains(name) || name == "tokenizer.json")))
            files.push_back(&file);
    }
    std::sort(captures.begin(), captures.end(),
              [](const auto* a, const auto* b) { return a->time > b->time; });
    std::int64_t bytes = 0;
    for (const auto* file : captures)
        if ((bytes += file->size) <= kMostCaptures) files.push_back(file);
    bool news = false;
    for (const auto* file : files) {
        const std::string to = folder + "/" + file->name;
        if (isSame(to, *file)) continue;
        const auto wanted = [&](std::int64_t) { return !stop.stop_requested(); };
        core::makeDirectories(fs::path(to).parent_path().string());
        // A file that only grew is read on from its old end; its inode is noted in a second file.
        const std::string mark = folder + "/." + fs::path(file->name).filename().string() + ".file";
        const bool appended = kAppended.contains(file->name);
        std::int64_t inode = 0;
        if (appended) std::ifstream(mark) >> inode;
        if (appended && inode == file->file && sizeOf(to) <= file->size) {
            readOn(session, path + "/" + file->name, to, file->size, wanted);
        } else {
            const std::string part = to + ".part";
            std::error_code error;
            fs::remove(part, error);
            append(part, {});
            readOn(session, path + "/" + file->name, part, file->size, wanted);
            if (appended) core::writeTextFile(mark, std::to_string(file->file));
            fs::rename(part, to, error);
            if (error) throw FileError(to, "cannot be written: " + error.message());
        }
        setTime(to, file->time);
        news = true;
    }
    return news;
}

bool HostLink::readTails(Session& session, const std::stop_token& stop) {
    std::vector<FileRange> parts;
    std::vector<std::string> targets;
    for (const auto& [path, run] : m_known) {
        if (!run.held || !isFollowed(path)) continue;
        for (const auto& name : kAppended)
            if (run.files.contains(name)) {
                targets.push_back(local(path) + "/" + name);
                parts.push_back({path + "/" + name, sizeOf(targets.back()), kPart});
            }
    }
    if (parts.empty()) return false;
    bool news = false;
    readFiles(
        session, parts,
        [&](std::size_t i, std::int64_t size, const Bytes& bytes) {
            if (size < parts[i].from) refresh();  // it was begun again
            if (bytes.empty()) return;
            append(targets[i], bytes);
            news = true;
        },
        [&](double) { return !stop.stop_requested(); });
    return news;
}

void mirrorFile(Session& session, const std::string& path, const std::function<bool()>& wanted) {
    std::error_code error;
    if (!farPathOf(path) || fs::exists(path, error)) return;
    std::optional<core::AtomicFile> file;  // another session may be at it
    for (std::int64_t at = 0, size = 1; at < size;) {
        size = -1;
        readFiles(
            session, {{path, at, kPart}},
            [&](std::size_t, std::int64_t now, const Bytes& bytes) {
                core::makeDirectories(fs::path(path).parent_path().string());
                if (!file) file.emplace(path);
                file->write(bytes.data(), bytes.size());
                size = now;
                at += static_cast<std::int64_t>(bytes.size());
                if (bytes.empty()) size = at;
            },
            [&](double) { return wanted(); });
        if (size < 0) return;  // it is not there
        if (at < size && !wanted()) throw Cancelled();
    }
    if (file) file->commit();
}

void pruneMirrors(std::int64_t most) {
    struct Capture {
        fs::file_time_type time;
        std::int64_t size;
        fs::path path;
    };
    std::vector<Capture> captures;
    std::int64_t bytes = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator it(mirrorFolder(), error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().parent_path().filename() != "captures" || !it->is_regular_file(error))
            continue;
        captures.push_back({it->last_write_time(error),
                            static_cast<std::int64_t>(it->file_size(error)), it->path()});
        bytes += captures.back().size;
    }
    std::sort(captures.begin(), captures.end(),
              [](const auto& a, const auto& b) { return a.time < b.time; });
    for (const auto& capture : captures) {
        if (bytes <= most) return;
        if (fs::remove(capture.path, error)) bytes -= capture.size;
    }
}

void fetchRun(const std::string& run, const std::string& to, bool checkpoints,
              const std::function<bool(double)>& progress) {
    const auto far = farPathOf(run);
    const auto host = far ? findHost(far->host) : std::nullopt;
    if (!host) throw FileError(run, "is no run of another machine");
    std::error_code error;
    if (fs::exists(to, error)) throw FileError(to, "exists already");
    double done = 0.0;
    const auto wanted = [&] { return !progress || progress(done); };
    Session session(*host, wanted);
    auto files = filesIn(session, far->path, [&](double) { return wanted(); });
    std::erase_if(files, [&](const ListedFile& file) {
        return file.name.starts_with(".") ||
               (!checkpoints &&
                (file.name.starts_with("checkpoints/") || file.name.starts_with("weights/")));
    });
    std::int64_t all = 1, before = 0;
    for (const auto& file : files) all += file.size;
    const std::string part = to + ".part";
    core::makeDirectories(part);
    if (core::freeBytes(part) < static_cast<std::uint64_t>(all))
        throw core::DiskFull(part, "the disk has no room for the " + std::to_string(all >> 20) +
                                       " MiB of this run; free some space");
    for (const auto& file : files) {
        const std::string path = part + "/" + file.name;
        core::makeDirectories(fs::path(path).parent_path().string());
        if (!isSame(path, file)) {
            // An incomplete copy is read on if the host still has the same file.
            const std::string cut = path + "." + std::to_string(file.time) + ".part";
            append(cut, {});
            readOn(session, far->path + "/" + file.name, cut, file.size, [&](std::int64_t at) {
                done = static_cast<double>(before + at) / static_cast<double>(all);
                return wanted();
            });
            setTime(cut, file.time);
            fs::rename(cut, path, error);
            if (error) throw FileError(path, "cannot be written: " + error.message());
        }
        before += file.size;
    }
    // Removes files of an earlier incomplete copy, perhaps of another run.
    std::vector<fs::path> others;
    for (const auto& entry : fs::recursive_directory_iterator(part)) {
        const auto name = entry.path().lexically_relative(part).string();
        if (!entry.is_directory() &&
            std::none_of(files.begin(), files.end(),
                         [&](const auto& file) { return file.name == name; }))
            others.push_back(entry.path());
    }
    for (const auto& other : others) fs::remove(other, error);
    fs::rename(part, to, error);
    if (error) throw FileError(to, "cannot be written: " + error.message());
}

}  // namespace relascope::wire
