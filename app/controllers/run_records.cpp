// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/run_records.h"

#include <algorithm>
#include <utility>

#include "app/app_context.h"
#include "app/controllers/job_queue.h"
#include "checkpoint/kept_weights.h"
#include "options/published.h"
#include "run/captures.h"
#include "run/run_folder.h"

namespace relascope::app {
namespace {

widgets::CurveMark markOf(const Note& note, bool kept) {
    return {static_cast<double>(note.step), QString::fromStdString(note.text), true, kept};
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

KeptSteps keptSteps(const std::string& run) {
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
const std::vector<qint64>& RunRecords::kept(const QString& path) const {
    return valuesOf(path, &Record::kept);
}
const std::map<qint64, QString>& RunRecords::samples(const QString& path) const {
    return valuesOf(path, &Record::samples);
}
std::vector<widgets::PublishedValue> RunRecords::published(const QString& path) const {
    return valuesOf(path, &Record::published);
}

/// All of a run, or, of its points, marks and texts, those behind `from`.
RunRecords::Record RunRecords::readRecord(const std::string& path, const Place& from) {
    Record record;
    record.read = from;
    record.points = core::readMetrics(path, &record.read.metrics);
    for (const auto& note : core::readEvents(path, &record.read.events)) {
        if (note.level == Note::Level::Edit)
            record.marks.push_back(markOf(note, core::hasKeptCheckpoint(path, note.step)));
        // Of a step that was reached twice, the last one is used.
        if (note.level == Note::Level::Sample)
            record.samples[note.step] = QString::fromStdString(note.text);
    }
    for (const auto step : core::captureSteps(path + "/captures")) record.captures.push_back(step);
    record.kept = keptSteps(path).steps;
    try {
        if (from == Place()) record.published = publishedBeside(core::readRunOptions(path));
    } catch (const Error&) {
        // A preset of another version: nothing to compare with.
    }
    return record;
}

void RunRecords::load(const QStringList& paths) {
    for (const auto& path : paths)
        if (!m_records[path].loaded) read(path);
}

void RunRecords::read(const QString& path) {
    Record& record = m_records[path];
    if (std::exchange(record.loading, true)) return;
    m_jobs.post(
        this,
        [file = path.toStdString(), from = record.read](std::stop_token) {
            return std::pair(readRecord(file, from), from);
        },
        [this, path](std::pair<Record, Place> found) {
            const auto known = m_records.find(path);
            if (known == m_records.end()) return;
            known->second.loading = false;
            // Forgotten or trained here meanwhile: what is new is not behind what is known.
            if (known->second.read == found.second) take(path, std::move(found.first));
        },
        [this, path](const QString& sentence) {
            if (const auto known = m_records.find(path); known != m_records.end())
                known->second.loading = false;
            Q_EMIT failed(sentence);
        });
}

void RunRecords::take(const QString& path, Record news) {
    Record& mine = m_records[path];
    const bool live = path == m_live;
    const bool points = live || news.read.metrics.whole, notes = live || news.read.events.whole;
    const auto add = [](auto& to, const auto& behind) {
        to.insert(to.end(), behind.begin(), behind.end());
    };
    if (live) {
        // The run was started or resumed while its file was read: points received since then
        // replace those of the same steps.
        if (!mine.points.empty()) {
            const auto first = mine.points.front().step;
            std::erase_if(news.points, [first](const auto& p) { return p.step >= first; });
            add(news.points, mine.points);
        }
        for (const auto& mark : mine.marks)
            if (std::find(news.marks.begin(), news.marks.end(), mark) == news.marks.end())
                news.marks.push_back(mark);
        for (const auto& [step, text] : mine.samples) news.samples[step] = text;
        for (const auto step : mine.captures)
            if (news.captures.empty() || news.captures.back() < step) news.captures.push_back(step);
        news.read = {};  // what follows arrives as events: its files are read whole later
    }
    const bool changed = mine.captures != news.captures || mine.kept != news.kept;
    mine.read = news.read;
    if (!mine.loaded) mine.published = std::move(news.published);
    if (points)
        mine.points = std::move(news.points);
    else
        add(mine.points, news.points);
    if (notes) {
        mine.marks = std::move(news.marks);
        mine.samples = std::move(news.samples);
    } else {
        add(mine.marks, news.marks);
        for (const auto& [step, text] : news.samples) mine.samples[step] = text;
    }
    mine.captures = std::move(news.captures);
    mine.kept = std::move(news.kept);
    if (!std::exchange(mine.loaded, true) || points) return Q_EMIT loaded(path);
    if (!news.points.empty()) Q_EMIT pointsAppended(path, news.points);
    if (notes || !news.marks.empty()) Q_EMIT marksChanged(path);
    if (notes || !news.samples.empty()) Q_EMIT samplesChanged(path);
    if (changed) Q_EMIT capturesChanged(path);
}

void RunRecords::follow(const RunInfo& run) {
    const QString path = QString::fromStdString(run.path);
    const auto known = m_records.find(path);
    if (path == m_live || known == m_records.end() || !known->second.loaded) return;
    const auto& points = known->second.points;
    const bool behind = !points.empty() && points.back().step < run.step;
    // Once more after it has ended.
    const bool running = run.state == RunState::Running;
    if (std::exchange(known->second.running, running) || running || behind) read(path);
}

void RunRecords::setLive(const QString& path, const RunOptions& options, bool fresh) {
    if (!m_live.isEmpty() && path.isEmpty()) listKept(m_live);  // the last step
    m_live = path;
    m_keptRead.invalidate();
    if (path.isEmpty()) return;
    Record& record = m_records[path];
    record.read = {};
    record.published = publishedBeside(options);
    // The earlier points of a resumed run are on disk.
    if (fresh)
        record.loaded = true;
    else if (!record.loaded)
        load({path});
}

void RunRecords::append(const std::vector<MetricPoint>& points) {
    auto& known = m_records[m_live].points;
    // A run resumed from its checkpoint measures some steps again.
    if (!known.empty() && points.front().step < known.back().step)
        std::erase_if(known, [&](const auto& p) { return p.step > points.front().step; });
    known.insert(known.end(), points.begin(), points.end());
    Q_EMIT pointsAppended(m_live, points);
    readKept();
}

/// The kept steps of the run in training: they have no events of their own.
void RunRecords::readKept() {
    constexpr int interval = 2000;  // ms
    if (m_live.isEmpty() || m_readingKept ||
        (m_keptRead.isValid() && m_keptRead.elapsed() < interval))
        return;
    listKept(m_live);
}

// A file that cannot be read for the moment (too many are open, or a file server is away) is looked
// for some times more; of a run that still trains, the next points ask again.
void RunRecords::listKept(const QString& path, int tries) {
    constexpr int pause = 2000;  // ms
    m_readingKept = true;
    m_jobs.post(
        this, [file = path.toStdString()](std::stop_token) { return keptSteps(file); },
        [this, path, tries](KeptSteps found) {
            m_readingKept = false;
            m_keptRead.start();
            auto& known = m_records[path].kept;
            if (std::exchange(known, std::move(found.steps)) != known) Q_EMIT capturesChanged(path);
            if (found.all || tries <= 1) return;
            later(pause, this, [this, path, tries] {
                if (path != m_live && m_records.contains(path)) listKept(path, tries - 1);
            });
        });
}

void RunRecords::liveNote(const Note& note) {
    if (!m_live.isEmpty() && note.level == Note::Level::Sample) {
        m_records[m_live].samples[note.step] = QString::fromStdString(note.text);
        Q_EMIT samplesChanged(m_live);
    }
    if (m_live.isEmpty() || note.level != Note::Level::Edit) return;
    m_records[m_live].marks.push_back(markOf(note, true));  // the trainer keeps it first
    Q_EMIT marksChanged(m_live);
}

void RunRecords::liveCapture(qint64 step) {
    if (m_live.isEmpty()) return;
    auto& steps = m_records[m_live].captures;
    if (!steps.empty() && steps.back() >= step) return;
    steps.push_back(step);
    Q_EMIT capturesChanged(m_live);
}

}  // namespace relascope::app
