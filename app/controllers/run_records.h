// SPDX-License-Identifier: GPL-3.0-or-later
// The records of runs: points, marks of edits, captured steps, texts. They are read from the run
// folders and kept up to date, whichever process writes them.
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
    /// The papers' accuracies to show beside a run; empty if there are none.
    std::vector<widgets::PublishedValue> published(const QString& path) const;
    /// Whether the files of a run were read once.
    bool isLoaded(const QString& path) const;
    /// Starts reading the points of these runs, except those already read.
    void load(const QStringList& paths);
    /// Reads the new records of a run in training; called at each listing of the runs.
    void follow(const RunInfo& run);
    /// Reads the new records of those of these runs that were loaded before.
    void look(const QStringList& paths);
    void forget(const QString& path) { m_records.erase(path); }

    /// Sets the run that is watched, whose new records are read ten times a second; empty: none.
    /// `fresh`: noted() is emitted from its first note on.
    void setLive(const QString& path, bool fresh = false);

Q_SIGNALS:
    /// New points of a run that follow those known; `path` is the run folder.
    void pointsAppended(const QString& path, const std::vector<relascope::MetricPoint>& points);
    /// A run was read from the disk: replace all of its points.
    void loaded(const QString& path);
    void marksChanged(const QString& path);
    void capturesChanged(const QString& path);  ///< captured or kept steps
    void samplesChanged(const QString& path);
    /// The watched run has written a new note.
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
        bool again = false;    ///< requested while it was read: to be read again
        bool running = false;  ///< in training at the last follow()
        bool announces = false;
        int keptTries = 0;
    };
    /// The new records that were found by reading on from a place.
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
