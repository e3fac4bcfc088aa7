// SPDX-License-Identifier: GPL-3.0-or-later
// The studies on disk, the one that is shown, and the processes that run one.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QObject>
#include <QStringList>
#include <QTimer>

#include "app/controllers/job_queue.h"
#include "study/study_results.h"
#include "types/study.h"
#include "widgets/study/study_cells.h"
#include "widgets/study/study_grid.h"
#include "widgets/study/study_table.h"
#include "wire/child_process.h"

namespace relascope::app {

// The contents of the Study page: read from the folder and summarized off the window's thread.

struct StudyReading {
    std::shared_ptr<const StudyInfo> info;
    std::vector<core::StudyMeasure> measures;   ///< empty until a run has finished
    std::optional<core::StudyMeasure> measure;  ///< the selected one of `measures`
    widgets::StudyMetric metric;
    widgets::StudyLayout layout;
    std::vector<widgets::GridRun> runs;
    std::vector<StudyPoint> points;
    std::vector<PublishedPoint> published;
    widgets::StudyNeeded needed;
    QString csv, latex;
    std::size_t done = 0, running = 0, failed = 0, interrupted = 0, waiting = 0;
    double secondsARun = 0.0;  ///< mean over finished runs; 0 if there are none
    double left = 0.0;         ///< remaining runs; running ones count by their remaining fraction
    QString firstFailure;      ///< "dat-n250-s1: the loss became NaN at step 12"

    /// Whether the page would look the same.
    bool looksLike(const StudyReading& other) const;
};

/// How values of a measure are formatted and compared.
widgets::StudyMetric studyMetric(const core::StudyMeasure& measure);
/// `wanted` if the study has it, otherwise the metric of its preset.
std::shared_ptr<const StudyReading> sumUpStudy(std::shared_ptr<const StudyInfo> info,
                                               const std::optional<core::StudyMeasure>& wanted);

/// The window reads the folder, and processes of the command line program do the work, so that a
/// study started from either can be continued by the other. What the window starts lives on
/// without it: its process holds STUDY/.worker and writes STUDY/log, which the next window finds.
class StudyController : public QObject {
    Q_OBJECT
public:
    explicit StudyController(QObject* parent = nullptr);
    ~StudyController() override;
    /// The processes end with this object, once they have saved their state: of tests.
    void setEndsWithWindow(bool on) { m_endsWithWindow = on; }

    /// $RELASCOPE_STUDIES, else "studies" beside the folder of runs; tests may change it.
    const QString& folder() const { return m_folder; }
    void setFolder(const QString& folder);
    /// Those in the folder, newest first, behind those opened from elsewhere.
    QStringList studies() const;
    const QStringList& opened() const { return m_opened; }
    void setOpened(const QStringList& paths);
    /// Removes a study opened from elsewhere from the list and shows another; its files are kept.
    void forget(const QString& path);
    static QString name(const QString& path);

    /// Shows a study: changed() is emitted when it has been read, or failed() with the reason
    /// unless `quiet`.
    void open(const QString& path, bool quiet = false);
    const QString& path() const { return m_path; }
    /// The study as last read; null before that, or without a study.
    const std::shared_ptr<const StudyReading>& reading() const { return m_reading; }
    void setMeasure(const core::StudyMeasure& measure);
    const std::optional<core::StudyMeasure>& wantedMeasure() const { return m_measure; }
    /// Whether the page is visible: the folder is then read periodically even if no process runs
    /// here.
    void setWatched(bool watched);

    /// Shows a folder if it is a study, otherwise reports that it is not.
    void openFolder(const QString& path);

    /// Creates the folder and shows it; with `jobs` above 0 the runs start immediately.
    void create(const QString& path, const StudyPlan& plan, int jobs);
    /// Runs the study shown with that number of processes; failed runs are repeated only with
    /// `retry`.
    void start(int jobs, bool retry = false);
    /// The current runs save their state and end; the others stay pending.
    void stop();
    bool working() const { return !m_worked.isEmpty(); }
    bool ending() const { return m_ending; }
    /// The study that is running; empty if there is none.
    const QString& workedOn() const { return m_worked; }
    int jobs() const { return m_jobs; }
    /// Why Start is disabled; empty when it is enabled.
    QString disabledReason() const;
    /// The command line program next to this one, or $RELASCOPE_CLI.
    static QString program();

public Q_SLOTS:
    void refreshList();
    void refresh();  ///< reads the study shown again

Q_SIGNALS:
    void listChanged();
    void openedChanged();  ///< another study is shown
    void changed();        ///< a new reading
    void workChanged();
    void finished();  ///< no process is running any more
    void failed(const QString& sentence);
    void ran(const QString& sentence);     ///< a run is done
    void warned(const QString& sentence);  ///< a run failed

private:
    void take(std::shared_ptr<const StudyReading> reading, qint64 milliseconds);
    void schedule(qint64 lastMilliseconds);
    void attach(const QString& path);
    void follow();
    void takeLines(const QByteArray& lines);
    void ended();

    JobQueue m_disk;
    QString m_folder, m_path, m_worked;
    QStringList m_listed, m_opened;
    std::shared_ptr<const StudyReading> m_reading;
    std::optional<core::StudyMeasure> m_measure;
    quint64 m_request = 0;  ///< counts the studies shown, so that late readings are dropped
    quint64 m_choice = 0;   ///< the same for folders to open
    bool m_quiet = false, m_reads = false, m_again = false, m_watched = false, m_ending = false;
    QTimer m_timer, m_following;
    std::optional<wire::ChildProcess> m_process;  ///< none: started by another window
    qint64 m_pid = 0;                             ///< of the process in STUDY/.worker
    qint64 m_position = 0;                        ///< in STUDY/log
    QByteArray m_lines;
    QStringList m_said;  ///< last output of the processes
    int m_jobs = 1;
    bool m_endsWithWindow = false;
};

}  // namespace relascope::app
