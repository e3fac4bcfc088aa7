// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/run_records.h"

#include <algorithm>
#include <utility>

#include "app/controllers/job_queue.h"
#include "checkpoint/kept_weights.h"
#include "options/published.h"
#include "run/captures.h"
#include "run/kept_checkpoints.h"
#include "run/run_folder.h"
#include "run/run_lines.h"

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

std::vector<qint64> keptSteps(const std::string& run) {
    std::vector<qint64> steps;
    for (const auto& kept : core::KeptWeights(run).steps()) steps.push_back(kept.step);
    return steps;
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

RunRecords::Record RunRecords::readRecord(const std::string& path) {
    Record record;
    record.points = core::readMetrics(path);
    for (const auto& note : core::readEvents(path)) {
        if (note.level == Note::Level::Edit)
            record.marks.push_back(markOf(note, core::hasKeptCheckpoint(path, note.step)));
        // Of a step that was reached twice, the last one is used.
        if (note.level == Note::Level::Sample)
            record.samples[note.step] = QString::fromStdString(note.text);
    }
    for (const auto step : core::captureSteps(path + "/captures")) record.captures.push_back(step);
    record.kept = keptSteps(path);
    try {
        record.published = publishedBeside(core::readRunOptions(path));
    } catch (const Error&) {
        // A preset of another version: nothing to compare with.
    }
    return record;
}

void RunRecords::load(const QStringList& paths) {
    for (const auto& path : paths) {
        Record& record = m_records[path];
        if (record.loaded || record.loading) continue;
        record.loading = true;
        const auto done = [this, path](Record read) {
            Record& mine = m_records[path];
            // The run was started or resumed while its file was read: points received since then
            // replace those of the same steps.
            if (path == m_live && !mine.points.empty()) {
                const auto first = mine.points.front().step;
                std::erase_if(read.points, [first](const auto& p) { return p.step >= first; });
                read.points.insert(read.points.end(), mine.points.begin(), mine.points.end());
            }
            for (const auto& [step, text] : mine.samples) read.samples[step] = text;
            mine = std::move(read);
            mine.loaded = true;
            Q_EMIT loaded(path);
        };
        m_jobs.post(
            this, [file = path.toStdString()](std::stop_token) { return readRecord(file); }, done,
            [this, path](const QString& sentence) {
                m_records[path].loading = false;
                Q_EMIT failed(sentence);
            });
    }
}

void RunRecords::follow(const RunInfo& run) {
    const QString path = QString::fromStdString(run.path);
    const auto known = m_records.find(path);
    if (path == m_live || known == m_records.end() || !known->second.loaded) return;
    const auto& points = known->second.points;
    const bool behind = !points.empty() && points.back().step < run.step;
    if (run.state != RunState::Running && !behind) return;
    known->second.loaded = false;
    load({path});
}

void RunRecords::setLive(const QString& path, const RunOptions& options, bool fresh) {
    if (!m_live.isEmpty() && path.isEmpty()) {
        m_keptRead.invalidate();
        readKept();  // the last step
    }
    m_live = path;
    m_keptRead.invalidate();
    if (path.isEmpty()) return;
    Record& record = m_records[path];
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
    m_readingKept = true;
    m_jobs.post(
        this, [file = m_live.toStdString()](std::stop_token) { return keptSteps(file); },
        [this, path = m_live](std::vector<qint64> steps) {
            m_readingKept = false;
            m_keptRead.start();
            auto& known = m_records[path].kept;
            if (std::exchange(known, std::move(steps)) != known) Q_EMIT capturesChanged(path);
        },
        [this](const QString&) { m_readingKept = false; });
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
