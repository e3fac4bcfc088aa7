// SPDX-License-Identifier: GPL-3.0-or-later
// The records of runs: points, marks of edits, captured steps, texts. Read from the run folder, and
// on from there, whoever writes it.
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <map>
#include <string>
#include <vector>

#include "run/run_lines.h"
#include "types/metric.h"
#include "types/run_info.h"
#include "types/run_options.h"
#include "types/train_event.h"
#include "widgets/curves/curve_data.h"

namespace relascope::app {

class JobQueue;

class RunRecords : public QObject {
    Q_OBJECT
public:
    explicit RunRecords(JobQueue& jobs, QObject* parent = nullptr);

    /// Points known so far; load() reads them from the disk, off the window's thread.
    const std::vector<MetricPoint>& points(const QString& path) const;
    const std::vector<widgets::CurveMark>& marks(const QString& path) const;
    const std::vector<qint64>& captures(const QString& path) const;
    /// Steps whose weights were kept along training, ascending.
    const std::vector<qint64>& kept(const QString& path) const;
    /// Text that a language model generated from its prompt during the run, by step.
    const std::map<qint64, QString>& samples(const QString& path) const;
    /// The papers' accuracies beside a run, or none.
    std::vector<widgets::PublishedValue> published(const QString& path) const;
    /// Starts reading the points of these runs, except those already read.
    void load(const QStringList& paths);
    /// Reads what has come since of a run that trains, at each listing of the runs.
    void follow(const RunInfo& run);
    /// Reads what has come since of those that are known.
    void look(const QStringList& paths);
    void forget(const QString& path) { m_records.erase(path); }

    /// The run that is watched, or empty: it is read on ten times a second. `fresh`: its notes from
    /// the first on are news.
    void setLive(const QString& path, bool fresh = false);

Q_SIGNALS:
    /// New points behind those known; `path` is a run folder.
    void pointsAppended(const QString& path, const std::vector<relascope::MetricPoint>& points);
    /// A run was read from the disk: replace all of its points.
    void loaded(const QString& path);
    void marksChanged(const QString& path);
    void capturesChanged(const QString& path);  ///< or the kept steps
    void samplesChanged(const QString& path);
    /// A note that the watched run has written since it is watched.
    void noted(const relascope::Note& note);
    void failed(const QString& sentence);

private:
    /// How far the files of a run were read, and what its folders held then.
    struct Place {
        core::LinesRead metrics, events;
        std::size_t captures = 0, kept = 0;
        bool operator==(const Place&) const = default;
    };
    struct Record {
        std::vector<MetricPoint> points;
        std::vector<widgets::CurveMark> marks;
        std::vector<qint64> captures, kept;
        std::map<qint64, QString> samples;
        std::vector<widgets::PublishedValue> published;
        Place read;
        bool loaded = false, loading = false;
        bool again = false;    ///< asked for while it was read
        bool running = false;  ///< when it was followed last
        bool announces = false;
        int keptTries = 0;
    };
    /// What a reading has found behind a place.
    struct News {
        Record record;
        std::vector<Note> notes;
        bool captures = false, kept = false;  ///< whether these have changed
        bool allKept = true;                  ///< whether every file of them could be read
    };
    static News readNews(const std::string& path, const Place& from);
    void read(const QString& path);
    void take(const QString& path, News news);
    template <class Values>
    const Values& valuesOf(const QString& path, Values Record::*values) const;

    JobQueue& m_jobs;
    QString m_live;
    QTimer m_timer;
    std::map<QString, Record> m_records;
};

}  // namespace relascope::app
