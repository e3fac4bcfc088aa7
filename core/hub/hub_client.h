// SPDX-License-Identifier: GPL-3.0-or-later
// What a model has on the hub: its revisions, the facts of its files and their bytes, asked by HTTP
// as the hub's Python client asks. Answers are checked before anything is made of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hub/http.h"
#include "hub/hub_fetch.h"

namespace relascope::core {

/// Throws Error where the environment forbids connections.
void requireOnline(const HubModel& model);

/// Asks the hub about one model. `wanted` is asked several times a second. Errors are sentences
/// that name the model.
class Hub {
public:
    static constexpr int kTries = 3;  ///< after which a lost connection is an error

    Hub(HubModel model, std::function<bool()> wanted);
    /// The commit of the revision, and the names of all files.
    std::pair<std::string, std::vector<std::string>> revision();
    /// The branches and tags of the model.
    std::vector<HubRevision> revisions();
    /// Size, ETag and address of a file, before it is fetched.
    HubFile file(const std::string& commit, const std::string& name);
    std::string text(const HubFile& file);
    /// Gives the bytes of a file from a position on; `begins`: from the beginning after all.
    /// Returns once the answer has ended.
    void body(const HubFile& file, std::int64_t from,
              const std::function<bool(bool begins, std::string_view part)>& take);
    ConnectionLost lost(const ConnectionLost& error) const;
    void pause(std::chrono::milliseconds time) const;
    Error invalidAnswer(const std::string& what) const;
    Error unreadable() const;

private:
    /// The token goes to the hub alone.
    std::vector<std::string> headers(const std::string& url) const;
    std::pair<HttpAnswer, std::string> textAt(std::string address);
    /// Asks until there is an answer that says something of the file; also after a connection that
    /// was lost, unless what has come is kept elsewhere. Throws what the hub refuses.
    HttpAnswer withRetries(const std::function<HttpAnswer()>& ask, bool triesLost = true);
    void refuse(const HttpAnswer& answer) const;

    const HubModel m_model;
    const std::string m_endpoint, m_origin, m_token;
    const std::function<bool()> m_wanted;
    Http m_http;
};

}  // namespace relascope::core
