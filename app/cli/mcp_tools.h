// SPDX-License-Identifier: GPL-3.0-or-later
// The tools of `relascope-cli mcp`: the commands that are questions, and where a folder is allowed
// those that write into it.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>

namespace relascope::cli {

class McpTools {
public:
    /// `folder`: what may be written into; empty: nothing. Throws FileError for one that is no
    /// folder.
    explicit McpTools(const std::string& folder);

    /// The result of tools/list: {"tools": [...]}.
    nlohmann::ordered_json list() const;
    bool has(const std::string& tool) const;
    /// The result of tools/call: content and structuredContent; if it fails, the sentence with
    /// "isError".
    nlohmann::ordered_json call(const std::string& tool, const nlohmann::ordered_json& arguments,
                                std::stop_token stop,
                                const std::function<void(double)>& progress) const;

    /// The place of a file or folder that is to be written: below the folder, by a relative path
    /// without ".." and without links. Throws OptionError(member, ...).
    std::string placeOf(const std::string& member, const std::string& path) const;

private:
    /// As placeOf(), and makes the folders above it.
    std::string madePlace(const std::string& member, const std::string& path) const;
    nlohmann::ordered_json answer(const std::string& tool, const nlohmann::ordered_json& arguments,
                                  const std::stop_token& stop,
                                  const std::function<void(double)>& progress) const;
    nlohmann::ordered_json question(const std::string& tool, nlohmann::ordered_json arguments,
                                    const std::stop_token& stop,
                                    const std::function<void(double)>& progress) const;

    std::string m_folder;
};

}  // namespace relascope::cli
