// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "files/atomic_file.h"
#include "interventions/edit_json.h"
#include "model/recorded/recorded_options.h"
#include "options/field_text.h"
#include "options/metrics.h"
#include "options/options_json.h"
#include "run/json_values.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "run/run_list.h"
#include "run/run_process.h"
#include "types/error.h"

namespace relascope::core {

std::vector<std::pair<std::string, std::string>> readRunFacts(const std::string& path) {
    using Json = nlohmann::ordered_json;
    const std::string file = path + "/run.json";
    const Json json = Json::parse(readTextFile(file, 16u << 20), nullptr, false);
    if (!json.is_object()) throw FileError(file, "is not a JSON object");
    std::vector<std::pair<std::string, std::string>> facts;
    if (json.contains("facts") && json["facts"].is_object())
        for (const auto& [key, value] : json["facts"].items())
            if (value.is_string()) facts.emplace_back(key, value.get<std::string>());
    return facts;
}

std::string processesText(const std::vector<std::pair<std::string, std::string>>& facts) {
    std::string ranks, devices, machines;
    for (const auto& [key, value] : facts)
        if (key == "ranks")
            ranks = value;
        else if (key == "rank_devices")
            devices = value;
        else if (key == "machines")
            machines = value;
    if (ranks.empty() || ranks == "1") return {};
    return ranks + " ranks" + (devices.empty() ? "" : ": " + devices) +
           (machines.empty() ? "" : " on " + machines);
}

namespace {

namespace fs = std::filesystem;

RunState stateFromName(const std::string& name) {
    for (const auto state : {RunState::Queued, RunState::Running, RunState::Paused, RunState::Done,
                             RunState::Stopped, RunState::Failed, RunState::Interrupted})
        if (name == runStateName(state)) return state;
    return RunState::Interrupted;
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
        for (const auto& [key, value] : result.values) one[key] = finiteJson(value);
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

Json validationJson(const Validation& validation) {
    Json json = {{"step", validation.step}};
    for (const auto& [key, value] : validation.values) json[key] = finiteJson(value);
    return json;
}

Validation validationFromJson(const Json& json) {
    Validation validation{get<std::int64_t>(json, "step", -1), {}};
    for (const auto& [key, value] : json.items())
        if (key != "step" && value.is_number())
            validation.values.emplace_back(key, value.get<double>());
    return validation;
}

// The main metric of a run that another program recorded: its accuracy where it measures one.
std::string recordedMetric(const Json& json) {
    for (const auto* scores : {"kept", "last"})
        if (json.contains(scores) && json[scores].is_object() && json[scores].contains("accuracy"))
            return "accuracy";
    return "loss";
}

// The validation points of a run, a small part of the points of a long run.
std::vector<MetricPoint> validationsOf(const std::string& run) {
    std::vector<MetricPoint> points;
    std::ifstream file(run + "/metrics.jsonl", std::ios::binary);
    for (std::string line; std::getline(file, line);)
        if (line.find("\"validation\"") != std::string::npos)
            if (const auto point = metricFromLine(line)) points.push_back(*point);
    return points;
}

// The step whose weights a run of a version before 0.8 restores, by its newest checkpoint; -1
// without one.
std::int64_t bestStepOf(const std::string& run) {
    const auto state =
        run + "/checkpoints/step-" + std::to_string(lastWholeCheckpoint(run)) + "/state.json";
    std::error_code ignored;
    if (!fs::is_regular_file(state, ignored)) return -1;
    const Json json = Json::parse(readTextFile(state, 256u << 20), nullptr, false);
    return json.is_object() ? get<std::int64_t>(json, "best_step", -1) : -1;
}

// Whether something was trained in a run folder, or may have been: unreadable files count.
bool holdsTraining(const std::string& path) {
    std::error_code error;
    for (const char* name : {"/checkpoints", "/captures", "/weights"}) {
        const bool empty = fs::is_empty(path + name, error);
        if (error ? error != std::errc::no_such_file_or_directory : !empty) return true;
    }
    return fs::exists(path + "/before", error) ? holdsTraining(path + "/before") : bool(error);
}

// Removes the files that a run writes before its first step. Folders go only if they are empty.
void removeStartFiles(const std::string& path) {
    std::error_code ignored;
    std::vector<fs::path> files;
    for (const char* name : {"run.json", "metrics.jsonl", "events.jsonl", "tokenizer.json",
                             "start.json", "log", ".starting", ".lock"})
        files.push_back(fs::path(path) / name);
    for (const auto& entry : fs::directory_iterator(fs::path(path) / "family", ignored))
        files.push_back(entry.path());
    for (const char* folder : {"", "ranks"})
        for (const auto& entry : fs::directory_iterator(fs::path(path) / folder, ignored))
            if (const auto name = entry.path().filename().string();
                name.find(".tmp-") != std::string::npos || entry.path().extension() == ".log")
                files.push_back(entry.path());
    for (const auto& file : files) fs::remove(file, ignored);
    if (fs::exists(path + "/before", ignored)) removeStartFiles(path + "/before");
    for (const char* name : {"checkpoints", "captures", "weights", "ranks", "before", "family"})
        fs::remove(fs::path(path) / name, ignored);
}

}  // namespace

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
    setDoor({});
}

void RunFolder::setDoor(const std::string& socket) {
    // Without the line, as on a full disk, the run is still trained, but others cannot steer it.
    if (m_lock.held()) m_lock.write(processLine(thisProcess(socket)) + "\n");
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
    folder.m_isMine = !fs::exists(path, error);
    try {
        requireWritable(path);
        folder.claim();
        makeDirectories(folder.checkpointsPath());
        makeDirectories(folder.capturesPath());
    } catch (const FileError&) {
        // Without the claim the contents of the folder belong to another process.
        if (!folder.removeStart() && folder.m_isMine) fs::remove(path, error);
        throw;
    }
    folder.m_options = options;
    auto& info = folder.m_info;
    info.path = path;
    info.name = fs::path(path).filename().string();
    info.preset = options.preset;
    info.variant = modelName(options);
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
    requireModel(path, folder.m_options);
    requireWritable(path);
    folder.claim();
    folder.m_info = readRunInfo(path);
    const Json json = readRunJson(path);
    if (json.contains("facts") && json["facts"].is_object())
        for (const auto& [key, value] : json["facts"].items())
            if (value.is_string()) folder.m_facts.emplace_back(key, value.get<std::string>());
    return folder;
}

RunFolder RunFolder::ofOtherProcess(const RunOptions& options, std::int64_t seed) {
    RunFolder folder("");
    folder.m_options = options;
    folder.m_info.seed = seed;
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
    if (m_path.empty()) return;
    const auto& i = m_info;
    Json facts = Json::object();
    for (const auto& [key, value] : m_facts) facts[key] = value;
    Json json = {{"format", 1},
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
                 {"epoch", finiteJson(i.epoch)},
                 {"seconds", finiteJson(i.seconds)},
                 {"started_at", i.startedAt},
                 {"best",
                  {{"loss", finiteJson(i.bestLoss)},
                   {"accuracy", finiteJson(i.bestAccuracy)},
                   {"metric", finiteJson(i.bestMetric)},
                   {"step", i.bestStep},
                   {"evaluations", i.evaluations}}},
                 {"last", validationJson(i.last)},
                 {"results", resultsJson(i.results)},
                 {"facts", facts},
                 {"options", Json::parse(runOptionsToJson(m_options))}};
    if (i.kept.step >= 0) json["kept"] = validationJson(i.kept);
    if (!i.edits.edits.empty()) json["edits"] = Json::parse(editsToJson(i.edits));
    writeTextFile(m_path + "/run.json", json.dump(2) + "\n");
}

void RunFolder::trySaveInfo() noexcept {
    try {
        saveInfo();
    } catch (const std::exception&) {
    }
}

bool RunFolder::removeStart() {
    if (!m_lock.held() || m_info.step > 0 || holdsTraining(m_path)) return false;
    m_metricLines.clear(), m_eventLines.clear();
    removeStartFiles(m_path);
    std::error_code ignored;
    if (m_isMine) fs::remove(m_path, ignored);
    return true;
}

bool RunFolder::discardStart(const std::string& path) {
    RunFolder folder(path);  // the fault may be in its options
    folder.claim();
    if (isRunFolder(path))  // else it was killed before that was written
        folder.m_info.step = get<std::int64_t>(readRunJson(path), "step", 0);
    // run.json is written now and then, points at once.
    for (const auto& point : readMetrics(path))
        folder.m_info.step = std::max(folder.m_info.step, point.step);
    folder.m_isMine = true;
    if (!folder.removeStart()) return false;
    std::error_code ignored;  // the folder of a group goes with its first run
    if (const fs::path run(path); run.filename().string().starts_with("seed-"))
        fs::remove(run.parent_path(), ignored);
    return true;
}

void RunFolder::append(const MetricPoint& point) {
    if (m_path.empty()) return;
    m_metricLines += metricToLine(point) + "\n";
}

void RunFolder::append(const Note& note) {
    if (m_path.empty()) return;
    m_eventLines += noteToLine(note) + "\n";
}

bool RunFolder::flushIsDue() const {
    return (!m_metricLines.empty() || !m_eventLines.empty()) &&
           std::chrono::steady_clock::now() - m_flushed > m_flushInterval;
}

void RunFolder::flush() {
    if (m_path.empty()) return;
    m_flushed = std::chrono::steady_clock::now();
    appendLines(m_path + "/metrics.jsonl", m_metricLines);
    appendLines(m_path + "/events.jsonl", m_eventLines);
}

void RunFolder::rewindMetrics(std::int64_t step) {
    if (m_path.empty()) return;
    // A file that cannot be read is not an empty one: readTextFile throws, and nothing is replaced.
    const std::string file = m_path + "/metrics.jsonl";
    std::error_code error;
    if (!fs::exists(file, error) && !error) return writeTextFile(file, "");
    std::istringstream lines(readTextFile(file, std::numeric_limits<std::uint64_t>::max()));
    std::string kept;
    for (std::string line; std::getline(lines, line) && !lines.eof();)
        if (const auto point = metricFromLine(line); point && point->step <= step)
            kept += line + "\n";
    writeTextFile(file, kept);
}

bool isRunFolder(const std::string& path) {
    return fs::is_regular_file(fs::path(path) / "run.json");
}

std::int64_t namedStep(const std::string& run, const std::string& checkpoint) {
    if (checkpoint != "last" && checkpoint != "best") return -1;
    std::int64_t last = -1;
    constexpr std::string_view begin = "step-";
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(run + "/checkpoints", error)) {
        const auto name = entry.path().filename().string();
        std::int64_t step = -1;
        const auto [rest, failed] = std::from_chars(
            name.data() + std::min(begin.size(), name.size()), name.data() + name.size(), step);
        if (name.starts_with(begin) && failed == std::errc() && rest == name.data() + name.size())
            last = std::max(last, step);
    }
    if (last < 0) throw FileError(run, "has no checkpoint yet");
    if (checkpoint == "last") return last;
    const auto best = readRunInfo(run).bestStep;
    if (best < 0) throw FileError(run, "has no best step: nothing was evaluated");
    if (!fs::exists(run + "/checkpoints/step-" + std::to_string(best), error))
        throw FileError(run, "has no checkpoint of its best step, " + std::to_string(best) +
                                 "; give a step that was kept");
    return best;
}

std::string runOfWeights(const std::string& path) {
    fs::path folder = fs::absolute(path).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    if (!fs::is_directory(folder)) folder = folder.parent_path();
    if (folder.parent_path().filename() != "checkpoints") return {};
    const std::string run = folder.parent_path().parent_path().string();
    return isRunFolder(run) ? run : std::string();
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
        i.bestMetric = get<double>(best, "metric", nan),
        i.bestStep = get<std::int64_t>(best, "step", -1),
        i.evaluations = get<std::int64_t>(best, "evaluations", 0);
    if (last.is_object()) i.last = validationFromJson(last);
    const auto options = readRunOptions(path);
    const auto* recorded = options.model.find<RecordedOptions>();
    i.recorded = recorded != nullptr;
    i.options = recorded ? settingTexts(*recorded) : optionTexts(options);
    i.metric = recorded ? recordedMetric(json) : shownMetric(options);
    i.restoresBest = options.train.early_stopping.restore_best;
    if (json.contains("kept") && json["kept"].is_object()) {
        i.kept = validationFromJson(json["kept"]);
    } else if (const auto points = validationsOf(path); !points.empty()) {  // before version 0.8
        takeValidations(i, points, i.restoresBest ? bestStepOf(path) : -1);
    } else if (!i.last.values.empty()) {
        i.last.step = i.step;
        if (!i.restoresBest) i.kept = i.last;
    }
    if (std::isnan(i.bestMetric))  // runs before version 0.4
        i.bestMetric = std::isnan(i.best(i.metric)) ? i.bestAccuracy : i.best(i.metric);
    if (json.contains("edits")) i.edits = editsFromJson(json["edits"].dump(), path + "/run.json");
    if (json.contains("results")) i.results = resultsFromJson(json["results"]);
    const bool active =
        i.state == RunState::Running || i.state == RunState::Paused || i.state == RunState::Queued;
    if (active && !isTrained(path)) {
        i.state = RunState::Interrupted;
        if (const auto far = readFarRun(path)) {
            i.message = far->ended;
        } else if (const auto process = readRunProcess(path)) {
            i.message = howItEnded(*process, i.step, path);
            if (const auto step = lastWholeCheckpoint(path); step >= 0)
                i.message += "; the checkpoint of step " + std::to_string(step) + " is whole";
        }
    }
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

void requireModel(const std::string& path, const RunOptions& options) {
    if (isRecorded(options.model)) throw FileError(path, kNoModel);
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

void takeValidation(RunInfo& info, const MetricPoint& validation, bool chosen) {
    info.last = {validation.step, validation.values};
    const bool untrained = validation.step == 0 && info.totalSteps > 0;
    if (chosen || untrained || !info.restoresBest) info.kept = info.last;
    if (untrained) return;
    ++info.evaluations;
    const double loss = validation.value("loss"), accuracy = validation.value("accuracy");
    if (!(info.bestLoss <= loss)) info.bestLoss = loss;
    if (!(info.bestAccuracy >= accuracy)) info.bestAccuracy = accuracy;
    const double value = validation.value(info.metric);
    const bool worse =
        lowerIsBetter(info.metric) ? info.bestMetric <= value : info.bestMetric >= value;
    if (!std::isnan(value) && !worse) info.bestMetric = value, info.bestStep = validation.step;
}

void takeValidations(RunInfo& info, const std::vector<MetricPoint>& points, std::int64_t bestStep) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    info.kept = info.last = {};
    info.bestLoss = info.bestAccuracy = info.bestMetric = nan;
    info.bestStep = -1, info.evaluations = 0;
    for (const auto& point : points)
        if (point.split == Split::Validation) takeValidation(info, point, point.step == bestStep);
    if (info.kept.step <= 0 && bestStep < 0) info.kept = info.last;
}

}  // namespace relascope::core
