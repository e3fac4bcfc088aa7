// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "files/atomic_file.h"
#include "interventions/edit_json.h"
#include "run/json_values.h"
#include "run/run_lines.h"
#include "types/error.h"

namespace relascope::core {

std::string metricToLine(const MetricPoint& p) {
    Json json = {{"step", p.step},
                 {"epoch", p.epoch},
                 {"examples", p.examples},
                 {"seconds", p.seconds},
                 {"split", splitName(p.split)}};
    for (const auto& [key, value] : p.values) json[key] = finiteJson(value);
    return json.dump();
}

std::optional<MetricPoint> metricFromLine(const std::string& line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    MetricPoint p;
    for (const auto& [key, value] : json.items()) {
        if (key == "split") {
            const auto name = value.is_string() ? value.get<std::string>() : "";
            p.split = name == "validation" ? Split::Validation
                      : name == "test"     ? Split::Test
                                           : Split::Train;
        } else if (!value.is_number() && !value.is_null()) {
            continue;
        } else if (key == "step")
            p.step = value.is_number() ? value.get<std::int64_t>() : 0;
        else if (key == "examples")
            p.examples = value.is_number() ? value.get<std::int64_t>() : 0;
        else if (key == "epoch")
            p.epoch = value.is_number() ? value.get<double>() : 0;
        else if (key == "seconds")
            p.seconds = value.is_number() ? value.get<double>() : 0;
        else
            p.values.emplace_back(key, value.is_number()
                                           ? value.get<double>()
                                           : std::numeric_limits<double>::quiet_NaN());
    }
    return p;
}

// In the order of Note::Level.
constexpr std::array<std::string_view, 6> kNoteLevels = {"info",       "warning", "edit",
                                                         "checkpoint", "sample",  "jump"};

std::string noteToLine(const Note& note) {
    Json json = {{"step", note.step},
                 {"time", std::chrono::duration_cast<std::chrono::seconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count()},
                 {"level", kNoteLevels.at(static_cast<std::size_t>(note.level))},
                 {"text", note.text}};
    if (note.edits) {
        json["kind"] = "edits";
        json["edits"] = Json::parse(editsToJson(*note.edits))["edits"];
    }
    return json.dump();
}

void appendLines(const std::string& path, std::string& text) {
    if (text.empty()) return;
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) throwWriteError(path, "cannot be written", errno);
    const off_t before = ::lseek(file, 0, SEEK_END);
    std::size_t done = 0;
    int error = 0;
    while (done < text.size()) {
        const ssize_t part = ::write(file, text.data() + done, text.size() - done);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) {
            error = errno;
            break;
        }
        done += static_cast<std::size_t>(part);
    }
    if (error && before >= 0 && ::ftruncate(file, before) != 0) error = errno;  // all or nothing
    ::close(file);
    if (error) throwWriteError(path, "cannot be written", error);
    text.clear();
}

namespace {

// Calls with each complete line behind `*read`.
void readLines(const std::string& path, LinesRead* read,
               const std::function<void(const std::string&)>& take) {
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
    struct stat found = {};  // facts of the opened file: the path may name another one meanwhile
    if (file) ::fstat(::fileno(file.get()), &found);
    const auto bytes = static_cast<std::uint64_t>(found.st_size);
    LinesRead from = read ? *read : LinesRead();
    from.whole = from.file != found.st_ino || from.position > bytes;
    if (from.whole) from.file = found.st_ino, from.position = 0;
    if (from.position < bytes) {
        std::string text(bytes - from.position, '\0');
        std::fseek(file.get(), static_cast<long>(from.position), SEEK_SET);
        text.resize(std::fread(text.data(), 1, text.size(), file.get()));
        // The text after the last line end is incomplete, or still being written.
        std::size_t begin = 0;
        for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
            take(text.substr(begin, end - begin));
        from.position += begin;
    }
    if (read) *read = from;
}

// Nothing for a damaged line: its words remain.
std::shared_ptr<const EditList> editsOfLine(const Json& line) {
    if (!line.contains("edits")) return nullptr;
    try {
        const Json file = {{"format", kEditFormat}, {"edits", line["edits"]}};
        return std::make_shared<const EditList>(editsFromJson(file.dump(), "events.jsonl"));
    } catch (const Error&) {
        return nullptr;
    }
}

}  // namespace

std::vector<MetricPoint> readMetrics(const std::string& path, LinesRead* read) {
    std::vector<MetricPoint> points;
    readLines(path + "/metrics.jsonl", read, [&](const std::string& line) {
        if (auto point = metricFromLine(line)) points.push_back(std::move(*point));
    });
    return points;
}

std::vector<Note> readEvents(const std::string& path, LinesRead* read) {
    std::vector<Note> notes;
    readLines(path + "/events.jsonl", read, [&](const std::string& line) {
        const Json json = Json::parse(line, nullptr, false);
        if (!json.is_object()) return;
        Note note;
        const auto level = get<std::string>(json, "level", "info");
        const auto known = std::find(kNoteLevels.begin(), kNoteLevels.end(), level);
        if (known != kNoteLevels.end())
            note.level = static_cast<Note::Level>(known - kNoteLevels.begin());
        note.step = get<std::int64_t>(json, "step", 0);
        note.text = get<std::string>(json, "text", "");
        if (get<std::string>(json, "kind", "") == "edits") note.edits = editsOfLine(json);
        notes.push_back(std::move(note));
    });
    return notes;
}

EditList editsAfterStep(const std::string& path, std::int64_t step) {
    EditList edits;
    for (const auto& note : readEvents(path))
        if (note.edits && note.step <= step) edits = *note.edits;
    return edits;
}

}  // namespace relascope::core
