// SPDX-License-Identifier: GPL-3.0-or-later
#include "hub/hub_fetch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>

#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "files/sha256.h"
#include "hub/hub_client.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr int kAtATime = 2;
constexpr std::int64_t kSpare = 64 << 20;  // bytes that stay free

bool isSha256(const std::string& etag) {
    return etag.size() == 64 &&
           std::all_of(etag.begin(), etag.end(), [](unsigned char c) { return std::isxdigit(c); });
}

std::int64_t sizeOf(const fs::path& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<std::int64_t>(size);
}

/// The shards that an index names.
std::set<std::string> shardsOf(const std::string& index, const Hub& hub) {
    std::set<std::string> names;
    const Json json = Json::parse(index, nullptr, false);
    try {
        for (const auto& [tensor, file] : json.at("weight_map").items())
            names.insert(file.get<std::string>());
    } catch (const Json::exception&) {
        throw hub.invalidAnswer("the index of its weights cannot be read");
    }
    return names;
}

/// Where the weights of a model may be, if not at a commit: "; it has the revisions chck_1M, ...".
std::string otherRevisions(const std::string& commit, Hub& hub) {
    constexpr std::size_t most = 4;
    std::vector<std::string> names;
    try {
        for (const auto& one : hub.revisions())
            if (one.commit != commit) names.push_back(one.name);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {  // an old hub; the sentence stands without them
    }
    if (names.empty()) return {};
    std::string text = "; it has the revisions ";
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
    return text + ", which are opened as ORG/NAME@REVISION, or together as ORG/NAME@*";
}

/// nanochat's weights of the largest step, with the file that describes them; empty without any.
std::vector<std::string> newestNanochatIn(const std::set<std::string>& there) {
    for (auto name = there.rbegin(); name != there.rend(); ++name) {
        const bool weights = name->starts_with("model_") && name->ends_with(".pt");
        const auto meta = weights ? "meta_" + name->substr(6, name->size() - 9) + ".json" : "";
        if (weights && there.contains(meta)) return {*name, meta};
    }
    return {};
}

/// The files of a model that this program reads.
std::vector<std::string> namesToFetch(const std::vector<std::string>& all,
                                      const std::string& commit, Hub& hub) {
    const std::set<std::string> there(all.begin(), all.end());
    std::vector<std::string> names;
    for (const char* name :
         {"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
          "added_tokens.json", "vocab.json", "merges.txt", "vocab.txt", "generation_config.json",
          "preprocessor_config.json", "tokenizer.pkl", "README.md"})
        if (there.contains(name)) names.emplace_back(name);
    const auto before = names.size();
    for (const std::string stem : {"model.safetensors", "pytorch_model.bin"}) {
        if (there.contains(stem)) {
            names.push_back(stem);
        } else if (const std::string index = stem + ".index.json"; there.contains(index)) {
            names.push_back(index);
            for (const auto& shard : shardsOf(hub.text(hub.file(commit, index)), hub))
                if (there.contains(shard)) names.push_back(shard);
        } else if (stem == "model.safetensors") {
            for (const auto& name : all)
                if (name.ends_with(".safetensors") && name.find('/') == std::string::npos)
                    names.push_back(name);
        }
        if (names.size() > before) break;
    }
    if (names.size() == before)
        for (const auto& name : newestNanochatIn(there)) names.push_back(name);
    if (names.size() == before)
        throw NoWeights(
            hub.invalidAnswer(
                   "none of its files are weights that this program reads (model.safetensors or "
                   "pytorch_model.bin, or shards with their index; model_*.pt of nanochat with its "
                   "meta_*.json)" +
                   otherRevisions(commit, hub))
                .what());
    return names;
}

bool isLinked(const fs::path& folder, const std::string& commit, const HubFile& file) {
    const fs::path to = folder / "snapshots" / commit / file.name;
    std::error_code error;
    return fs::exists(to, error) && sizeOf(to) == file.size;
}

/// Links FILE of a snapshot to its blob, or copies it where there are no links.
void linkFile(const fs::path& folder, const std::string& commit, const HubFile& file) {
    const fs::path to = folder / "snapshots" / commit / file.name;
    makeDirectories(to.parent_path().string());
    const fs::path blob = folder / "blobs" / file.etag;
    std::error_code error;
    if (isLinked(folder, commit, file)) return;
    const fs::path link = fs::relative(blob, to.parent_path(), error);
    const fs::path fresh = to.string() + ".relascope-part";
    fs::remove(fresh, error);
    fs::create_symlink(link, fresh, error);
    if (error) {  // a file system without links
        error.clear();
        fs::copy_file(blob, fresh, error);
    }
    if (!error) fs::rename(fresh, to, error);
    if (error) throw FileError(to.string(), "cannot be made: " + error.message());
}

/// Counts what comes, for all files.
class Meter {
public:
    Meter(std::int64_t total, std::function<bool(const HubProgress&)> report)
        : m_total(total), m_report(std::move(report)) {}
    void add(std::int64_t bytes) { m_done += bytes; }
    void fail(std::exception_ptr error) {
        std::lock_guard lock(m_mutex);
        if (!m_error) m_error = std::move(error);
    }
    /// False once the whole is to end.
    bool shouldContinue() {
        std::lock_guard lock(m_mutex);
        if (m_error || m_cancelled) return false;
        const auto now = Clock::now();
        if (now - m_said < std::chrono::milliseconds(100)) return true;
        m_said = now;
        const double seconds = std::chrono::duration<double>(now - m_since).count();
        if (seconds > 3.0) {
            m_rate = static_cast<double>(m_done - m_before) / seconds;
            m_since = now, m_before = m_done;
        } else if (m_rate == 0.0 && seconds > 0.5) {
            m_rate = static_cast<double>(m_done - m_before) / seconds;
        }
        m_cancelled = m_report && !m_report({m_done, m_total, m_rate});
        return !m_cancelled;
    }
    void finish() {
        if (m_error) std::rethrow_exception(m_error);
        if (m_cancelled) throw Cancelled();
        if (m_report) m_report({m_total, m_total, m_rate});
    }

private:
    const std::int64_t m_total;
    const std::function<bool(const HubProgress&)> m_report;
    std::atomic<std::int64_t> m_done = 0;
    std::mutex m_mutex;
    std::exception_ptr m_error;
    bool m_cancelled = false;
    double m_rate = 0.0;
    std::int64_t m_before = 0;
    Clock::time_point m_since = Clock::now(), m_said = {};
};

class BlobFile {
public:
    explicit BlobFile(std::string path)
        : m_path(std::move(path)),
          m_file(::open(m_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
        if (m_file < 0) throwWriteError(m_path, "cannot be made", errno);
    }
    ~BlobFile() { ::close(m_file); }
    BlobFile(const BlobFile&) = delete;
    BlobFile& operator=(const BlobFile&) = delete;
    void add(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto written = ::write(m_file, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) throwWriteError(m_path, "cannot be written", errno);
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    void cut() {
        if (::ftruncate(m_file, 0) != 0 || ::lseek(m_file, 0, SEEK_SET) != 0)
            throwWriteError(m_path, "cannot be written", errno);
    }
    std::int64_t end() { return ::lseek(m_file, 0, SEEK_END); }
    void sync() {
        if (::fsync(m_file) != 0) throwWriteError(m_path, "cannot be written", errno);
    }

private:
    const std::string m_path;
    const int m_file;
};

std::string hashOf(const fs::path& path, const std::function<bool()>& wanted) {
    Sha256 hash;
    std::vector<char> part(4 << 20);
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
    if (!file) throw FileError(path.string(), "cannot be read");
    while (const auto got = std::fread(part.data(), 1, part.size(), file.get())) {
        hash.add(part.data(), got);
        if (!wanted()) throw Cancelled();
    }
    return hash.hex();
}

/// The lock NAME of a model, among processes that fetch it. It may not be held where `done`
/// returned true before it was free.
FileLock lockOf(const fs::path& folder, const std::string& name, Meter& meter,
                const std::function<bool()>& done) {
    const fs::path file = folder.parent_path() / ".locks" / folder.filename() / (name + ".lock");
    makeDirectories(file.parent_path().string());
    FileLock lock(file.string());
    while (!lock.held() && !done()) {
        if (!meter.shouldContinue()) throw Cancelled();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        lock = FileLock(file.string());
    }
    return lock;
}

/// Fetches one blob; another process may be at it.
void fetchBlob(Hub& hub, const fs::path& folder, const HubFile& file, Meter& meter) {
    const fs::path blob = folder / "blobs" / file.etag;
    const fs::path part = blob.string() + ".incomplete";
    const auto there = [&] {
        std::error_code error;
        return fs::is_regular_file(blob, error) && sizeOf(blob) == file.size;
    };
    const FileLock lock = lockOf(folder, file.etag, meter, there);
    if (there()) return meter.add(file.size);
    makeDirectories(blob.parent_path().string());
    BlobFile out(part.string());
    std::int64_t at = out.end();
    if (at > file.size) {
        out.cut();
        at = 0;
    }
    meter.add(at);
    for (int lost = 0; at < file.size;) {
        const auto before = at;
        bool first = true;
        try {
            hub.body(file, at, [&](bool begins, std::string_view bytes) {
                if (std::exchange(first, false) && begins && at > 0) {  // not only the range came
                    meter.add(-at);
                    out.cut();
                    at = 0;
                }
                if (at + static_cast<std::int64_t>(bytes.size()) > file.size)
                    throw hub.invalidAnswer(file.name + " is longer than its size, " +
                                            std::to_string(file.size) + " bytes");
                out.add(bytes);
                at += static_cast<std::int64_t>(bytes.size());
                meter.add(static_cast<std::int64_t>(bytes.size()));
                return true;
            });
        } catch (const ConnectionLost& error) {
            lost = at > before ? 0 : lost + 1;
            if (lost == Hub::kTries) throw hub.lost(error);
            if (lost > 0) hub.pause(std::chrono::seconds(1));
            continue;
        }
        if (at < file.size) {  // an answer that ends too early, with the length that it says
            lost = at > before ? 0 : lost + 1;
            if (lost == Hub::kTries)
                throw hub.invalidAnswer(file.name + " is shorter than its size, " +
                                        std::to_string(file.size) + " bytes");
        }
    }
    out.sync();
    if (isSha256(file.etag) && hashOf(part, [&] { return meter.shouldContinue(); }) != file.etag) {
        std::error_code error;
        fs::remove(part, error);
        throw hub.invalidAnswer("the bytes of " + file.name +
                                " do not have its SHA-256; try again");
    }
    std::error_code error;
    fs::rename(part, blob, error);
    if (error) throw FileError(blob.string(), "cannot be written: " + error.message());
}

}  // namespace

std::int64_t HubListing::bytes() const {
    std::int64_t sum = 0;
    for (const auto& file : files) sum += file.size;
    return sum;
}

HubListing listHubModel(const HubModel& model, const std::function<bool()>& wanted) {
    requireOnline(model);
    Hub hub(model, wanted);
    HubListing listing;
    const auto [commit, all] = hub.revision();
    listing.commit = commit;
    for (const auto& name : namesToFetch(all, commit, hub))
        listing.files.push_back(hub.file(commit, name));
    return listing;
}

std::vector<HubRevision> listHubRevisions(const std::string& model,
                                          const std::function<bool()>& wanted) {
    const HubModel named{model};
    requireOnline(named);
    return Hub(named, wanted).revisions();
}

std::string fetchHubModel(const HubModel& model,
                          const std::function<bool(const HubProgress&)>& progress) {
    const auto listing = listHubModel(model, [&] { return !progress || progress({0, 0, 0.0}); });
    const fs::path folder = hubModelFolder(model);
    makeDirectories((folder / "blobs").string());
    std::int64_t missing = 0;
    std::set<std::string> blobs;
    for (const auto& file : listing.files)
        if (blobs.insert(file.etag).second) {
            const fs::path blob = folder / "blobs" / file.etag;
            std::error_code error;
            if (!fs::exists(blob, error))
                missing += file.size - std::min(file.size, sizeOf(blob.string() + ".incomplete"));
        }
    if (const auto free = static_cast<std::int64_t>(freeBytes(folder.string()));
        missing > 0 && free < missing + kSpare)
        throw DiskFull(folder.string(), "the disk has " + std::to_string(free >> 20) +
                                            " MiB free, and " + model.text() + " needs " +
                                            std::to_string((missing >> 20) + 1) +
                                            " MiB more; free some space, or set HF_HUB_CACHE");
    Meter meter(listing.bytes(), progress);
    std::atomic<std::size_t> next = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kAtATime; ++i)
            threads.emplace_back([&] {
                try {
                    Hub hub(model, [&] { return meter.shouldContinue(); });
                    for (std::size_t k = next++; k < listing.files.size(); k = next++)
                        fetchBlob(hub, folder, listing.files[k], meter);
                } catch (const Cancelled&) {  // as the meter knows
                } catch (...) {
                    meter.fail(std::current_exception());
                }
            });
    }
    meter.finish();
    // The snapshot appears with its last file; the reference names it afterwards.
    {
        const FileLock lock = lockOf(folder, listing.commit, meter, [&] {
            return std::all_of(
                listing.files.begin(), listing.files.end(),
                [&](const HubFile& file) { return isLinked(folder, listing.commit, file); });
        });
        for (const auto& file : listing.files) linkFile(folder, listing.commit, file);
    }
    if (model.revision != listing.commit) {
        const fs::path ref = folder / "refs" / model.revision;
        makeDirectories(ref.parent_path().string());
        writeTextFile(ref.string(), listing.commit);
    }
    return (folder / "snapshots" / listing.commit).string();
}

}  // namespace relascope::core
