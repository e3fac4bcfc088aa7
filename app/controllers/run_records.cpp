// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/run_records.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "app/app_context.h"
#include "app/controllers/job_queue.h"
#include "checkpoint/kept_weights.h"
#include "options/published.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "run/run_process.h"

namespace relascope::app {
namespace {

widgets::CurveMark markOf(const Note& note, bool kept) {
    return {static_cast<double>(note.step), QString::fromStdString(note.text),
            note.level == Note::Level::Edit, kept};
}

// The curve shows the validation set. In Relational Games it has the figures of the training
// family, so that the published result of this family is the one to compare; otherwise it is the
// only split that the papers report.
std::vector<widgets::PublishedValue> publishedBeside(const RunOptions& options) {
    std::vector<widgets::PublishedValue> values;
    const auto all = core::publishedResults(options);
    for (const auto& result : all)
        if (result.split == options.data.family || all.size() == 1)
            values.push_back(
                {all.size() == 1 && result.split != options.data.family
                     ? QStringLiteral("published (%1)").arg(QString::fromStdString(result.split))
                     : QStringLiteral("published"),
                 result.accuracy, 0});
    return values;
}

struct KeptSteps {
    std::vector<qint64> steps;
    bool all = true;  ///< whether every file could be read
};

/// A hash of the files of a folder that changes with any of them; 0 if the folder cannot be listed.
std::size_t contentsOf(const std::string& folder) {
    std::size_t all = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const auto size = entry.file_size(error);
        const auto time = entry.last_write_time(error).time_since_epoch().count();
        all += std::hash<std::string>()(entry.path().filename().string() + ' ' +
                                        std::to_string(size) + ' ' + std::to_string(time));
    }
    return error ? 0 : all;
}

/// The steps whose weights were kept; those of a run on another machine are taken from its mirror.
KeptSteps keptSteps(const std::string& run) {
    if (const auto far = core::readFarRun(run)) return {{far->kept.begin(), far->kept.end()}};
    const core::KeptWeights weights(run);
    KeptSteps found;
    for (const auto& kept : weights.steps()) found.steps.push_back(kept.step);
    found.all = weights.problems().empty();
    return found;
}

}  // namespace

template <class Values>
const Values& RunRecords::valuesOf(const QString& path, Values Record::*values) const {
    static const Values none;
    const auto found = m_records.find(path);
    return found == m_records.end() ? none : found->second.*values;
}
const std::vector<MetricPoint>& RunRecords::points(const QString& path) const {
    return valuesOf(path, &Record::points);
}
const std::vector<widgets::CurveMark>& RunRecords::marks(const QString& path) const {
    return valuesOf(path, &Record::marks);
}
const std::vector<qint64>& RunRecords::captures(const QString& path) const {
    return valuesOf(path, &Record::captures);
}
bool RunRecords::isLoaded(const QString& path) const {
    const auto at = m_records.find(path);
    return at != m_records.end() && at->second.loaded;
}
const std::vector<qint64>& RunRecords::kept(const QString& path) const {
    return valuesOf(path, &Record::kept);
}
const std::map<qint64, QString>& RunRecords::samples(const QString& path) const {
    return valuesOf(path, &Record::samples);
}
std::vector<widgets::PublishedValue> RunRecords::published(const QString& path) const {
    return valuesOf(path, &Record::published);
}

RunRecords::RunRecords(JobQueue& jobs, QObject* parent) : QObject(parent), m_jobs(jobs) {
    m_timer.setInterval(100);
    connect(&m_timer, &QTimer::timeout, this, [this] { read(m_live); });
}

/// Reads all records of a run, or only the points, marks and texts that follow `from`.
RunRecords::News RunRecords::readNews(const std::string& path, const Place& from) {
    News news;
    Record& record = news.record;
    record.read = from;
    record.points = core::readMetrics(path, &record.read.metrics);
    news.notes = core::readEvents(path, &record.read.events);
    for (const auto& note : news.notes) {
        if (note.level == Note::Level::Edit || note.level == Note::Level::Jump)
            record.marks.push_back(markOf(note, core::hasKeptCheckpoint(path, note.step)));
        // If a step was reached twice, the last sample is used.
        if (note.level == Note::Level::Sample)
            record.samples[note.step] = QString::fromStdString(note.text);
    }
    record.read.captures = contentsOf(path + "/captures");
    if (news.captures = record.read.captures != from.captures; news.captures)
        for (const auto step : core::captureSteps(path + "/captures"))
            record.captures.push_back(step);
    record.read.kept = contentsOf(path + "/weights");
    if (const auto far = core::readFarRun(path))
        for (const auto step : far->kept)
            record.read.kept = record.read.kept * 31 + static_cast<std::size_t>(step) + 1;
    if (news.kept = record.read.kept != from.kept; news.kept) {
        auto found = keptSteps(path);
        record.kept = std::move(found.steps);
        news.allKept = found.all;
        if (!found.all) record.read.kept = 0;  // the folder is read again the next time
    }
    try {
        if (from == Place()) record.published = publishedBeside(core::readRunOptions(path));
    } catch (const Error&) {
        // A preset of another version: nothing to compare with.
    }
    return news;
}

void RunRecords::load(const QStringList& paths) {
    for (const auto& path : paths)
        if (!m_records[path].loaded) read(path);
}

void RunRecords::read(const QString& path) {
    Record& record = m_records[path];
    if (std::exchange(record.loading, true)) {
        record.again = true;
        return;
    }
    m_jobs.post(
        this,
        [file = path.toStdString(), from = record.read](std::stop_token) {
            return std::pair(readNews(file, from), from);
        },
        [this, path](std::pair<News, Place> found) {
            const auto known = m_records.find(path);
            if (known == m_records.end()) return;
            known->second.loading = false;
            const bool again = std::exchange(known->second.again, false);
            // If the run was forgotten meanwhile, the new records do not follow the known ones.
            if (known->second.read == found.second) take(path, std::move(found.first));
            if (again) read(path);
        },
        [this, path](const QString& sentence) {
            if (const auto known = m_records.find(path); known != m_records.end())
                known->second.loading = known->second.again = false;
            Q_EMIT failed(sentence);
        });
}

void RunRecords::take(const QString& path, News news) {
    Record& mine = m_records[path];
    Record& fresh = news.record;
    const bool first = !std::exchange(mine.loaded, true);
    const bool points = fresh.read.metrics.whole, notes = fresh.read.events.whole;
    const auto add = [](auto& to, const auto& behind) {
        to.insert(to.end(), behind.begin(), behind.end());
    };
    mine.read = fresh.read;
    if (first) mine.published = std::move(fresh.published);
    const bool announces = std::exchange(mine.announces, true) && path == m_live;
    if (points)
        mine.points = std::move(fresh.points);
    else
        add(mine.points, fresh.points);
    if (notes) {
        mine.marks = std::move(fresh.marks);
        mine.samples = std::move(fresh.samples);
    } else {
        add(mine.marks, fresh.marks);
        for (const auto& [step, text] : fresh.samples) mine.samples[step] = text;
    }
    bool steps = false;
    if (news.captures) steps |= std::exchange(mine.captures, fresh.captures) != mine.captures;
    if (news.kept) steps |= std::exchange(mine.kept, fresh.kept) != mine.kept;
    // A file that cannot be read for the moment (too many are open, or a file server is away) is
    // read a few more times; the run that is watched is read again in any case.
    constexpr int pause = 2000, mostTries = 5;  // ms
    mine.keptTries = news.allKept ? 0 : mine.keptTries + 1;
    if (!news.allKept && mine.keptTries < mostTries)
        later(pause, this, [this, path] {
            if (path != m_live && m_records.contains(path)) read(path);
        });
    if (announces)
        for (const auto& note : news.notes) Q_EMIT noted(note);
    if (first || points) return Q_EMIT loaded(path);
    if (!fresh.points.empty()) Q_EMIT pointsAppended(path, fresh.points);
    if (notes || !fresh.marks.empty()) Q_EMIT marksChanged(path);
    if (notes || !fresh.samples.empty()) Q_EMIT samplesChanged(path);
    if (steps) Q_EMIT capturesChanged(path);
}

void RunRecords::follow(const RunInfo& run) {
    const QString path = QString::fromStdString(run.path);
    const auto known = m_records.find(path);
    if (path == m_live || known == m_records.end() || !known->second.loaded) return;
    const auto& points = known->second.points;
    const bool behind = !points.empty() && points.back().step < run.step;
    // A run is read once more after it has ended.
    const bool running = run.state == RunState::Running;
    if (std::exchange(known->second.running, running) || running || behind) read(path);
}

void RunRecords::look(const QStringList& paths) {
    for (const auto& path : paths)
        if (const auto known = m_records.find(path);
            known != m_records.end() && known->second.loaded)
            read(path);
}

void RunRecords::setLive(const QString& path, bool fresh) {
    const QString before = std::exchange(m_live, path);
    if (!before.isEmpty() && before != path) read(before);  // reads its last lines
    if (path.isEmpty()) return m_timer.stop();
    Record& record = m_records[path];
    record.announces = record.loaded || fresh;
    read(path);
    m_timer.start();
}

}  // namespace relascope::app
