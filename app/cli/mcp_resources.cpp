// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/mcp_resources.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "files/atomic_file.h"
#include "files/program_folder.h"
#include "run/run_folder.h"
#include "run/run_list.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kResourcePage = 200;          // resources on a page of a list
constexpr std::uint64_t kMostResource = 4U << 20U;  // bytes

/// The folder without links; empty where there is none.
std::string plainFolder(const fs::path& folder) {
    std::error_code error;
    const auto plain = fs::canonical(folder, error);
    return error || !fs::is_directory(plain, error) ? std::string() : plain.string();
}

/// Whether a file or folder lies below a folder of plainFolder(), also behind its links.
bool liesBelow(const fs::path& path, const std::string& folder) {
    std::error_code error;
    const auto plain = fs::canonical(path, error);
    return !error && plain.string().starts_with(folder + "/");
}

/// A name as a part of a URI (RFC 3986): what is not unreserved as %XX, but "/".
std::string uriPart(const std::string& name) {
    static constexpr char kHexadecimal[] = "0123456789ABCDEF";
    std::string part;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (byte < 0x80 && std::isalnum(byte)) ||
                           std::string_view("-._~/").find(c) != std::string_view::npos;
        if (plain)
            part += c;
        else
            part += {'%', kHexadecimal[byte / 16], kHexadecimal[byte % 16]};
    }
    return part;
}

/// The first heading of a document.
std::string titleOf(const std::string& file) {
    const auto text = core::readTextFile(file, kMostResource);
    const auto at = text.find("# ");
    return at == std::string::npos ? "" : text.substr(at + 2, text.find('\n', at) - at - 2);
}

std::string checkpointText(const std::string& path) {
    const auto info = core::readCheckpointInfo(path);
    Json json = {{"path", info.path},           {"form", info.form},
                 {"model", info.title},         {"parameters", info.parameters},
                 {"trainable", info.trainable}, {"bytes", info.bytes},
                 {"classes", info.classNames},  {"problems", info.problems.size()}};
    json["tensors"] = Json::array();
    for (const auto& tensor : info.tensors) json["tensors"].push_back({tensor.name, tensor.shape});
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

McpResources::McpResources(const std::string& runs)
    : m_documents(plainFolder(core::programFolder().parent_path() / "share/doc/relascope")) {
    if (!runs.empty()) {
        m_runs = plainFolder(runs);
        if (m_runs.empty()) throw FileError(runs, "is no folder; --runs names one with runs");
        return;
    }
    try {
        m_runs = plainFolder(core::defaultRunsFolder());
    } catch (const Error&) {
        // Neither a folder is named nor is there a home: there are no runs to list.
    }
}

void McpResources::addRuns(std::vector<Entry>& all) const {
    for (const auto& run : core::listRuns(m_runs, [](const Error&) {})) {
        if (!liesBelow(run.path, m_runs)) continue;
        const auto name = fs::path(run.path).lexically_relative(m_runs).string();
        all.push_back({"relascope://runs/" + uriPart(name), name,
                       run.variant + " of " + (run.preset.empty() ? "its own data" : run.preset) +
                           ", " + runStateName(run.state) + " at step " + std::to_string(run.step) +
                           ": " + run.path,
                       "application/json", run.path});
        std::error_code error;
        std::vector<std::string> steps;
        for (const auto& entry : fs::directory_iterator(run.path + "/checkpoints", error))
            if (const auto step = entry.path().filename().string();
                step.starts_with("step-") && liesBelow(entry.path(), m_runs))
                steps.push_back(step);
        std::ranges::sort(steps);
        for (const auto& step : steps) {
            const auto path = run.path + "/checkpoints/" + step;
            all.push_back({"relascope://checkpoints/" + uriPart(name + "/" + step),
                           name + ", " + step, "weights: " + path, "application/json", path});
        }
    }
}

std::vector<McpResources::Entry> McpResources::entries() const {
    std::vector<Entry> all;
    std::error_code error;
    if (!m_documents.empty())
        for (const auto& entry : fs::directory_iterator(m_documents, error))
            if (entry.path().extension() == ".md" && liesBelow(entry.path(), m_documents)) {
                const auto name = entry.path().filename().string();
                all.push_back({"relascope://documents/" + uriPart(name), name,
                               titleOf(entry.path().string()), "text/markdown",
                               entry.path().string()});
            }
    std::ranges::sort(all, {}, &Entry::uri);
    if (!m_runs.empty()) addRuns(all);
    return all;
}

std::optional<Json> McpResources::list(const std::string& cursor) const {
    const auto all = entries();
    std::size_t first = 0;
    if (!cursor.empty()) {
        const auto [end, error] =
            std::from_chars(cursor.data(), cursor.data() + cursor.size(), first);
        if (error != std::errc() || end != cursor.data() + cursor.size()) return std::nullopt;
    }
    Json page = {{"resources", Json::array()}};
    for (std::size_t k = first; k < std::min(all.size(), first + kResourcePage); ++k)
        page["resources"].push_back({{"uri", all[k].uri},
                                     {"name", all[k].name},
                                     {"description", all[k].description},
                                     {"mimeType", all[k].type}});
    if (first < all.size() && all.size() - first > kResourcePage)
        page["nextCursor"] = std::to_string(first + kResourcePage);
    return page;
}

std::optional<Json> McpResources::read(const std::string& uri) const {
    const auto all = entries();
    const auto at = std::ranges::find(all, uri, &Entry::uri);
    if (at == all.end()) return std::nullopt;
    const auto text =
        uri.starts_with("relascope://checkpoints/")
            ? checkpointText(at->path)
            : core::readTextFile(core::isRunFolder(at->path) ? at->path + "/run.json" : at->path,
                                 kMostResource);
    return Json{
        {"contents", Json::array({{{"uri", uri}, {"mimeType", at->type}, {"text", text}}})}};
}

}  // namespace relascope::cli
