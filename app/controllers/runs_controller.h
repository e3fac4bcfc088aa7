// SPDX-License-Identifier: GPL-3.0-or-later
// The runs on disk and the one that is watched: their rows, colours, points and marks, the same on
// every page.
#pragma once

#include <QHash>
#include <QObject>
#include <QStringList>
#include <QTimer>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "app/controllers/run_records.h"
#include "types/run_info.h"
#include "types/run_options.h"
#include "widgets/lists/sidebar.h"

namespace relascope::app {

class JobQueue;

class RunsController : public QObject {
    Q_OBJECT
public:
    explicit RunsController(JobQueue& jobs, QObject* parent = nullptr);

    /// Newest first. Includes runs opened from elsewhere, and hidden ones while they are shown.
    const std::vector<widgets::RunRow>& rows() const { return m_rows; }
    const RunInfo* info(const QString& path) const;
    /// Whether a run is in training, by this window or any other process, so that its newest
    /// checkpoint is soon replaced.
    bool trains(const QString& path) const;
    /// Why nothing can be computed with the model of a run: another program recorded it. Empty:
    /// something can.
    QString whyNoModel(const QString& path) const;
    /// Index into Theme::series; the seeds of one group share it. Constant during the lifetime of
    /// the window.
    int colorIndex(const QString& path) const;
    /// Non-empty for a run that is one of several seeds; the same text for all of them.
    QString group(const QString& path) const;
    /// The name of a run from its labels, otherwise "between-dat-s0", or "between-dat · seed 1" for
    /// a run inside a group's folder.
    QString name(const QString& path) const;
    /// The arguments of CurvePanel::setRuns for these runs.
    std::vector<widgets::CurveRun> curveRuns(const QStringList& paths,
                                             const QString& highlighted = {}) const;

    /// Points, marks, captures and texts of the runs.
    RunRecords& records() { return m_records; }
    const RunRecords& records() const { return m_records; }
    /// The paper's accuracies to show beside a run; empty if there are none.
    std::vector<widgets::PublishedValue> published(const QString& path) const;

    /// Adds a run from any folder, read off the window's thread. Afterwards rowsChanged() is
    /// emitted and `done` is called with whether it is a run; failed() reports errors.
    void open(const QString& path, std::function<void(bool there)> done);
    /// The user's labels of a run: its name, tags, whether it is hidden. Written off the window's
    /// thread; the rows change immediately.
    RunLabels labels(const QString& path) const;
    void setLabels(const QString& path, const RunLabels& labels);
    int hiddenRuns() const;
    bool showsHidden() const { return m_showHidden; }
    void setShowHidden(bool shown);
    /// A run folder that was moved, and where it is now.
    struct Moved {
        QString from, to;
    };
    /// Moves run folders to the folder .trash beside them, off the window's thread. failed() is
    /// emitted for those that could not be moved.
    std::vector<Moved> trash(const QStringList& paths);
    /// Moves run folders from `from` to `to`; with both exchanged this undoes trash().
    void move(const std::vector<Moved>& moves);
    /// Creates a run that starts from the checkpoint kept at that step; branched() is emitted with
    /// it.
    void branch(const QString& path, qint64 step);

    /// Ends the process that trains a run, at once (wire::endRun); ended() is emitted afterwards.
    void endProcess(const QString& path);

    /// The folder that is listed; Settings and tests may change it.
    QString folder() const { return m_folder; }
    void setFolder(const QString& folder);
    /// The folder that a run of another machine is copied to, or was copied to already:
    /// FOLDER/HOST/NAME, or NAME-2 and so on if another run, or this one at an earlier step, has
    /// that name.
    QString placeOfCopy(const QString& run) const;
    /// Whether `copy` is the same run as `run`, at the same step. False if one of them cannot be
    /// read.
    static bool isCopyOf(const QString& copy, const QString& run);
    /// Sets further folders to list: the mirrors of other machines, as (name, folder).
    void setMirrors(const std::vector<std::pair<QString, QString>>& folders);
    /// Sets the heading above the runs of each machine: its name and the state of its connection.
    void setHeadings(const std::map<QString, QString>& headings);
    /// The folder of runs that a run is in.
    QString rootOf(const QString& path) const;

    /// While a start is being prepared, queued runs that are not listed yet stay so: a start that
    /// is refused leaves none.
    void setStarting(bool starting);
    /// Sets the run that is watched; empty: none. `fresh` as for RunRecords::setLive().
    void setLive(const QString& path, bool fresh = false);
    /// The state of the watched run as its process reports it, and its new points.
    void liveInfo(const RunInfo& info);
    void livePoints(const std::vector<MetricPoint>& points);

public Q_SLOTS:
    void refresh();  ///< lists the folder again, off the window's thread
    /// For the user's Reload: shows hidden runs as well and reports how many runs there are.
    void reload();

Q_SIGNALS:
    void rowsChanged();
    void failed(const QString& sentence);
    void reloaded(int runs, int hidden);
    void branched(const QString& path);
    void ended(const QString& path);

private:
    void take(std::vector<RunInfo> runs);
    QString folderName(const QString& path) const;
    void rebuildRows();
    /// Emits rowsChanged(), at most a few times a second.
    void announce();

    JobQueue& m_jobs;
    RunRecords m_records;
    std::vector<std::pair<QString, QString>> m_mirrors;
    std::map<QString, QString> m_headings;
    QString m_folder, m_live;
    bool m_starting = false;
    QStringList m_opened;
    std::set<QString> m_removed;            ///< runs that are being moved to the trash
    std::map<QString, RunLabels> m_labels;  ///< labels that are being written
    bool m_showHidden = false, m_reload = false;
    std::vector<RunInfo> m_infos;  ///< as read from disk, or as reported by the watched run
    std::vector<widgets::RunRow> m_rows;
    QHash<QString, int> m_colors;
    QTimer m_announce;
    bool m_listing = false, m_again = false;
};

}  // namespace relascope::app
