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
#include "hub/http.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr std::size_t kMostJson = 16 << 20;  // bytes of a list or an index
constexpr int kTries = 3, kRedirects = 5, kAtATime = 2;
constexpr std::int64_t kSpare = 64 << 20;  // bytes that stay free

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::string endpoint() {
    std::string address = environment("HF_ENDPOINT");
    if (address.empty()) address = "https://huggingface.co";
    while (address.ends_with('/')) address.pop_back();
    if (originOf(address).empty())
        throw OptionError("HF_ENDPOINT", "'" + address + "' is not an address of HTTP");
    return address;
}

void requireOnline(const HubModel& model) {
    for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
        std::string offline = environment(name);
        std::transform(offline.begin(), offline.end(), offline.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (offline == "1" || offline == "true" || offline == "yes" || offline == "on")
            throw Error(model.text() + " is not fetched: " + name +
                        " is set, so that no connection is made");
    }
}

std::string token() {
    std::string found = environment("HF_TOKEN");
    if (found.empty()) found = environment("HUGGING_FACE_HUB_TOKEN");
    if (found.empty()) {
        std::string file = hubPlace({"HF_TOKEN_PATH"});
        if (file.empty()) {
            // Wherever the cache is.
            std::string home = hubPlace({"HF_HOME"});
            if (home.empty()) {
                const auto cache = hubPlace({"XDG_CACHE_HOME"});
                home = (cache.empty() ? environment("HOME") + "/.cache" : cache) + "/huggingface";
            }
            file = home + "/token";
        }
        std::error_code error;
        if (fs::is_regular_file(file, error)) found = readTextFile(file, 4096);
    }
    std::erase_if(found, [](unsigned char c) { return std::isspace(c) || std::iscntrl(c); });
    return found;
}

std::string escaped(const std::string& text, bool slashes) {
    static constexpr char kDigits[] = "0123456789ABCDEF";
    std::string out;
    for (const unsigned char c : text) {
        if (std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~' ||
            (slashes && c == '/')) {
            out += static_cast<char>(c);
        } else {
            out += '%';
            out += kDigits[c >> 4];
            out += kDigits[c & 15];
        }
    }
    return out;
}

/// The name of a blob, from a header: without W/ and quotes.
std::string etagOf(const HttpAnswer& answer) {
    std::string etag = answer.header("x-linked-etag");
    if (etag.empty()) etag = answer.header("etag");
    if (etag.starts_with("W/")) etag.erase(0, 2);
    std::erase(etag, '"');
    return etag;
}

bool isPlainName(const std::string& name) {
    return !name.empty() && name.size() <= 200 && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), [](unsigned char c) {
               return std::isalnum(c) || c == '-' || c == '_' || c == '.';
           });
}

bool isSha256(const std::string& etag) {
    return etag.size() == 64 &&
           std::all_of(etag.begin(), etag.end(), [](unsigned char c) { return std::isxdigit(c); });
}

std::int64_t sizeOf(const fs::path& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<std::int64_t>(size);
}

/// Asks the hub about one model.
class Hub {
public:
    Hub(HubModel model, std::function<bool()> wanted)
        : m_model(std::move(model)),
          m_endpoint(endpoint()),
          m_origin(originOf(m_endpoint)),
          m_token(token()),
          m_wanted(std::move(wanted)),
          m_http(m_wanted) {}

    /// The commit of the revision, and the names of all files.
    std::pair<std::string, std::vector<std::string>> revision() {
        const auto [answer, text] =
            textAt(m_endpoint + "/api/models/" + escaped(m_model.name, true) + "/revision/" +
                   escaped(m_model.revision, false));
        const Json json = Json::parse(text, nullptr, false);
        std::vector<std::string> names;
        std::string commit;
        try {
            commit = json.at("sha").get<std::string>();
            for (const auto& file : json.at("siblings"))
                names.push_back(file.at("rfilename").get<std::string>());
        } catch (const Json::exception&) {
            throw Error("What the hub says of " + m_model.text() +
                        " cannot be read; is HF_ENDPOINT the address of a hub?");
        }
        if (!isPlainName(commit)) throw lies("a commit is named '" + commit.substr(0, 80) + "'");
        for (const auto& name : names)
            if (!isHubFileName(name)) throw lies("a file is named '" + name.substr(0, 80) + "'");
        return {commit, names};
    }

    /// Size, ETag and address of a file, before it is fetched.
    HubFile file(const std::string& commit, const std::string& name) {
        HubFile file;
        file.name = name;
        file.address = m_endpoint + "/" + escaped(m_model.name, true) + "/resolve/" + commit + "/" +
                       escaped(name, true);
        HttpAnswer answer;
        for (int hop = 0;; ++hop) {
            answer = asked([&] { return m_http.head(file.address, headers(file.address)); });
            const std::string to = answer.header("location");
            const bool moved = answer.status >= 300 && answer.status < 400 && !to.empty();
            if (!moved) break;
            if (!to.starts_with('/') || to.starts_with("//")) {
                file.address = to;  // the headers are about the file there
                break;
            }
            if (hop == kRedirects) throw lies("the address of " + name + " leads in a circle");
            file.address = m_origin + to;
        }
        file.etag = etagOf(answer);
        std::string size = answer.header("x-linked-size");
        if (size.empty()) size = answer.header("content-length");
        try {
            std::size_t end = 0;
            file.size = std::stoll(size, &end);
            if (end != size.size() || file.size < 0) throw std::invalid_argument("");
        } catch (const std::exception&) {
            throw lies("the size of " + name + " is '" + size.substr(0, 40) + "'");
        }
        if (!isPlainName(file.etag))
            throw lies("the ETag of " + name + " is '" + file.etag.substr(0, 80) + "'");
        if (originOf(file.address).empty())
            throw lies(name + " is at '" + file.address.substr(0, 80) +
                       "', which is not an address of HTTP");
        return file;
    }

    std::string text(const HubFile& file) {
        for (int tries = 1;; ++tries) try {
                std::string bytes;
                body(file, 0, [&](bool, std::string_view part) {
                    if ((bytes += part).size() > kMostJson) throw lies(file.name + " is too long");
                    return true;
                });
                return bytes;
            } catch (const ConnectionLost& error) {
                if (tries == kTries) throw lost(error);
                pause(std::chrono::seconds(1));
            }
    }

    /// Gives the bytes of a file from a position on; `begins`: from the beginning after all.
    /// Returns once the answer has ended.
    void body(const HubFile& file, std::int64_t from,
              const std::function<bool(bool begins, std::string_view part)>& take) {
        std::string address = file.address;
        for (int hop = 0;; ++hop) {
            auto all = headers(address);
            if (from > 0) all.push_back("Range: bytes=" + std::to_string(from) + "-");
            const auto answer = asked(
                [&] {
                    return m_http.get(address, all,
                                      [&](const HttpAnswer& a, std::string_view part) {
                                          if (a.status != 200 && a.status != 206)
                                              return part.size() < kMostJson;
                                          return take(a.status == 200, part);
                                      });
                },
                false);
            if (answer.status == 416) {
                if (from == 0) throw lies(file.name + " has no bytes");
                from = 0;
                continue;
            }
            const std::string to = answer.header("location");
            if (answer.status < 300 || to.empty()) return;
            if (hop == kRedirects) throw lies("the address of " + file.name + " leads in a circle");
            const std::string next = to.starts_with('/') ? originOf(address) + to : to;
            if (originOf(next).empty() ||
                (address.starts_with("https:") && !next.starts_with("https:")))
                throw lies(file.name + " is at '" + next.substr(0, 80) +
                           "', which is not followed");
            address = next;
        }
    }

    ConnectionLost lost(const ConnectionLost& error) const {
        return ConnectionLost(m_model.text() +
                              " cannot be fetched, what has come is kept: " + error.what());
    }
    void pause(std::chrono::milliseconds time) const {
        for (const auto end = Clock::now() + time; Clock::now() < end;) {
            if (!m_wanted()) throw Cancelled();
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }

    Error lies(const std::string& what) const {
        return Error("The hub's answer about " + m_model.text() + " is refused: " + what + ".");
    }

private:
    /// The token goes to the hub alone.
    std::vector<std::string> headers(const std::string& url) const {
        if (m_token.empty() || originOf(url) != m_origin) return {};
        return {"Authorization: Bearer " + m_token};
    }

    std::pair<HttpAnswer, std::string> textAt(std::string address) {
        std::string text;
        for (int hop = 0;; ++hop) {
            const auto answer = asked([&] {
                text.clear();
                return m_http.get(address, headers(address),
                                  [&](const HttpAnswer&, std::string_view part) {
                                      if ((text += part).size() > kMostJson)
                                          throw lies("it is longer than 16 MB");
                                      return true;
                                  });
            });
            const std::string to = answer.header("location");
            if (answer.status < 300 || to.empty()) return {answer, text};
            if (hop == kRedirects) throw lies("its address leads in a circle");
            if (!to.starts_with('/') || to.starts_with("//"))
                throw Error(
                    m_endpoint + " sends on to " + to.substr(0, 80) +
                    ", where nothing is asked for; if that is the hub, set HF_ENDPOINT to " +
                    (originOf(to).empty() ? "its address" : originOf(to)) + ".");
            address = m_origin + to;  // a model that was renamed
        }
    }

    /// Asks until there is an answer that says something of the file; also after a connection that
    /// was lost, unless what has come is kept elsewhere. Throws what the hub refuses.
    HttpAnswer asked(const std::function<HttpAnswer()>& ask, bool triesLost = true) {
        for (int tries = 1;; ++tries) {
            std::chrono::milliseconds wait(1000 << (tries - 1));
            try {
                const auto answer = ask();
                const bool busy = answer.status == 429 || answer.status == 503;
                if (!busy || tries > kTries) {
                    refuse(answer);
                    return answer;
                }
                const auto after = std::atoi(answer.header("retry-after").c_str());
                wait = std::max(wait, std::chrono::milliseconds(1000 * std::clamp(after, 0, 30)));
            } catch (const ConnectionLost& error) {
                if (!triesLost) throw;
                if (tries == kTries) throw lost(error);
            }
            pause(wait);
        }
    }

    void refuse(const HttpAnswer& answer) const {
        if (answer.status < 400 || answer.status == 416) return;
        const std::string code = answer.header("x-error-code"),
                          page = m_endpoint + "/" + m_model.name;
        if (code == "GatedRepo")
            throw Error(m_token.empty()
                            ? "Access to " + m_model.text() + " is restricted: ask for it on " +
                                  page + ", then put your token into HF_TOKEN."
                            : "Your token gives no access to " + m_model.text() +
                                  ": ask for it on " + page + ".");
        if (code == "RevisionNotFound")
            throw Error(m_model.name + " has no revision '" + m_model.revision + "'; see " + page +
                        ".");
        if (code == "EntryNotFound")
            throw Error("A file of " + m_model.text() + " is not on the hub any more; see " + page +
                        ".");
        if (code == "RepoNotFound" || answer.status == 401 || answer.status == 404)
            throw Error(m_model.name +
                        (m_token.empty()
                             ? " does not exist, or is private: put your token into HF_TOKEN."
                             : " does not exist, or your token gives no access to it."));
        throw Error("The hub at " + m_endpoint + " answers " + std::to_string(answer.status) +
                    " when asked about " + m_model.text() + "; try again later.");
    }

    const HubModel m_model;
    const std::string m_endpoint, m_origin, m_token;
    const std::function<bool()> m_wanted;
    Http m_http;
};

/// The shards that an index names.
std::set<std::string> shardsOf(const std::string& index, const Hub& hub) {
    std::set<std::string> names;
    const Json json = Json::parse(index, nullptr, false);
    try {
        for (const auto& [tensor, file] : json.at("weight_map").items())
            names.insert(file.get<std::string>());
    } catch (const Json::exception&) {
        throw hub.lies("the index of its weights cannot be read");
    }
    return names;
}

/// The files of a model that this program reads.
std::vector<std::string> namesToFetch(const std::vector<std::string>& all,
                                      const std::string& commit, Hub& hub) {
    const std::set<std::string> there(all.begin(), all.end());
    std::vector<std::string> names;
    for (const char* name :
         {"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
          "added_tokens.json", "vocab.json", "merges.txt", "generation_config.json",
          "preprocessor_config.json", "README.md"})
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
        throw hub.lies(
            "none of its files are weights that this program reads (model.safetensors or "
            "pytorch_model.bin, or shards with their index)");
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
    bool goesOn() {
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
        if (!meter.goesOn()) throw Cancelled();
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
                    throw hub.lies(file.name + " is longer than its size, " +
                                   std::to_string(file.size) + " bytes");
                out.add(bytes);
                at += static_cast<std::int64_t>(bytes.size());
                meter.add(static_cast<std::int64_t>(bytes.size()));
                return true;
            });
        } catch (const ConnectionLost& error) {
            lost = at > before ? 0 : lost + 1;
            if (lost == kTries) throw hub.lost(error);
            if (lost > 0) hub.pause(std::chrono::seconds(1));
            continue;
        }
        if (at < file.size) {  // an answer that ends too early, with the length that it says
            lost = at > before ? 0 : lost + 1;
            if (lost == kTries)
                throw hub.lies(file.name + " is shorter than its size, " +
                               std::to_string(file.size) + " bytes");
        }
    }
    out.sync();
    if (isSha256(file.etag) && hashOf(part, [&] { return meter.goesOn(); }) != file.etag) {
        std::error_code error;
        fs::remove(part, error);
        throw hub.lies("the bytes of " + file.name + " do not have its SHA-256; try again");
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
                    Hub hub(model, [&] { return meter.goesOn(); });
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
