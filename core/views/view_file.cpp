// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/view_file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "analysis/analysis.h"
#include "files/atomic_file.h"
#include "files/command_line.h"
#include "files/sha256.h"
#include "hub/hub_cache.h"
#include "options/builtin_resources.h"
#include "options/options_json.h"
#include "options/presets.h"
#include "question/question_fields.h"
#include "run/run_folder.h"
#include "types/data_kind.h"
#include "types/field_text.h"
#include "types/head_choice.h"
#include "types/suggest.h"
#include "types/text_format.h"
#include "views/weights_checksum.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using ViewJson = nlohmann::ordered_json;

constexpr const char* kViewFormat = "relascope-view/1";
constexpr std::uint64_t kMostViewBytes = 1u << 20;
constexpr std::uint64_t kMostViewData = std::uint64_t{600} << 20;
constexpr std::size_t kMostListed = 10'000;  // values of one list
constexpr std::size_t kMostText = 100'000;   // bytes of one text
constexpr int kLeastDpi = 24, kMostDpi = 600;

// Values
// -------------------------------------------------------------------------------------------------

bool hasControls(const std::string& text) {
    return std::any_of(text.begin(), text.end(),
                       [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

void checkText(const std::string& key, const std::string& text) {
    if (text.size() > kMostText)
        throw OptionError(key, "has " + groupedNumber(static_cast<std::int64_t>(text.size())) +
                                   " bytes; at most 100,000 are taken");
    if (text.find('\0') != std::string::npos) throw OptionError(key, "has a byte 0");
}

void checkName(const std::string& key, const std::string& text) {
    checkText(key, text);
    if (hasControls(text)) throw OptionError(key, "has control characters");
}

void checkValue(const std::string& key, const FieldSpec& spec, const FieldValue& value) {
    if (const auto* text = std::get_if<std::string>(&value))
        spec.path ? checkName(key, *text) : checkText(key, *text);
    const auto most = [&](std::size_t count) {
        if (count > kMostListed) throw OptionError(key, "lists more than 10,000 values");
    };
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) most(numbers->size());
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
        most(texts->size());
        for (const auto& text : *texts) checkText(key, text);
    }
    checkFieldValue(key, spec, value);
}

bool isChecksum(const std::string& text) {
    const auto colon = text.find(':');
    const auto hex = colon == std::string::npos ? std::string() : text.substr(colon + 1);
    const std::size_t wanted = text.starts_with("sha256:")  ? 64
                               : text.starts_with("crc32:") ? 8
                                                            : 0;
    return wanted > 0 && hex.size() == wanted &&
           hex.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void checkChecksum(const std::string& key, const std::string& text) {
    if (!text.empty() && !isChecksum(text))
        throw OptionError(key, "'" + text.substr(0, 80) +
                                   "' is no checksum, which is sha256: or crc32: and digits");
}

void checkSubject(const std::string& key, const Model& subject, bool study) {
    if (subject.path.empty() && subject.hub.empty()) throw OptionError(key + ".path", "is missing");
    checkName(key + ".path", subject.path);
    checkName(key + ".checkpoint", subject.checkpoint);
    if (subject.checkpoint.find_first_not_of("0123456789") != std::string::npos &&
        subject.checkpoint != "last" && subject.checkpoint != "best")
        throw OptionError(key + ".checkpoint",
                          "'" + subject.checkpoint + "' is not last, best or a step");
    if (!subject.hub.empty()) try {
            hubModel(subject.hub);
        } catch (const OptionError& error) {
            throw OptionError(key + ".hub", error.message());
        }
    checkChecksum(key + ".weights", subject.weights);
    checkName(key + ".head", subject.head);
    checkName(key + ".image_size", subject.imageSize);
    if (subject.edits.size() > 1000)
        throw OptionError(key + ".edits", "lists more than 1,000 edits");
    for (const auto& words : subject.edits) {
        checkName(key + ".edits", words);
        // The command line also takes names of files, which a view has no business to open.
        const bool name =
            words != "none" && (words.find(' ') == std::string::npos ||
                                words.find('/') != std::string::npos || words.ends_with(".json"));
        if (name)
            throw OptionError(key + ".edits", "'" + words.substr(0, 200) +
                                                  "' is no edit in words, as \"layer 2 relation 3 "
                                                  "zero\"");
    }
    if (study && (!subject.edits.empty() || !subject.checkpoint.empty()))
        throw OptionError(key, "a study, curves and data have no checkpoint and no edits");
}

// JSON
// -------------------------------------------------------------------------------------------------

/// The members of an object: all of them must be known.
class Members {
public:
    Members(const ViewJson& json, std::string key, std::vector<std::string> known)
        : m_json(json), m_key(std::move(key)) {
        if (!json.is_object()) throw OptionError(m_key.empty() ? "view" : m_key, "is no object");
        for (const auto& [name, value] : json.items())
            if (std::find(known.begin(), known.end(), name) == known.end())
                throw OptionError(of(name),
                                  "is not known to this version; open the view with the one that "
                                  "saved it");
    }
    std::string of(const std::string& name) const {
        return m_key.empty() ? name : m_key + "." + name;
    }
    const ViewJson* find(const std::string& name) const {
        const auto at = m_json.find(name);
        return at == m_json.end() ? nullptr : &*at;
    }
    std::string text(const std::string& name) const {
        const auto* value = find(name);
        if (!value) return {};
        if (!value->is_string()) throw OptionError(of(name), "is no text");
        auto text = value->get<std::string>();
        checkName(of(name), text);
        return text;
    }
    bool flag(const std::string& name) const {
        const auto* value = find(name);
        if (value && !value->is_boolean()) throw OptionError(of(name), "is not true or false");
        return value && value->get<bool>();
    }
    std::vector<std::string> texts(const std::string& name) const {
        std::vector<std::string> all;
        const auto* value = find(name);
        if (!value) return all;
        const bool list = value->is_array() && value->size() <= kMostListed;
        if (!list || !std::all_of(value->begin(), value->end(),
                                  [](const ViewJson& one) { return one.is_string(); }))
            throw OptionError(of(name), "is no list of at most 10,000 texts");
        for (const auto& one : *value) all.push_back(one.get<std::string>());
        return all;
    }

private:
    const ViewJson& m_json;
    std::string m_key;
};

/// A path of a file, relative to the folder of the view where it stays in it.
std::string absolutePath(const std::string& key, const std::string& path,
                         const std::string& folder) {
    checkName(key, path);
    if (path.empty()) return path;
    const fs::path given(path);
    if (given.is_absolute()) return given.lexically_normal().string();
    const auto inside = given.lexically_normal();
    if (inside.empty() || *inside.begin() == "..")
        throw OptionError(key, "'" + path.substr(0, 200) +
                                   "' leads out of the folder of the view; give the whole path");
    auto whole = (fs::path(folder) / inside).lexically_normal().string();
    if (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
    return whole;
}

std::string pathInFile(const std::string& path, const std::string& folder) {
    if (path.empty()) return path;
    const auto whole = fs::absolute(path).lexically_normal();
    const auto inside = whole.lexically_relative(folder);
    return inside.empty() || *inside.begin() == ".." ? whole.string() : inside.string();
}

/// Whether the place of a view is the name of an experiment or a kind of data, and no path.
bool isDataName(const std::string& command, const std::string& place) {
    return command == kDataView && (findPreset(place) || findDataKind(place));
}

/// Where a path begins in the value of an option: at its start, or behind "image:" in the words of
/// an input; nullopt: it names no file. Minimal pairs are also named by a word, which is no path.
std::optional<std::size_t> pathAt(const FieldSpec& spec, const std::string& value) {
    static const std::set<std::string> words = {"minimal-pairs", "gpt2", "characters"},
                                       inputs = {"clean", "corrupt"};
    constexpr std::string_view image = "image:";
    if (inputs.contains(spec.name) && value.starts_with(image)) return image.size();
    if (spec.path && !value.empty() && !words.contains(value)) return 0;
    return std::nullopt;
}

/// The file that an option of a view names; empty: it names none.
std::string fileOf(const std::vector<FieldSpec>& specs, const Option& option) {
    const auto* text = std::get_if<std::string>(&option.value);
    const auto at = text ? pathAt(fieldNamed(specs, option.name), *text) : std::nullopt;
    return at ? text->substr(*at) : std::string();
}

Model subjectFrom(const ViewJson& json, const std::string& command, const std::string& key,
                  const std::string& folder) {
    const Members members(json, key,
                          {"path", "hub", "checkpoint", "weights", "edits", "head", "image_size"});
    Model subject;
    subject.path = members.text("path");
    if (!isDataName(command, subject.path))
        subject.path = absolutePath(members.of("path"), subject.path, folder);
    subject.hub = members.text("hub");
    subject.checkpoint = members.text("checkpoint");
    subject.weights = members.text("weights");
    subject.edits = members.texts("edits");
    subject.head = members.text("head");
    if (headChoice(subject.head).isFile())
        subject.head = absolutePath(members.of("head"), subject.head, folder);
    subject.imageSize = members.text("image_size");
    return subject;
}

View viewFrom(const ViewJson& json, const std::string& folder) {
    if (json.is_object() && json.contains("format") && json["format"] != kViewFormat)
        throw OptionError("format", json["format"].dump().substr(0, 80) +
                                        " is not relascope-view/1; it was saved by another "
                                        "version of Relascope");
    const Members members(json, "",
                          {"format", "version", "command", "subjects", "options", "files", "dpi",
                           "paper", "dark", "data", "title", "of", "preset"});
    for (const auto* name : {"title", "of", "preset"}) members.text(name);  // papers_figures.h
    if (!members.find("format")) throw OptionError("format", "is missing: this is no view file");
    View view;
    view.version = members.text("version");
    view.command = currentName(members.text("command"));
    checkIsView(view.command);
    const auto specs = questionFields(view.command);
    if (const auto* subjects = members.find("subjects")) {
        if (!subjects->is_array() || subjects->size() > kMostCurves)
            throw OptionError("subjects", "is no list of models");
        for (std::size_t k = 0; k < subjects->size(); ++k)
            view.subjects.push_back(subjectFrom((*subjects)[k], view.command,
                                                "subjects[" + std::to_string(k) + "]", folder));
    }
    if (const auto* options = members.find("options")) {
        if (!options->is_object()) throw OptionError("options", "is no object");
        for (const auto& [name, value] : options->items()) {
            if (isFormerOption(view.command, name)) continue;
            const auto& spec = fieldNamed(specs, name);
            const auto key = "options." + name;
            auto read = fieldValueFromJson(key, spec, value);
            if (auto* text = std::get_if<std::string>(&read))
                if (const auto at = pathAt(spec, *text))
                    *text = text->substr(0, *at) + absolutePath(key, text->substr(*at), folder);
            view.options.push_back({name, std::move(read)});
        }
    }
    if (const auto* files = members.find("files")) {
        if (!files->is_object() || files->size() > 20)
            throw OptionError("files", "is no object of checksums");
        for (const auto& [name, value] : files->items()) {
            if (!value.is_string()) throw OptionError("files." + name, "is no checksum");
            view.files[name] = value.get<std::string>();
        }
    }
    if (const auto* dpi = members.find("dpi")) {
        const bool fits = dpi->is_number_unsigned() && dpi->get<std::uint64_t>() >= kLeastDpi &&
                          dpi->get<std::uint64_t>() <= kMostDpi;
        if (!fits)
            throw OptionError("dpi", dpi->dump().substr(0, 80) + " is no resolution of 24 to 600");
        view.dpi = dpi->get<int>();
    }
    view.paper = members.flag("paper");
    view.dark = members.flag("dark");
    if (const auto* data = members.find("data")) {
        const Members of(*data, "data", {"file", "checksum"});
        view.data = of.text("file"), view.dataChecksum = of.text("checksum");
        if (view.data.empty()) throw OptionError("data.file", "is missing");
    }
    checkView(view);
    return view;
}

}  // namespace

void checkView(const View& view) {
    checkIsView(view.command);
    const auto specs = questionFields(view.command);
    const auto most = modelsAsked(view.command).most;
    if (view.subjects.empty() || view.subjects.size() > most)
        throw OptionError("subjects", "has " + std::to_string(view.subjects.size()) + " models; " +
                                          view.command + " takes " +
                                          (most > 2    ? "up to 64"
                                           : most == 2 ? "one or two"
                                                       : "one"));
    for (std::size_t k = 0; k < view.subjects.size(); ++k)
        checkSubject("subjects[" + std::to_string(k) + "]", view.subjects[k],
                     !isOfWeights(view.command));
    std::set<std::string> names;
    for (const auto& option : view.options) {
        const auto key = "options." + option.name;
        if (!names.insert(option.name).second) throw OptionError(key, "is there twice");
        checkValue(key, fieldNamed(specs, option.name), option.value);
    }
    for (const auto& [name, checksum] : view.files) {
        if (!names.contains(name)) throw OptionError("files." + name, "is of no option");
        checkChecksum("files." + name, checksum);
    }
    if (view.dpi != 0 && (view.dpi < kLeastDpi || view.dpi > kMostDpi))
        throw OptionError("dpi", std::to_string(view.dpi) + " is no resolution of 24 to 600");
    if (!view.data.empty()) {
        checkName("data.file", view.data);
        if (view.data.find('/') != std::string::npos || view.data == "." || view.data == "..")
            throw OptionError(
                "data.file", "'" + view.data.substr(0, 200) + "' is not the name of a file beside");
        checkChecksum("data.checksum", view.dataChecksum);
        if (view.dataChecksum.empty()) throw OptionError("data.checksum", "is missing");
    }
}

ViewJson viewToJson(const View& view, const std::string& folder) {
    const auto specs = questionFields(view.command);
    ViewJson json = {{"format", kViewFormat}, {"version", view.version}, {"command", view.command}};
    json["subjects"] = ViewJson::array();
    for (const auto& subject : view.subjects) {
        const bool name = isDataName(view.command, subject.path);
        ViewJson one = {{"path", name ? subject.path : pathInFile(subject.path, folder)}};
        if (!subject.hub.empty()) one["hub"] = subject.hub;
        if (!subject.checkpoint.empty()) one["checkpoint"] = subject.checkpoint;
        if (!subject.weights.empty()) one["weights"] = subject.weights;
        if (!subject.edits.empty()) one["edits"] = subject.edits;
        if (!subject.head.empty())
            one["head"] =
                headChoice(subject.head).isFile() ? pathInFile(subject.head, folder) : subject.head;
        if (!subject.imageSize.empty()) one["image_size"] = subject.imageSize;
        json["subjects"].push_back(std::move(one));
    }
    json["options"] = ViewJson::object();
    for (const auto& option : view.options) {
        auto value = option.value;
        if (auto* text = std::get_if<std::string>(&value))
            if (const auto at = pathAt(fieldNamed(specs, option.name), *text))
                *text = text->substr(0, *at) + pathInFile(text->substr(*at), folder);
        json["options"][option.name] = fieldValueToJson(value);
    }
    if (!view.files.empty()) json["files"] = view.files;
    if (view.dpi > 0) json["dpi"] = view.dpi;
    if (view.paper) json["paper"] = true;
    if (view.dark) json["dark"] = true;
    if (!view.data.empty()) json["data"] = {{"file", view.data}, {"checksum", view.dataChecksum}};
    return json;
}

View viewFromJson(const std::string& text, const std::string& file) {
    const auto json = ViewJson::parse(text, nullptr, false);
    if (json.is_discarded()) throw FileError(file, "is no JSON: this is no view file");
    try {
        return viewFrom(json, fs::absolute(file).lexically_normal().parent_path().string());
    } catch (const OptionError& error) {
        throw FileError(file, error.what());
    }
}

View readViewFile(const std::string& path) {
    return viewFromJson(readTextFile(path, kMostViewBytes), path);
}

void writeViewFile(const std::string& path, const View& view) {
    checkView(view);
    const auto folder = fs::absolute(path).lexically_normal().parent_path().string();
    const auto text = viewToJson(view, folder).dump(2) + "\n";
    if (text.size() > kMostViewBytes)
        throw FileError(path, "would be larger than 1 MiB, the most that a view file may have");
    writeTextFile(path, text);
}

std::string hubSnapshotOf(const std::string& path) {
    const auto name = hubNameOf(path);
    if (name.empty()) return {};
    // The folder of a snapshot is named after its commit.
    auto folder = fs::path(path);
    while (folder.has_parent_path() && folder.parent_path().filename() != "snapshots" &&
           folder != folder.parent_path())
        folder = folder.parent_path();
    return name + "@" + folder.filename().string();
}

void identify(View& view) {
    view.version = builtin::version();
    for (auto& subject : view.subjects) {
        if (!isOfWeights(view.command)) continue;
        if (subject.weights.empty())
            subject.weights = weightsChecksum(subject.path, subject.checkpoint);
        if (subject.hub.empty()) subject.hub = hubSnapshotOf(subject.path);
    }
    const auto specs = questionFields(view.command);
    for (const auto& option : view.options) {
        const auto file = fileOf(specs, option);
        std::error_code error;
        if (!file.empty() && !view.files.contains(option.name) && fs::is_regular_file(file, error))
            view.files[option.name] = fileChecksum(file);
    }
}

void findSubjects(View& view, bool anyWeights) {
    for (auto& subject : view.subjects) {
        std::error_code error;
        if (isDataName(view.command, subject.path)) continue;
        if (subject.path.empty() || !fs::exists(subject.path, error)) {
            const auto cached =
                subject.hub.empty() ? std::nullopt : findCachedModel(hubModel(subject.hub));
            if (!cached)
                throw FileError(
                    subject.path.empty() ? "hub:" + subject.hub : subject.path,
                    subject.hub.empty()
                        ? "is not on this machine; give the place of these weights with --path, "
                          "or ask for the view with its data"
                        : "is not on this machine; fetch it with: " +
                              commandLine({"fetch", subject.hub}));
            subject.path = cached->path;
        }
        subject.hub.clear();  // what follows is about the files
        if (anyWeights || subject.weights.empty()) continue;
        const auto now = weightsChecksum(subject.path, subject.checkpoint);
        if (now != subject.weights)
            throw FileError(subject.path, "has other weights (" + now.substr(0, 19) +
                                              ") than the view was saved of (" +
                                              subject.weights.substr(0, 19) +
                                              "); give the place of those with --path, or draw "
                                              "it of these with --any-weights");
    }
    for (const auto& [name, checksum] : view.files) {
        if (anyWeights) break;
        std::string path;
        for (const auto& option : view.options)
            if (option.name == name) path = fileOf(questionFields(view.command), option);
        if (path.empty()) continue;
        if (fileChecksum(path) != checksum)
            throw FileError(path,
                            "is another file than the view was saved with; draw it with "
                            "this one with --any-weights");
    }
}

std::string readViewData(const View& view, const std::string& file) {
    const auto path = fs::absolute(file).parent_path() / view.data;
    auto bytes = readTextFile(path.string(), kMostViewData);
    if ("sha256:" + sha256Of(bytes) != view.dataChecksum)
        throw FileError(path.string(), "is not the file that was saved with " +
                                           fs::path(file).filename().string() +
                                           "; ask for both files again");
    return bytes;
}

}  // namespace relascope::core
