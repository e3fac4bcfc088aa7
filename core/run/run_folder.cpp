// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/run_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "files/atomic_file.h"
#include "options/field_text.h"
#include "options/metrics.h"
#include "options/options_json.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// JSON has no NaN; null is used instead.
Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

RunState stateFromName(const std::string& name) {
    for (const auto state : {RunState::Queued, RunState::Running, RunState::Paused, RunState::Done,
                             RunState::Stopped, RunState::Failed, RunState::Interrupted})
        if (name == runStateName(state)) return state;
    return RunState::Interrupted;
}

// Appends a batch with one write call, so that a killed process can leave at most one incomplete
// line.
void appendText(const std::string& path, std::string& text) {
    if (text.empty()) return;
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) throw FileError(path, std::string("cannot be written: ") + std::strerror(errno));
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
    if (error == ENOSPC || error == EDQUOT)
        throw DiskFull(path, "the disk is full; free some disk space");
    if (error) throw FileError(path, std::string("cannot be written: ") + std::strerror(error));
    text.clear();
}

template <class T>
T get(const Json& json, const char* key, T otherwise) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return otherwise;
    try {
        return found->template get<T>();
    } catch (const nlohmann::json::exception&) {
        return otherwise;
    }
}

Json readRunJson(const std::string& path) {
    const std::string file = path + "/run.json";
    Json json = Json::parse(readTextFile(file, 16u << 20), nullptr, false);
    if (!json.is_object()) throw FileError(file, "is not a JSON object");
    if (get<int>(json, "format", 0) != 1)
        throw FileError(file, "has the format " +
                                  (json.contains("format") ? json["format"].dump() : "none") +
                                  "; this version supports format 1");
    return json;
}

Json resultsJson(const std::vector<SplitResult>& results) {
    Json all = Json::array();
    for (const auto& result : results) {
        Json one = {{"split", result.split}, {"examples", result.examples}};
        for (const auto& [key, value] : result.values) one[key] = number(value);
        all.push_back(std::move(one));
    }
    return all;
}

std::vector<SplitResult> resultsFromJson(const Json& json) {
    std::vector<SplitResult> results;
    if (!json.is_array()) return results;
    for (const auto& one : json) {
        if (!one.is_object()) continue;
        SplitResult result{
            get<std::string>(one, "split", ""), get<std::int64_t>(one, "examples", 0), {}};
        for (const auto& [key, value] : one.items())
            if (key != "split" && key != "examples" && (value.is_number() || value.is_null()))
                result.values.emplace_back(key, value.is_number()
                                                    ? value.get<double>()
                                                    : std::numeric_limits<double>::quiet_NaN());
        results.push_back(std::move(result));
    }
    return results;
}

}  // namespace

std::string metricToLine(const MetricPoint& p) {
    Json json = {{"step", p.step},
                 {"epoch", p.epoch},
                 {"examples", p.examples},
                 {"seconds", p.seconds},
                 {"split", splitName(p.split)}};
    for (const auto& [key, value] : p.values) json[key] = number(value);
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

RunFolder::RunFolder(std::string path)
    : m_path(std::move(path)), m_flushed(std::chrono::steady_clock::now()) {}
RunFolder::~RunFolder() {
    if (!m_lock.held()) return;
    try {
        flush();
    } catch (const Error&) {  // nothing more can be done here; the run itself has reported it
    }
}

void RunFolder::claim() {
    m_lock = FileLock(m_path + "/.lock");
    if (!m_lock.held())
        throw FileError(m_path, "is being trained by another process; stop that one first");
}

RunFolder RunFolder::create(const std::string& path, const RunOptions& options) {
    if (fs::path(path).filename().string().size() > 255)
        throw FileError(path, "has a name longer than 255 bytes");
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_directory(path, error))
        throw FileError(path, "is a file, not a folder");
    if (fs::exists(path, error) && !fs::is_empty(path, error))
        throw FileError(path, isRunFolder(path)
                                  ? "already contains a run; choose another folder or use --resume"
                                  : "is not empty; choose another folder");
    RunFolder folder(path);
    requireWritable(path);
    makeDirectories(folder.checkpointsPath());
    makeDirectories(folder.capturesPath());
    folder.claim();
    folder.m_options = options;
    auto& info = folder.m_info;
    info.path = path;
    info.name = fs::path(path).filename().string();
    info.preset = options.preset;
    info.variant = options.variant;
    info.model = modelText(options.model);
    info.options = optionTexts(options);
    info.startedAt = std::chrono::duration_cast<std::chrono::seconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    return folder;
}

RunFolder RunFolder::open(const std::string& path) {
    RunFolder folder(path);
    folder.m_options = readRunOptions(path);
    requireWritable(path);
    folder.claim();
    folder.m_info = readRunInfo(path);
    const Json json = readRunJson(path);
    if (json.contains("facts") && json["facts"].is_object())
        for (const auto& [key, value] : json["facts"].items())
            if (value.is_string()) folder.m_facts.emplace_back(key, value.get<std::string>());
    return folder;
}

void RunFolder::setFact(const std::string& key, const std::string& value) {
    for (auto& [known, text] : m_facts)
        if (known == key) {
            text = value;
            return;
        }
    m_facts.emplace_back(key, value);
}

std::string RunFolder::fact(const std::string& key) const {
    for (const auto& [known, text] : m_facts)
        if (known == key) return text;
    return {};
}

void RunFolder::saveInfo() {
    const auto& i = m_info;
    Json facts = Json::object();
    for (const auto& [key, value] : m_facts) facts[key] = value;
    const Json json = {
        {"format", 1},
        {"preset", i.preset},
        {"variant", i.variant},
        {"model", i.model},
        {"seed", i.seed},
        {"state", runStateName(i.state)},
        {"message", i.message},
        {"device", i.device},
        {"parameters", i.parameters},
        {"step", i.step},
        {"total_steps", i.totalSteps},
        {"epoch", number(i.epoch)},
        {"seconds", number(i.seconds)},
        {"started_at", i.startedAt},
        {"best",
         {{"loss", number(i.bestLoss)},
          {"accuracy", number(i.bestAccuracy)},
          {"metric", number(i.bestMetric)}}},
        {"last", {{"loss", number(i.lastLoss)}, {"accuracy", number(i.lastAccuracy)}}},
        {"results", resultsJson(i.results)},
        {"facts", facts},
        {"options", Json::parse(runOptionsToJson(m_options))}};
    writeTextFile(m_path + "/run.json", json.dump(2) + "\n");
}

void RunFolder::append(const MetricPoint& point) {
    m_metricLines += metricToLine(point) + "\n";
    flushIfDue();
}

void RunFolder::append(const Note& note) {
    const char* level = note.level == Note::Level::Warning      ? "warning"
                        : note.level == Note::Level::Edit       ? "edit"
                        : note.level == Note::Level::Checkpoint ? "checkpoint"
                        : note.level == Note::Level::Sample     ? "sample"
                                                                : "info";
    m_eventLines += Json({{"step", note.step},
                          {"time", std::chrono::duration_cast<std::chrono::seconds>(
                                       std::chrono::system_clock::now().time_since_epoch())
                                       .count()},
                          {"level", level},
                          {"text", note.text}})
                        .dump() +
                    "\n";
    flushIfDue();
}

void RunFolder::flushIfDue() {
    if (std::chrono::steady_clock::now() - m_flushed > std::chrono::milliseconds(900)) flush();
}

void RunFolder::flush() {
    m_flushed = std::chrono::steady_clock::now();
    appendText(m_path + "/metrics.jsonl", m_metricLines);
    appendText(m_path + "/events.jsonl", m_eventLines);
}

void RunFolder::rewindMetrics(std::int64_t step) {
    std::string kept;
    for (const auto& point : readMetrics(m_path))
        if (point.step <= step) kept += metricToLine(point) + "\n";
    writeTextFile(m_path + "/metrics.jsonl", kept);
}

bool isRunFolder(const std::string& path) {
    return fs::is_regular_file(fs::path(path) / "run.json");
}

DataOptions runData(const std::string& path, DataOptions options) {
    const auto kept = fs::path(path) / "tokenizer.json";
    if (options.isText() && options.tokenizer != "gpt2" && fs::exists(kept))
        options.tokenizer = kept.string();
    return options;
}

RunInfo readRunInfo(const std::string& path) {
    const Json json = readRunJson(path);
    RunInfo i;
    i.path = path;
    i.name = fs::path(path).lexically_normal().filename().string();
    if (i.name.empty())
        i.name = fs::path(path).lexically_normal().parent_path().filename().string();
    const std::string parent =
        fs::absolute(path).lexically_normal().parent_path().filename().string();
    if (i.name.rfind("seed-", 0) == 0) i.name = parent + " · " + i.name;
    i.labels = readRunLabels(path);
    if (!i.labels.name.empty()) i.name = i.labels.name;
    i.preset = get<std::string>(json, "preset", "");
    i.variant = get<std::string>(json, "variant", "");
    i.model = get<std::string>(json, "model", "");
    i.seed = get<std::int64_t>(json, "seed", 0);
    i.state = stateFromName(get<std::string>(json, "state", ""));
    i.message = get<std::string>(json, "message", "");
    i.device = get<std::string>(json, "device", "");
    i.parameters = get<std::int64_t>(json, "parameters", 0);
    i.step = get<std::int64_t>(json, "step", 0);
    i.totalSteps = get<std::int64_t>(json, "total_steps", 0);
    i.epoch = get<double>(json, "epoch", 0.0);
    i.seconds = get<double>(json, "seconds", 0.0);
    i.startedAt = get<std::int64_t>(json, "started_at", 0);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Json none = Json::object();
    const Json &best = json.contains("best") ? json["best"] : none,
               &last = json.contains("last") ? json["last"] : none;
    if (best.is_object())
        i.bestLoss = get<double>(best, "loss", nan),
        i.bestAccuracy = get<double>(best, "accuracy", nan),
        i.bestMetric = get<double>(best, "metric", nan);
    if (last.is_object())
        i.lastLoss = get<double>(last, "loss", nan),
        i.lastAccuracy = get<double>(last, "accuracy", nan);
    const auto options = readRunOptions(path);
    i.options = optionTexts(options);
    i.metric = shownMetric(options);
    if (std::isnan(i.bestMetric))  // runs before version 0.4
        i.bestMetric = std::isnan(i.best(i.metric)) ? i.bestAccuracy : i.best(i.metric);
    if (json.contains("results")) i.results = resultsFromJson(json["results"]);
    const bool active =
        i.state == RunState::Running || i.state == RunState::Paused || i.state == RunState::Queued;
    if (active && !FileLock::isHeld(path + "/.lock")) i.state = RunState::Interrupted;
    return i;
}

RunOptions readRunOptions(const std::string& path) {
    const Json json = readRunJson(path);
    if (!json.contains("options")) throw FileError(path + "/run.json", "lacks the options");
    try {
        return runOptionsFromJson(json["options"].dump());
    } catch (const Error& error) {
        throw FileError(path + "/run.json", error.what());
    }
}

std::vector<MetricPoint> readMetrics(const std::string& path, std::uint64_t* position) {
    std::vector<MetricPoint> points;
    std::ifstream file(path + "/metrics.jsonl", std::ios::binary);
    if (!file) return points;
    std::uint64_t at = position ? *position : 0;
    file.seekg(static_cast<std::streamoff>(at));
    for (std::string line; std::getline(file, line);) {
        if (file.eof()) break;  // no line end: incomplete, or still being written
        at += line.size() + 1;
        if (auto point = metricFromLine(line)) points.push_back(std::move(*point));
    }
    if (position) *position = at;
    return points;
}

std::vector<Note> readEvents(const std::string& path) {
    std::vector<Note> notes;
    std::ifstream file(path + "/events.jsonl", std::ios::binary);
    for (std::string line; std::getline(file, line) && !file.eof();) {
        const Json json = Json::parse(line, nullptr, false);
        if (!json.is_object()) continue;
        Note note;
        const auto level = get<std::string>(json, "level", "info");
        note.level = level == "warning"      ? Note::Level::Warning
                     : level == "edit"       ? Note::Level::Edit
                     : level == "checkpoint" ? Note::Level::Checkpoint
                     : level == "sample"     ? Note::Level::Sample
                                             : Note::Level::Info;
        note.step = get<std::int64_t>(json, "step", 0);
        note.text = get<std::string>(json, "text", "");
        notes.push_back(std::move(note));
    }
    return notes;
}

std::vector<RunInfo> listRuns(const std::string& folder) {
    std::vector<RunInfo> runs;
    std::error_code error;
    for (fs::recursive_directory_iterator
             it(folder, fs::directory_options::skip_permission_denied, error),
         end;
         !error && it != end; it.increment(error)) {
        if (!it->is_directory(error)) continue;
        if (it->path().filename().string().front() == '.') {
            it.disable_recursion_pending();
            continue;
        }
        if (isRunFolder(it->path().string())) {
            it.disable_recursion_pending();
            try {
                runs.push_back(readRunInfo(it->path().string()));
            } catch (const Error&) {  // damaged runs are not listed; opening one reports the reason
            }
        } else if (it.depth() >= 1) {
            it.disable_recursion_pending();
        }
    }
    std::stable_sort(runs.begin(), runs.end(),
                     [](const RunInfo& a, const RunInfo& b) { return a.startedAt > b.startedAt; });
    return runs;
}

RunLabels readRunLabels(const std::string& path) {
    RunLabels labels;
    const std::string file = path + "/labels.json";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return labels;
    try {
        const Json json = Json::parse(readTextFile(file, 1u << 20), nullptr, false);
        if (!json.is_object()) return labels;
        labels.name = get<std::string>(json, "name", "");
        labels.tags = get<std::vector<std::string>>(json, "tags", {});
        labels.hidden = get<bool>(json, "hidden", false);
    } catch (const FileError&) {  // a run without labels is still a run
    }
    return labels;
}

void writeRunLabels(const std::string& path, const RunLabels& labels) {
    writeTextFile(
        path + "/labels.json",
        Json({{"name", labels.name}, {"tags", labels.tags}, {"hidden", labels.hidden}}).dump(2) +
            "\n");
}

std::string trashPath(const std::string& root, const std::string& path) {
    const fs::path run = fs::absolute(path).lexically_normal();
    const fs::path inside = run.lexically_relative(fs::absolute(root).lexically_normal());
    const bool own = !inside.empty() && *inside.begin() != "..";
    const fs::path base =
        own ? fs::path(root) / ".trash" / inside : run.parent_path() / ".trash" / run.filename();
    std::string free = base.string();
    for (int copy = 2; fs::exists(free); ++copy) free = base.string() + "-" + std::to_string(copy);
    return free;
}

void moveRun(const std::string& from, const std::string& to) {
    if (FileLock::isHeld(from + "/.lock"))
        throw FileError(from, "is being trained; stop the run before it is moved");
    makeDirectories(fs::path(to).parent_path().string());
    std::error_code error;
    if (fs::exists(to, error)) throw FileError(to, "exists already");
    fs::rename(from, to, error);
    if (error) throw FileError(from, "could not be moved to " + to + ": " + error.message());
    syncDirectory(fs::path(to).parent_path().string());
    // The folder of a group is removed with its last run.
    fs::remove(fs::path(from).parent_path(), error);
}

std::string defaultRunsFolder() {
    if (const char* chosen = std::getenv("RELASCOPE_RUNS"); chosen && *chosen) return chosen;
    const char* home = std::getenv("HOME");
    return std::string(home && *home ? home : ".") + "/Relascope/runs";
}

std::string freshRunPath(const std::string& parent, const RunOptions& options, std::int64_t seed) {
    std::string preset = options.preset;
    if (const std::string prefix = "relational-games-"; preset.rfind(prefix, 0) == 0)
        preset.erase(0, prefix.size());
    const std::string base =
        parent + "/" + preset + "-" + options.variant + "-s" + std::to_string(seed);
    std::string path = base;
    for (int copy = 2; fs::exists(path); ++copy) path = base + "-" + std::to_string(copy);
    return path;
}

}  // namespace relascope::core
