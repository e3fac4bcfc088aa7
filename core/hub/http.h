// SPDX-License-Identifier: GPL-3.0-or-later
// One request of HTTP at a time, by libcurl: TLS and proxies as the system has them. Redirects are
// answers here, and are not followed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "types/error.h"

namespace relascope::core {

/// The connection failed or ended before the whole answer: another try may succeed.
class ConnectionLost : public Error {
public:
    using Error::Error;
};

struct HttpAnswer {
    int status = 0;
    std::map<std::string, std::string> headers;  ///< names in lower case; the last of each name
    std::string header(const std::string& name) const;
};

class Http {
public:
    /// Gets a part of the body of an answer whose headers are known; false ends the request.
    using Take = std::function<bool(const HttpAnswer& answer, std::string_view part)>;

    /// `wanted` is asked several times a second; false cancels.
    explicit Http(std::function<bool()> wanted);
    ~Http();
    Http(const Http&) = delete;
    Http& operator=(const Http&) = delete;

    /// Sends HEAD. `headers`: "Name: value". Throws ConnectionLost; Error for an address or an
    /// answer that is not HTTP; Cancelled.
    HttpAnswer head(const std::string& url, const std::vector<std::string>& headers);
    HttpAnswer get(const std::string& url, const std::vector<std::string>& headers,
                   const Take& take);

private:
    HttpAnswer perform(const std::string& url, const std::vector<std::string>& headers,
                       const Take* take);
    struct Call;
    struct Closer {
        void operator()(void* handle) const;
    };
    std::function<bool()> m_wanted;
    std::unique_ptr<void, Closer> m_handle;
};

/// "https://host:port" of an address in lower case; empty if it is not HTTP.
std::string originOf(const std::string& url);

}  // namespace relascope::core
