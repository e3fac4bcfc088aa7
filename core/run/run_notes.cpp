// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/run_notes.h"

#include <filesystem>

#include "files/atomic_file.h"
#include "run/json_values.h"
#include "run/run_list.h"
#include "types/error.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> notesIn(const Json& json, const char* key) {
    std::map<std::string, std::string> notes;
    const auto found = json.find(key);
    if (found == json.end() || !found->is_object()) return notes;
    for (const auto& [run, note] : found->items())
        if (note.is_string()) notes[run] = note.get<std::string>();
    return notes;
}

}  // namespace

std::string notesFile(const std::string& folder) {
    return folder + "/notes.json";
}

RunNotes readRunNotes(const std::string& folder) {
    RunNotes notes;
    std::error_code error;
    if (!fs::exists(notesFile(folder), error)) return notes;
    try {
        const auto json = Json::parse(readTextFile(notesFile(folder)), nullptr, false);
        notes.readable = json.is_object();
        if (!notes.readable) return notes;
        notes.runs = notesIn(json, "runs");
        notes.comparisons = notesIn(json, "comparisons");
    } catch (const Error&) {
        notes.readable = false;
    }
    return notes;
}

std::string noteKey(const std::string& folder, const std::string& run) {
    const auto inside =
        fs::path(run).lexically_normal().lexically_relative(fs::path(folder).lexically_normal());
    return inside.empty() || *inside.begin() == ".." ? run : inside.string();
}

std::string noteOnRun(const std::string& run) {
    const auto path = fs::absolute(run).lexically_normal();
    const auto noteIn = [&](const std::string& folder) {
        const auto notes = readRunNotes(folder).runs;
        const auto found = notes.find(noteKey(folder, path.string()));
        return found == notes.end() ? std::string() : found->second;
    };
    // Runs lie up to two folders deep (run/run_list.h).
    const auto parent = path.parent_path();
    for (const auto& folder : {parent, parent.parent_path()})
        if (auto note = noteIn(folder.string()); !note.empty()) return note;
    try {
        return noteIn(defaultRunsFolder());
    } catch (const Error&) {
        return {};  // there is no home folder
    }
}

}  // namespace relascope::core
