// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/mcp_tools.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/analysis.h"
#include "app/cli/cli.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "files/atomic_file.h"
#include "files/command_line.h"
#include "options/options_json.h"
#include "question/question_fields.h"
#include "question/question_json.h"
#include "question/question_words.h"
#include "text/base64.h"
#include "types/error.h"
#include "types/field_text.h"
#include "types/suggest.h"

namespace relascope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostPicture = 8 << 20;         // bytes of a PNG in an answer
constexpr std::array kWritten = {"save", "save_head"};  // of questions: names of files to write
constexpr const char* kPictureDpi = "96";  // a picture for a model to look at, not for print

FieldSpec toolField(const char* name, FieldKind kind, const char* help) {
    FieldSpec spec{name, "", help, kind};
    if (kind == FieldKind::Integer) spec.minimum = 0;
    return spec;
}

/// A tool that writes: a command whose options are not yet fields of a question.
struct WritingTool {
    std::string name, summary;
    FieldSpec subject;  ///< the word behind the command
    std::vector<FieldSpec> fields;
    std::vector<std::string> files;     ///< members that name what is written
    std::vector<std::string> required;  ///< beside the subject
};
const std::vector<WritingTool>& writingTools() {
    using enum FieldKind;
    static const std::vector<WritingTool> all = {
        {"train",
         "trains an experiment into a new run folder",
         toolField("preset", Text, "an experiment: quick, or one of `relascope-cli presets`"),
         {toolField("out", Text, "the new run folder, a path below the folder for writing"),
          toolField("model", Text, "one of the experiment's models"),
          toolField("set", TextList, "KEY=VALUE for any option: model.d_model=64"),
          toolField("data", Text, ".npz images, or text files and token shards"),
          toolField("init_from", Text, "checkpoint to continue training from"),
          toolField("epochs", Integer, "total epochs"), toolField("steps", Integer, "total steps"),
          toolField("seed", Integer, "one seed instead of the experiment's"),
          toolField("device", Text, "auto, cpu or cuda:0"),
          toolField("edit", TextList, "edits to train with, as \"layer 2 relation 3 zero\""),
          toolField("capture_every", Integer, "steps between captures")},
         {"out"},
         {"out"}},
        {"draw",
         "draws a view that was saved in the window",
         toolField("file", Text, "the view, NAME.relaview"),
         {toolField("out", Text, ".png, .svg, .pdf or .csv, a path below the folder for writing"),
          toolField("path", Text, "the run or checkpoint, where it lies elsewhere now"),
          toolField("any_weights", Boolean, "also of other weights than those of the view"),
          toolField("compute", Boolean, "computes it anew where its data were saved, too")},
         {"out"},
         {"out"}},
        {"export",
         "writes the numbers of a run for other programs",
         toolField("path", Text, "a run folder"),
         {toolField("csv", Text, "every measured point, .csv below the folder for writing"),
          toolField("json", Text, "options, points and notes, .json below the folder for writing")},
         {"csv", "json"},
         {}}};
    return all;
}
const WritingTool* writingTool(const std::string& name) {
    const auto at = std::ranges::find(writingTools(), name, &WritingTool::name);
    return at == writingTools().end() ? nullptr : &*at;
}

Json schemaOfTool(const WritingTool& tool) {
    Json members = {{tool.subject.name, core::schemaOf(tool.subject)}};
    Json required = Json::array({tool.subject.name});
    for (const auto& field : tool.fields) members[field.name] = core::schemaOf(field);
    for (const auto& name : tool.required) required.push_back(name);
    return {{"type", "object"},
            {"properties", std::move(members)},
            {"required", std::move(required)},
            {"additionalProperties", false}};
}

FieldSpec pictureField() {
    return toolField("picture", FieldKind::Boolean,
                     "false leaves out the picture that comes with the numbers");
}
FieldSpec outField() {
    return toolField("out", FieldKind::Text,
                     "also writes a file, by its ending: .png, .svg, .pdf, .csv and what the "
                     "command writes else, a path below the folder for writing");
}

/// Takes a member of arguments away, and returns its value; null where it is not there.
Json taken(Json& arguments, const std::string& name) {
    const auto at = arguments.find(name);
    if (at == arguments.end()) return nullptr;
    Json value = *at;
    arguments.erase(at);
    return value;
}

/// Reads a member as a value of its field. Throws OptionError.
FieldValue valueOf(const FieldSpec& field, const Json& value) {
    auto read = core::fieldValueFromJson(field.name, field, value);
    core::checkFieldValue(field.name, field, read);
    if (const auto* text = std::get_if<std::string>(&read); text && text->empty())
        throw OptionError(field.name, "is empty; leave it out or name one");
    return read;
}

Json textPart(const std::string& text) {
    return {{"type", "text"}, {"text", text}};
}

/// A folder for the picture of one answer.
class PictureFolder {
public:
    PictureFolder() {
        auto name = (fs::temp_directory_path() / "relascope-mcp-XXXXXX").string();
        if (!mkdtemp(name.data())) throw FileError(name, "cannot be made");
        m_path = name;
    }
    ~PictureFolder() {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }
    PictureFolder(const PictureFolder&) = delete;
    PictureFolder& operator=(const PictureFolder&) = delete;
    std::string file() const { return m_path + "/answer.png"; }

private:
    std::string m_path;
};

/// The picture of a file as a part of a result. Null: there is none, or it is too large.
Json picturePart(const std::string& file) {
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    if (error || bytes > kMostPicture) return nullptr;
    return {{"type", "image"},
            {"data", core::toBase64(core::readTextFile(file, kMostPicture))},
            {"mimeType", "image/png"}};
}

Json resultOf(const CommandAnswer& answer) {
    Json result = {{"content", {textPart(answer.text.empty() ? answer.said : answer.text)}},
                   {"isError", answer.code != 0}};
    if (!answer.text.empty() && !answer.said.empty())
        result["content"].push_back(textPart(answer.said));
    if (auto json = Json::parse(answer.text, nullptr, false); json.is_object())
        result["structuredContent"] = std::move(json);
    return result;
}

bool canDraw() {
    try {
        requireDrawing("answer.png");
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

McpTools::McpTools(const std::string& folder) {
    if (folder.empty()) return;
    std::error_code error;
    if (!fs::is_directory(folder, error))
        throw FileError(folder, "is no folder; --write names one that exists");
    m_folder = fs::canonical(folder).string();
}

std::string McpTools::placeOf(const std::string& member, const std::string& path) const {
    const auto refused = [&](const std::string& why) {
        return OptionError(member, "'" + path.substr(0, 200) + "' " + why +
                                       "; give a path below the folder for writing, as runs/first");
    };
    const fs::path given(path);
    if (path.empty() || path.size() > 1000 || path.find('\0') != path.npos)
        throw refused("is no path");
    if (given.is_absolute() || path.front() == '~') throw refused("is not relative");
    fs::path place = m_folder;
    for (const auto& part : given) {
        if (part == "..") throw refused("leads out of it");
        if (part.empty() || part == ".") continue;
        place /= part;
        std::error_code error;
        if (fs::is_symlink(fs::symlink_status(place, error))) throw refused("is behind a link");
    }
    if (place == m_folder) throw refused("is the folder itself");
    return place.string();
}

std::string McpTools::madePlace(const std::string& member, const std::string& path) const {
    auto place = placeOf(member, path);
    core::makeDirectories(fs::path(place).parent_path().string());
    return place;
}

Json McpTools::list() const {
    Json all = Json::array();
    for (const auto& command : core::questionCommands()) {
        auto schema = core::schemaOf(command);
        for (const char* name : kWritten)
            if (m_folder.empty()) schema["properties"].erase(name);
        if (drawsPictures(command)) {
            schema["properties"]["picture"] = core::schemaOf(pictureField());
            if (!m_folder.empty()) schema["properties"]["out"] = core::schemaOf(outField());
        }
        all.push_back({{"name", command},
                       {"description", core::summaryOf(command)},
                       {"inputSchema", std::move(schema)}});
    }
    if (!m_folder.empty())
        for (const auto& tool : writingTools())
            all.push_back({{"name", tool.name},
                           {"description", tool.summary},
                           {"inputSchema", schemaOfTool(tool)}});
    return {{"tools", std::move(all)}};
}

bool McpTools::has(const std::string& tool) const {
    return core::isQuestion(tool) || (!m_folder.empty() && writingTool(tool));
}

Json McpTools::question(const std::string& tool, Json arguments, const std::stop_token& stop,
                        const std::function<void(double)>& progress) const {
    if (!arguments.is_object()) throw OptionError("arguments", "is no JSON object");
    const bool draws = drawsPictures(core::currentName(tool));
    std::string out;
    bool picture = draws && canDraw();
    if (draws) {
        if (const auto given = taken(arguments, "picture"); !given.is_null())
            picture = picture && std::get<bool>(valueOf(pictureField(), given));
        if (!m_folder.empty())
            if (const auto given = taken(arguments, "out"); !given.is_null())
                out = madePlace("out", std::get<std::string>(valueOf(outField(), given)));
    }
    for (const char* name : kWritten) {
        const auto given = taken(arguments, name);
        if (given.is_null()) continue;
        if (m_folder.empty())
            throw OptionError(name,
                              "names a file, and nothing is written; start the server "
                              "with --write FOLDER, or leave it out");
        if (!given.is_string()) throw OptionError(name, "is no text");
        arguments[name] = madePlace(name, given.get<std::string>());
    }
    const auto words = core::wordsOf(core::questionOf(tool, arguments));
    const PictureFolder folder;
    std::string file = !out.empty() ? out : picture ? folder.file() : "", undrawn;
    const auto asked = [&] {
        auto all = words;
        if (!file.empty()) core::addWords(all, "--out", file);
        if (file == folder.file()) core::addWords(all, "--dpi", kPictureDpi);
        return answerCommand(all, stop, progress);
    };
    CommandAnswer answer;
    try {
        answer = asked();
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        // The numbers are given where only the picture cannot be.
        if (file != folder.file() || stop.stop_requested()) throw;
        file.clear();
        answer = asked();
        undrawn = std::string("There is no picture: ") + error.what();
    }
    // The picture of an answer is gone before anybody reads of its file.
    const auto line = "wrote " + folder.file() + "\n";
    if (const auto at = answer.said.find(line); at != std::string::npos)
        answer.said.erase(at, line.size());
    auto result = resultOf(answer);
    auto& content = result["content"];
    if (file.ends_with(".png"))
        if (auto part = picturePart(file); !part.is_null()) content.push_back(std::move(part));
    if (!undrawn.empty()) content.push_back(textPart(undrawn));
    content.push_back(textPart("The same again: " + core::commandLine(words)));
    return result;
}

Json McpTools::answer(const std::string& tool, const Json& arguments, const std::stop_token& stop,
                      const std::function<void(double)>& progress) const {
    const auto* writes = m_folder.empty() ? nullptr : writingTool(tool);
    if (!writes) return question(tool, arguments, stop, progress);
    if (!arguments.is_object()) throw OptionError("arguments", "is no JSON object");
    std::vector<std::string> words = {tool}, known = {writes->subject.name};
    for (const auto& field : writes->fields) known.push_back(field.name);
    for (const auto& [name, value] : arguments.items())
        if (std::ranges::find(known, name) == known.end())
            throw OptionError(name, unknownName("option", name, known));
    for (const auto& name : writes->required)
        if (!arguments.contains(name)) throw OptionError(name, "is missing");
    if (!arguments.contains(writes->subject.name))
        throw OptionError(writes->subject.name, "is missing");
    words.push_back(core::placeWord(
        std::get<std::string>(valueOf(writes->subject, arguments[writes->subject.name]))));
    std::vector<std::string> written;
    for (const auto& field : writes->fields) {
        if (!arguments.contains(field.name)) continue;
        auto value = valueOf(field, arguments[field.name]);
        if (std::ranges::find(writes->files, field.name) != writes->files.end()) {
            written.push_back(madePlace(field.name, std::get<std::string>(value)));
            value = written.back();
        }
        core::addField(words, field.name, value);
    }
    auto result = resultOf(answerCommand(words, stop, progress, true));
    for (const auto& file : written)
        if (file.ends_with(".png"))
            if (auto part = picturePart(file); !part.is_null())
                result["content"].push_back(std::move(part));
    result["content"].push_back(textPart("The same again: " + core::commandLine(words)));
    return result;
}

Json McpTools::call(const std::string& tool, const Json& arguments, std::stop_token stop,
                    const std::function<void(double)>& progress) const {
    try {
        return answer(tool, arguments, stop, progress);
    } catch (const std::exception& error) {
        return {{"content", {textPart(userMessage(error))}}, {"isError", true}};
    }
}

}  // namespace relascope::cli
