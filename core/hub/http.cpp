// SPDX-License-Identifier: GPL-3.0-or-later
#include "hub/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <mutex>

#include "hub/hub_cache.h"
#include "options/builtin_resources.h"

namespace relascope::core {
namespace {

constexpr std::size_t kMostHeaders = 256 << 10;  // bytes of one answer
constexpr long kConnectSeconds = 30, kSilentSeconds = 300;

std::string lowered(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    return text;
}

// The certificates that the variables of other clients name, which libcurl itself does not read.
void useCertificates(CURL* handle) {
    for (const char* name :
         {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"}) {
        const auto place = hubPlace({name});
        if (place.empty()) continue;
        std::error_code error;
        const bool folder = std::filesystem::is_directory(place, error);
        if (!folder && !std::filesystem::is_regular_file(place, error))
            throw Error(place + " is not there, and " + name +
                        " names it as the file of certificates; correct that or unset it");
        curl_easy_setopt(handle, folder ? CURLOPT_CAPATH : CURLOPT_CAINFO, place.c_str());
        return;
    }
}

}  // namespace

std::string HttpAnswer::header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
}

std::string originOf(const std::string& url) {
    const std::string text = lowered(url);
    const auto begin = text.find("://");
    if (begin == std::string::npos) return {};
    const std::string scheme = text.substr(0, begin);
    if (scheme != "http" && scheme != "https") return {};
    return text.substr(0, text.find_first_of("/?#", begin + 3));
}

/// The state for the functions that libcurl calls; exceptions do not pass through libcurl.
struct Http::Call {
    HttpAnswer answer;
    const Http& http;
    const Take* take;
    std::size_t headerBytes = 0;
    bool cancelled = false, ended = false, endless = false;
    std::exception_ptr error = {};

    static std::size_t header(char* bytes, std::size_t, std::size_t size, void* self) {
        auto& call = *static_cast<Call*>(self);
        const std::string_view line(bytes, size);
        if ((call.headerBytes += size) > kMostHeaders) return call.endless = true, 0;
        if (line.starts_with("HTTP/")) call.answer.headers.clear();
        if (const auto colon = line.find(':'); colon != std::string_view::npos)
            call.answer.headers[lowered(std::string(trimmed(line.substr(0, colon))))] =
                trimmed(line.substr(colon + 1));
        return size;
    }
    static std::size_t body(char* bytes, std::size_t, std::size_t size, void* self) {
        auto& call = *static_cast<Call*>(self);
        try {
            long status = 0;
            curl_easy_getinfo(call.http.m_handle.get(), CURLINFO_RESPONSE_CODE, &status);
            call.answer.status = static_cast<int>(status);
            if (call.take && (*call.take)(call.answer, {bytes, size})) return size;
            call.ended = true;
        } catch (...) {
            call.error = std::current_exception();
        }
        return 0;
    }
    static int progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
        auto& call = *static_cast<Call*>(self);
        try {
            call.cancelled |= !call.http.m_wanted();
        } catch (...) {
            call.error = std::current_exception();
        }
        return call.cancelled || call.error ? 1 : 0;
    }
};

void Http::Closer::operator()(void* handle) const {
    curl_easy_cleanup(handle);
}

Http::Http(std::function<bool()> wanted) : m_wanted(std::move(wanted)) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    m_handle.reset(curl_easy_init());
    if (!m_handle) throw Error("libcurl cannot be used: it does not begin");
}

Http::~Http() = default;

HttpAnswer Http::head(const std::string& url, const std::vector<std::string>& headers) {
    return perform(url, headers, nullptr);
}

HttpAnswer Http::get(const std::string& url, const std::vector<std::string>& headers,
                     const Take& take) {
    return perform(url, headers, &take);
}

HttpAnswer Http::perform(const std::string& url, const std::vector<std::string>& headers,
                         const Take* take) {
    CURL* handle = m_handle.get();
    curl_easy_reset(handle);  // keeps its connections
    Call call{{}, *this, take};
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> list(
        [&] {
            curl_slist* all = curl_slist_append(nullptr, "Accept-Encoding: identity");
            for (const auto& header : headers) all = curl_slist_append(all, header.c_str());
            return all;
        }(),
        &curl_slist_free_all);
    const std::string agent = std::string("relascope/") + builtin::version();
    char problem[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_USERAGENT, agent.c_str());
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, list.get());
    curl_easy_setopt(handle, CURLOPT_NOBODY, take ? 0L : 1L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, problem);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &Call::header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &call);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &Call::body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &call);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &Call::progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &call);
    useCertificates(handle);
    const auto code = curl_easy_perform(handle);
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    call.answer.status = static_cast<int>(status);
    if (call.error) std::rethrow_exception(call.error);
    if (call.cancelled) throw Cancelled();
    if (call.endless) throw Error(originOf(url) + " sends headers without end");
    if (code == CURLE_OK || call.ended) return call.answer;
    const std::string reason = problem[0] ? problem : curl_easy_strerror(code);
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
        throw Error("'" + url.substr(0, 200) + "' is not an address of HTTP: " + reason);
    throw ConnectionLost(originOf(url) + ": " + reason);
}

}  // namespace relascope::core
