// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <bit>
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

namespace {

constexpr std::array<std::uint32_t, 256> crcTable() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0U);
        table[byte] = crc;
    }
    return table;
}

std::string littleEndian(std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 255);
    return out;
}

// A protobuf message, of the fields that event files need.
class Message {
public:
    Message& number(int field, std::uint64_t value) { return tag(field, 0).varint(value); }
    Message& real(int field, double value) {
        tag(field, 1).m_bytes += littleEndian(std::bit_cast<std::uint64_t>(value), 8);
        return *this;
    }
    Message& real(int field, float value) {
        tag(field, 5).m_bytes += littleEndian(std::bit_cast<std::uint32_t>(value), 4);
        return *this;
    }
    Message& text(int field, const std::string& value) {
        tag(field, 2).varint(value.size()).m_bytes += value;
        return *this;
    }
    Message& message(int field, const Message& value) { return text(field, value.m_bytes); }
    bool empty() const { return m_bytes.empty(); }
    const std::string& bytes() const { return m_bytes; }

private:
    Message& tag(int field, int type) { return varint(static_cast<unsigned>(field << 3 | type)); }
    Message& varint(std::uint64_t value) {
        for (; value > 127; value >>= 7) m_bytes += static_cast<char>((value & 127) | 128);
        m_bytes += static_cast<char>(value);
        return *this;
    }

    std::string m_bytes;
};

// The checksum of the format: TFRecord rotates it and adds a constant, so that a checksum of data
// that hold checksums remains a good one.
std::string maskedCrc(const std::string& bytes) {
    const std::uint32_t crc = crc32c(bytes);
    return littleEndian(std::rotr(crc, 15) + 0xa282ead8U, 4);
}

std::string recordOf(const Message& event) {
    const std::string length = littleEndian(event.bytes().size(), 8);
    return length + maskedCrc(length) + event.bytes() + maskedCrc(event.bytes());
}

// Event: wall_time 1, step 2, summary 5.
std::string recordOf(std::int64_t step, double wall, const Message& summary) {
    Message event;
    event.real(1, wall).number(2, static_cast<std::uint64_t>(step)).message(5, summary);
    return recordOf(event);
}

// Summary: value 1. Value: tag 1, simple_value 2.
void addScalar(Message& summary, const std::string& tag, double value) {
    summary.message(1, Message().text(1, tag).real(2, static_cast<float>(value)));
}

// Value: tag 1, tensor 8 (dtype 1 = 7, a string; shape 2; string_val 8), metadata 9 (plugin_data 1:
// plugin_name 1; data_class 4 = 2, a tensor).
std::string textRecord(const std::string& tag, std::int64_t step, double wall,
                       const std::string& markdown) {
    const Message one = Message().message(2, Message().number(1, 1));
    const Message tensor = Message().number(1, 7).message(2, one).text(8, markdown);
    const Message metadata = Message().message(1, Message().text(1, "text")).number(4, 2);
    const Message value = Message().text(1, tag).message(8, tensor).message(9, metadata);
    return recordOf(step, wall, Message().message(1, value));
}

// Text as a block of code, which Markdown leaves as it is.
std::string verbatim(const std::string& text) {
    std::string out = "    ";
    for (const char c : text) {
        out += c;
        if (c == '\n') out += "    ";
    }
    return out;
}

std::string cellText(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

}  // namespace

std::uint32_t crc32c(const std::string& bytes) {
    static constexpr auto table = crcTable();
    std::uint32_t crc = ~0U;
    for (const char c : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 255];
    return ~crc;
}

std::string eventFileBegin(double wall) {
    return recordOf(Message().real(1, wall).text(3, "brain.Event:2"));
}

// Event: session_log 7 (status 1 = 1, a start).
std::string restartRecord(std::int64_t step, double wall) {
    const Message start = Message().number(1, 1);
    return recordOf(
        Message().real(1, wall).number(2, static_cast<std::uint64_t>(step)).message(7, start));
}

std::string pointRecord(const MetricPoint& point, double wall) {
    Message summary;
    for (const auto& [key, value] : point.values)
        addScalar(summary, key + "/" + splitName(point.split), value);
    return summary.empty() ? "" : recordOf(point.step, wall, summary);
}

std::string noteRecord(const Note& note, double wall) {
    if (note.level == Note::Level::Checkpoint) return {};
    if (note.level == Note::Level::Sample)
        return textRecord("generated text", note.step, wall, verbatim(note.text));
    const std::string before = note.level == Note::Level::Warning ? "warning: "
                               : note.level == Note::Level::Edit  ? "edit: "
                                                                  : "";
    return textRecord("notes", note.step, wall, verbatim(before + note.text));
}

std::string optionsRecord(const RunInfo& info, double wall) {
    std::vector<std::pair<std::string, std::string>> rows = {
        {"preset", info.preset}, {"variant", info.variant},
        {"model", info.model},   {"seed", std::to_string(info.seed)},
        {"device", info.device}, {"parameters", std::to_string(info.parameters)}};
    rows.insert(rows.end(), info.options.begin(), info.options.end());
    std::string table = "| option | value |\n|---|---|\n";
    for (const auto& [key, value] : rows)
        table += "| " + cellText(key) + " | " + cellText(value) + " |\n";
    return textRecord("options", 0, wall, table);
}

std::string resultsRecord(const RunInfo& info, double wall) {
    Message summary;
    for (const auto& result : info.results)
        for (const auto& [key, value] : result.values)
            addScalar(summary, key + "/" + result.split, value);
    return summary.empty() ? "" : recordOf(info.step, wall, summary);
}

}  // namespace relascope::core
