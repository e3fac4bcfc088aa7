// SPDX-License-Identifier: GPL-3.0-or-later
// The resources of `relascope-cli mcp`: the runs of a folder, their checkpoints, and the documents
// of the program. Only what is listed can be read.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace relascope::cli {

class McpResources {
public:
    /// `runs`: the folder whose runs are listed; empty: the default one.
    explicit McpResources(const std::string& runs);

    /// A page of the list: {"resources": [...]}, with "nextCursor" where more follow. Nothing for a
    /// cursor that is none.
    std::optional<nlohmann::ordered_json> list(const std::string& cursor) const;
    /// {"contents": [...]} of a listed resource; nothing for another. Throws FileError.
    std::optional<nlohmann::ordered_json> read(const std::string& uri) const;

private:
    struct Entry {
        std::string uri, name, description, type;
        std::string path;  ///< the file of a document, else the run or checkpoint
    };
    std::vector<Entry> entries() const;
    void addRuns(std::vector<Entry>& all) const;

    std::string m_runs, m_documents;  ///< without links; empty: none
};

}  // namespace relascope::cli
