// SPDX-License-Identifier: GPL-3.0-or-later
#include "hub/hub_client.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "files/atomic_file.h"
#include "files/home_folder.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr std::size_t kMostJson = 16 << 20;  // bytes of a list or an index
constexpr int kRedirects = 5;

std::string endpoint() {
    std::string address = environment("HF_ENDPOINT");
    if (address.empty()) address = "https://huggingface.co";
    while (address.ends_with('/')) address.pop_back();
    if (originOf(address).empty())
        throw OptionError("HF_ENDPOINT", "'" + address + "' is not an address of HTTP");
    return address;
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

}  // namespace

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

Hub::Hub(HubModel model, std::function<bool()> wanted)
    : m_model(std::move(model)),
      m_endpoint(endpoint()),
      m_origin(originOf(m_endpoint)),
      m_token(token()),
      m_wanted(std::move(wanted)),
      m_http(m_wanted) {}

std::pair<std::string, std::vector<std::string>> Hub::revision() {
    const auto [answer, text] = textAt(m_endpoint + "/api/models/" + escaped(m_model.name, true) +
                                       "/revision/" + escaped(m_model.revision, false));
    const Json json = Json::parse(text, nullptr, false);
    std::vector<std::string> names;
    std::string commit;
    try {
        commit = json.at("sha").get<std::string>();
        for (const auto& file : json.at("siblings"))
            names.push_back(file.at("rfilename").get<std::string>());
    } catch (const Json::exception&) {
        throw unreadable();
    }
    if (!isPlainName(commit))
        throw invalidAnswer("a commit is named '" + commit.substr(0, 80) + "'");
    for (const auto& name : names)
        if (!isHubFileName(name))
            throw invalidAnswer("a file is named '" + name.substr(0, 80) + "'");
    return {commit, names};
}

std::vector<HubRevision> Hub::revisions() {
    const auto [answer, text] =
        textAt(m_endpoint + "/api/models/" + escaped(m_model.name, true) + "/refs");
    const Json json = Json::parse(text, nullptr, false);
    std::vector<HubRevision> all;
    try {
        for (const char* kind : {"branches", "tags"})
            for (const auto& one : json.at(kind))
                all.push_back(
                    {one.at("name").get<std::string>(), one.at("targetCommit").get<std::string>()});
    } catch (const Json::exception&) {
        throw unreadable();
    }
    for (const auto& one : all) {
        if (!isHubFileName(one.name))
            throw invalidAnswer("a revision is named '" + one.name.substr(0, 80) + "'");
        if (!isPlainName(one.commit))
            throw invalidAnswer("the commit of " + one.name + " is '" + one.commit.substr(0, 80) +
                                "'");
    }
    return all;
}

Error Hub::unreadable() const {
    return Error("What the hub says of " + m_model.text() +
                 " cannot be read; is HF_ENDPOINT the address of a hub?");
}

HubFile Hub::file(const std::string& commit, const std::string& name) {
    HubFile file;
    file.name = name;
    file.address = m_endpoint + "/" + escaped(m_model.name, true) + "/resolve/" + commit + "/" +
                   escaped(name, true);
    HttpAnswer answer;
    for (int hop = 0;; ++hop) {
        answer = withRetries([&] { return m_http.head(file.address, headers(file.address)); });
        const std::string to = answer.header("location");
        const bool moved = answer.status >= 300 && answer.status < 400 && !to.empty();
        if (!moved) break;
        if (!to.starts_with('/') || to.starts_with("//")) {
            file.address = to;  // the headers are about the file there
            break;
        }
        if (hop == kRedirects) throw invalidAnswer("the address of " + name + " leads in a circle");
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
        throw invalidAnswer("the size of " + name + " is '" + size.substr(0, 40) + "'");
    }
    if (!isPlainName(file.etag))
        throw invalidAnswer("the ETag of " + name + " is '" + file.etag.substr(0, 80) + "'");
    if (originOf(file.address).empty())
        throw invalidAnswer(name + " is at '" + file.address.substr(0, 80) +
                            "', which is not an address of HTTP");
    return file;
}

std::string Hub::text(const HubFile& file) {
    for (int tries = 1;; ++tries) try {
            std::string bytes;
            body(file, 0, [&](bool, std::string_view part) {
                if ((bytes += part).size() > kMostJson)
                    throw invalidAnswer(file.name + " is too long");
                return true;
            });
            return bytes;
        } catch (const ConnectionLost& error) {
            if (tries == kTries) throw lost(error);
            pause(std::chrono::seconds(1));
        }
}

void Hub::body(const HubFile& file, std::int64_t from,
               const std::function<bool(bool begins, std::string_view part)>& take) {
    std::string address = file.address;
    for (int hop = 0;; ++hop) {
        auto all = headers(address);
        if (from > 0) all.push_back("Range: bytes=" + std::to_string(from) + "-");
        const auto answer = withRetries(
            [&] {
                return m_http.get(address, all, [&](const HttpAnswer& a, std::string_view part) {
                    if (a.status != 200 && a.status != 206) return part.size() < kMostJson;
                    return take(a.status == 200, part);
                });
            },
            false);
        if (answer.status == 416) {
            if (from == 0) throw invalidAnswer(file.name + " has no bytes");
            from = 0;
            continue;
        }
        const std::string to = answer.header("location");
        if (answer.status < 300 || to.empty()) return;
        if (hop == kRedirects)
            throw invalidAnswer("the address of " + file.name + " leads in a circle");
        const std::string next = to.starts_with('/') ? originOf(address) + to : to;
        if (originOf(next).empty() ||
            (address.starts_with("https:") && !next.starts_with("https:")))
            throw invalidAnswer(file.name + " is at '" + next.substr(0, 80) +
                                "', which is not followed");
        address = next;
    }
}

ConnectionLost Hub::lost(const ConnectionLost& error) const {
    return ConnectionLost(m_model.text() +
                          " cannot be fetched, what has come is kept: " + error.what());
}

void Hub::pause(std::chrono::milliseconds time) const {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        if (!m_wanted()) throw Cancelled();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

Error Hub::invalidAnswer(const std::string& what) const {
    return Error("The hub's answer about " + m_model.text() + " is refused: " + what + ".");
}

std::vector<std::string> Hub::headers(const std::string& url) const {
    if (m_token.empty() || originOf(url) != m_origin) return {};
    return {"Authorization: Bearer " + m_token};
}

std::pair<HttpAnswer, std::string> Hub::textAt(std::string address) {
    std::string text;
    for (int hop = 0;; ++hop) {
        const auto answer = withRetries([&] {
            text.clear();
            return m_http.get(address, headers(address),
                              [&](const HttpAnswer&, std::string_view part) {
                                  if ((text += part).size() > kMostJson)
                                      throw invalidAnswer("it is longer than 16 MB");
                                  return true;
                              });
        });
        const std::string to = answer.header("location");
        if (answer.status < 300 || to.empty()) return {answer, text};
        if (hop == kRedirects) throw invalidAnswer("its address leads in a circle");
        if (!to.starts_with('/') || to.starts_with("//"))
            throw Error(m_endpoint + " sends on to " + to.substr(0, 80) +
                        ", where nothing is asked for; if that is the hub, set HF_ENDPOINT to " +
                        (originOf(to).empty() ? "its address" : originOf(to)) + ".");
        address = m_origin + to;  // a model that was renamed
    }
}

HttpAnswer Hub::withRetries(const std::function<HttpAnswer()>& ask, bool triesLost) {
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

void Hub::refuse(const HttpAnswer& answer) const {
    if (answer.status < 400 || answer.status == 416) return;
    const std::string code = answer.header("x-error-code"), page = m_endpoint + "/" + m_model.name;
    if (code == "GatedRepo")
        throw Error(m_token.empty()
                        ? "Access to " + m_model.text() + " is restricted: ask for it on " + page +
                              ", then put your token into HF_TOKEN."
                        : "Your token gives no access to " + m_model.text() + ": ask for it on " +
                              page + ".");
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

}  // namespace relascope::core
