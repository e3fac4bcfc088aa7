// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/run_export.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "files/atomic_file.h"
#include "run/json_values.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

// The objects of a file of lines; damaged lines and an incomplete last one are left out.
Json linesOf(const std::string& path) {
    Json all = Json::array();
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line) && !file.eof();)
        if (Json one = Json::parse(line, nullptr, false); one.is_object())
            all.push_back(std::move(one));
    return all;
}

// Values by step, ascending.
using BySteps = std::vector<std::pair<std::int64_t, double>>;

void sortBySteps(BySteps& values) {
    std::stable_sort(values.begin(), values.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
}

// The last value up to that step, or 0.
double valueAt(const BySteps& values, std::int64_t step) {
    const auto past =
        std::upper_bound(values.begin(), values.end(), step,
                         [](std::int64_t s, const auto& value) { return s < value.first; });
    return past == values.begin() ? 0 : std::prev(past)->second;
}

double noteTime(const Json& note) {
    return get<double>(note, "time", 0.0);
}

// Seconds since 1970 of the points of a run. A note that was written later than training alone
// explains comes after a pause, which delays all that follows.
class Clock {
public:
    Clock(const RunInfo& info, const std::vector<MetricPoint>& points, const Json& notes)
        : m_began(static_cast<double>(info.startedAt)) {
        for (const auto& point : points) m_seconds.emplace_back(point.step, point.seconds);
        sortBySteps(m_seconds);
        for (const auto& note : notes) {
            const auto step = get<std::int64_t>(note, "step", 0);
            m_pauses.emplace_back(step, noteTime(note) - m_began - valueAt(m_seconds, step));
        }
        sortBySteps(m_pauses);
        double longest = 0;
        for (auto& pause : m_pauses) pause.second = longest = std::max(longest, pause.second);
    }
    double timeOf(const MetricPoint& point) const {
        return m_began + point.seconds + valueAt(m_pauses, point.step);
    }

private:
    double m_began;
    BySteps m_seconds, m_pauses;
};

// The shortest text that reads back as the same number.
std::string numberText(double value) {
    if (!std::isfinite(value)) return "nan";
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

std::string tensorBoardName(const std::string& run) {
    std::error_code ignored;
    auto path = fs::weakly_canonical(run, ignored);
    if (path.filename().empty()) path = path.parent_path();
    const std::string name = path.filename().string();
    return name.starts_with("seed-") ? (path.parent_path().filename() / name).string() : name;
}

std::string exportTensorBoard(const std::string& run, const std::string& folder) {
    const auto info = readRunInfo(run);
    const auto points = readMetrics(run);
    const Json lines = linesOf(run + "/events.jsonl");
    const auto notes = readEvents(run);

    const std::string out = (fs::path(folder) / tensorBoardName(run)).string();
    const std::string name = "events.out.tfevents." + std::to_string(info.startedAt) + ".relascope";
    makeDirectories(out);
    for (const auto& entry : fs::directory_iterator(out)) {
        const auto other = entry.path().filename().string();
        if (other != name && other.starts_with("events.out.tfevents."))
            throw FileError(out, "already holds the events " + other +
                                     "; remove them or choose another folder");
    }

    const Clock clock(info, points, lines);
    AtomicFile file(out + "/" + name);
    const auto began = static_cast<double>(info.startedAt);
    file.write(eventFileBegin(began));
    file.write(optionsRecord(info, began));
    double last = began;
    for (const auto& point : points) {
        const double time = clock.timeOf(point);
        file.write(pointRecord(point, time));
        last = std::max(last, time);
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(notes.size(), lines.size()); ++i)
        file.write(noteRecord(notes[i], noteTime(lines[i])));
    file.write(resultsRecord(info, last));
    file.commit();
    return out + "/" + name;
}

std::string metricsCsv(const std::string& run) {
    const auto points = readMetrics(run);
    std::vector<std::string> names;
    for (const auto& point : points)
        for (const auto& [key, value] : point.values)
            if (std::find(names.begin(), names.end(), key) == names.end()) names.push_back(key);
    std::string text = "split,step,epoch,examples,seconds";
    for (const auto& name : names) text += "," + csvField(name);
    text += "\n";
    for (const auto& point : points) {
        text += std::string(splitName(point.split)) + "," + std::to_string(point.step) + "," +
                numberText(point.epoch) + "," + std::to_string(point.examples) + "," +
                numberText(point.seconds);
        for (const auto& name : names) {
            text += ",";
            for (const auto& [key, value] : point.values)
                if (key == name) text += numberText(value);
        }
        text += "\n";
    }
    return text;
}

std::string runJson(const std::string& run) {
    readRunInfo(run);  // throws if it is no run of this format
    const Json json = {
        {"run", tensorBoardName(run)},
        {"info", Json::parse(readTextFile(run + "/run.json", 16u << 20), nullptr, false)},
        {"metrics", linesOf(run + "/metrics.jsonl")},
        {"events", linesOf(run + "/events.jsonl")}};
    return json.dump(1) + "\n";
}

}  // namespace relascope::core
